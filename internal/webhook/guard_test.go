package webhook_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/webhook"
)

func guard(t *testing.T, cfg webhook.GuardConfig) *webhook.Guard {
	t.Helper()
	g, err := webhook.NewGuard(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGuardAddresses(t *testing.T) {
	t.Parallel()
	strict := webhook.GuardConfig{}
	local := webhook.GuardConfig{AllowLoopback: true, AllowPrivate: true}
	listed := webhook.GuardConfig{Allow: []string{"169.254.0.0/16", "10.1.0.0/16"}}
	tests := map[string]struct {
		cfg  webhook.GuardConfig
		addr string
		want bool
	}{
		"a public address":                         {strict, "93.184.216.34", true},
		"a public IPv6 address":                    {strict, "2606:2800:220:1:248:1893:25c8:1946", true},
		"loopback":                                 {strict, "127.0.0.1", false},
		"another loopback":                         {strict, "127.8.9.1", false},
		"IPv6 loopback":                            {strict, "::1", false},
		"loopback in IPv6 clothes":                 {strict, "::ffff:127.0.0.1", false},
		"loopback as an IPv4-compatible address":   {strict, "::127.0.0.1", false},
		"loopback behind NAT64":                    {strict, "64:ff9b::7f00:1", false},
		"loopback behind 6to4":                     {strict, "2002:7f00:1::", false},
		"this host":                                {strict, "0.0.0.0", false},
		"this host's network":                      {strict, "0.1.2.3", false},
		"unspecified IPv6":                         {strict, "::", false},
		"private 10":                               {strict, "10.1.2.3", false},
		"private 172.16":                           {strict, "172.31.255.255", false},
		"just beside private 172.16":               {strict, "172.32.0.1", true},
		"private 192.168":                          {strict, "192.168.0.1", false},
		"unique local IPv6":                        {strict, "fd12:3456::1", false},
		"carrier-grade NAT":                        {strict, "100.127.0.1", false},
		"link-local":                               {strict, "169.254.3.4", false},
		"link-local IPv6 with a zone":              {strict, "fe80::1%eth0", false},
		"multicast":                                {strict, "224.0.0.1", false},
		"broadcast":                                {strict, "255.255.255.255", false},
		"a documentation network":                  {strict, "192.0.2.1", false},
		"a benchmark network":                      {strict, "198.19.0.1", false},
		"Teredo":                                   {strict, "2001:0:1::1", false},
		"loopback where it is allowed":             {local, "127.0.0.1", true},
		"a private address where they are allowed": {local, "10.1.2.3", true},
		"the metadata service stays refused":       {local, "169.254.169.254", false},
		"the IPv6 metadata service stays refused":  {local, "fd00:ec2::254", false},
		"a metadata service in a private range stays refused": {local, "100.100.100.200", false},
		"link-local stays refused":                            {local, "169.254.3.4", false},
		"what is listed is allowed":                           {listed, "10.1.2.3", true},
		"what is listed is allowed, in IPv6 clothes too":      {listed, "::ffff:10.1.2.3", true},
		"what is not listed is refused":                       {listed, "10.2.2.3", false},
		"even the metadata service when somebody lists it":    {listed, "169.254.169.254", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := guard(t, tt.cfg).Check(netip.MustParseAddr(tt.addr))
			if (err == nil) != tt.want {
				t.Errorf("%s: got %v, want allowed %v", tt.addr, err, tt.want)
			}
			if err != nil && contracts.CodeOf(err) != contracts.CodeForbidden {
				t.Errorf("code %q", contracts.CodeOf(err))
			}
		})
	}
}

func TestGuardURLs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		url  string
		tls  bool
		want contracts.Code
	}{
		"https":                             {"https://example.org/hook", true, ""},
		"http":                              {"http://example.org/hook", false, ""},
		"http where TLS is required":        {"http://example.org/hook", true, contracts.CodeInvalid},
		"another scheme":                    {"file:///etc/passwd", false, contracts.CodeInvalid},
		"no host":                           {"https:///hook", false, contracts.CodeInvalid},
		"a password":                        {"https://me:secret@example.org/", false, contracts.CodeInvalid},
		"a fragment":                        {"https://example.org/#x", false, contracts.CodeInvalid},
		"no URL at all":                     {"https://[::1", false, contracts.CodeInvalid},
		"a private address written out":     {"https://10.0.0.1/", false, contracts.CodeForbidden},
		"an IPv6 loopback written out":      {"https://[::1]:8443/", false, contracts.CodeForbidden},
		"localhost":                         {"https://LOCALHOST./", false, contracts.CodeForbidden},
		"a name below localhost":            {"https://a.localhost/", false, contracts.CodeForbidden},
		"a number that is no usual address": {"https://2130706433/", false, ""}, // checked when it is dialed
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := guard(t, webhook.GuardConfig{RequireTLS: tt.tls}).CheckURL(tt.url)
			if got := contracts.CodeOf(err); got != tt.want {
				t.Errorf("got %v with code %q, want %q", err, got, tt.want)
			}
		})
	}
}

func TestGuardRefusesABadNetwork(t *testing.T) {
	t.Parallel()
	if _, err := webhook.NewGuard(webhook.GuardConfig{Allow: []string{"10.0.0.0"}}); contracts.CodeOf(err) != contracts.CodeInvalid {
		t.Errorf("got %v", err)
	}
}

func TestGuardAtTheDial(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	// A name resolves to loopback only when it is dialed. The check of the URL cannot detect
	// this, the dial does.
	for name, tt := range map[string]struct {
		cfg  webhook.GuardConfig
		want bool
	}{
		"a strict guard stops the dial":         {webhook.GuardConfig{}, false},
		"a guard that allows it lets it happen": {webhook.GuardConfig{AllowLoopback: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dialer := net.Dialer{Control: guard(t, tt.cfg).Control}
			conn, err := dialer.DialContext(context.Background(), "tcp", server.Listener.Addr().String())
			if err == nil {
				_ = conn.Close()
			}
			if (err == nil) != tt.want {
				t.Errorf("got %v, want a connection: %v", err, tt.want)
			}
			if err != nil && contracts.CodeOf(err) != contracts.CodeForbidden {
				t.Errorf("the reason is lost on the way: %v", err)
			}
		})
	}
}
