package registry_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

func TestParseBootstrap(t *testing.T) {
	t.Parallel()
	got, err := registry.ParseBootstrap([]byte(`{
		"domains": [{"domain": "alpha", "url": "http://127.0.0.1:8101", "authorization": "env:ALPHA_AUTH", "trust": "reads_only",
			"floor": {"risk_level": "medium", "capabilities": {"change": {"approval_required": true}}}, "poll_s": 60}],
		"site_policy": {"waive_notifier": true, "roles": {"notifier": "alpha.tell"}},
		"x-note": "ours"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := contracts.Bootstrap{
		Domains: []contracts.Registration{{
			Domain: "alpha", URL: "http://127.0.0.1:8101", Authorization: "env:ALPHA_AUTH", PollS: 60,
			Overlay: contracts.Overlay{Trust: contracts.TrustReadsOnly, Floor: &contracts.Floor{
				FloorRule:    contracts.FloorRule{RiskLevel: contracts.RiskMedium},
				Capabilities: map[string]contracts.FloorRule{"change": {ApprovalRequired: true}},
			}},
		}},
		SitePolicy: contracts.SitePolicy{WaiveNotifier: true, Roles: map[string]string{"notifier": "alpha.tell"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseBootstrapListsEveryFault(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file string
		want []string
	}{
		"an unknown key": {`{"domains":[{"domain":"alpha","url":"http://a","timeout":3}]}`, []string{"/domains/0/timeout"}},
		"faults of several domains": {
			`{"domains":[
				{"domain":"Alpha","url":"ftp://a"},
				{"domain":"beta","url":"http://me:pw@b","authorization":"Bearer secret","trust":"some","poll_s":1},
				{"domain":"beta","url":"http://b?x=1"},
				{"url":""}]}`,
			[]string{
				"/domains/0/domain", "/domains/0/url",
				"/domains/1/url", "/domains/1/authorization", "/domains/1/trust", "/domains/1/poll_s",
				"/domains/2/url", "/domains/2/domain", "/domains/3/url", "/domains/3/domain",
			},
		},
		"tokens beside another credential, and of no server": {
			`{"domains":[
				{"domain":"alpha","mcp":{"url":"https://a.example/mcp","authorization":"env:A","token_file":"a.json"}},
				{"domain":"beta","mcp":{"command":["serve"],"token_file":"b.json"}},
				{"domain":"gamma","mcp":{"url":"https://c.example/mcp","token_file":"c.json"}}]}`,
			[]string{"/domains/0/mcp/token_file", "/domains/1/mcp/token_file"},
		},
		"a floor that is none": {
			`{"domains":[{"domain":"alpha","url":"http://a","floor":{"risk_level":"scary","approval":{"quorum":-1},"capabilities":{"a/b":{"risk_level":"x"}}}}]}`,
			[]string{"/domains/0/floor/approval", "/domains/0/floor/capabilities/a~1b/risk_level", "/domains/0/floor/risk_level"},
		},
		"readings that can never be sure enough": {
			`{"domains":[{"domain":"alpha","url":"http://a","floor":{"accept_write":1.1}}],"site_policy":{"floor":{"capabilities":{"alpha.look":{"accept_read":-1}}}}}`,
			[]string{"/domains/0/floor/accept_write", "/site_policy/floor/capabilities/alpha.look/accept_read"},
		},
		"a site policy with bare names": {
			`{"domains":[],"site_policy":{"roles":{"notifier":"tell"},"floor":{"capabilities":{"change":{}}}}}`,
			[]string{"/site_policy/floor/capabilities/change", "/site_policy/roles/notifier"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := registry.ParseBootstrap([]byte(tt.file))
			wantCode(t, err, contracts.CodeInvalid)
			if diff := cmp.Diff(tt.want, pointers(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOnlyTheBootstrapFileNamesFiles: over the API, a token file would be one on the server's
// machine to which the caller may have no access.
func TestOnlyTheBootstrapFileNamesFiles(t *testing.T) {
	t.Parallel()
	_, err := setup(t, registry.Config{}).Register(t.Context(), contracts.Registration{Domain: "alpha", Bridge: contracts.Bridge{MCP: &contracts.MCPServer{URL: "https://a.example/mcp", TokenFile: "a.json"}}})
	wantCode(t, err, contracts.CodeInvalid)
	if diff := cmp.Diff([]string{"/mcp/token_file"}, pointers(err)); diff != "" {
		t.Error(diff)
	}
}

func pointers(err error) []string {
	ours, ok := errors.AsType[*contracts.Error](err)
	if !ok {
		return nil
	}
	var out []string
	for _, f := range ours.Faults {
		out = append(out, f.Pointer)
	}
	return out
}

func TestRegisterRefusesABadRegistration(t *testing.T) {
	t.Parallel()
	guard := func(string) error { return contracts.Errorf(contracts.CodeForbidden, "guarded") }
	tests := map[string]struct {
		cfg  registry.Config
		reg  contracts.Registration
		want contracts.Code
	}{
		"a secret written out":               {registry.Config{}, contracts.Registration{Domain: "alpha", URL: urlOf("alpha"), Authorization: "Bearer x"}, contracts.CodeInvalid},
		"an address that is guarded":         {registry.Config{CheckURL: guard}, registration("alpha"), contracts.CodeForbidden},
		"an address where nobody is":         {registry.Config{}, registration("omega"), contracts.CodeUnavailable},
		"one domain more than there may be":  {registry.Config{MaxDomains: 1}, registration("beta"), contracts.CodeTooLarge},
		"a name that the service never says": {registry.Config{}, contracts.Registration{Domain: "gamma", URL: urlOf("alpha")}, contracts.CodeInvalid},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tt.cfg)
			b.offer("alpha", manifestOf("alpha", read("look")))
			b.offer("beta", manifestOf("beta", read("look")))
			if tt.cfg.MaxDomains == 1 {
				b.register(t, "alpha", manifestOf("alpha", read("look")))
			}
			_, err := b.Register(t.Context(), tt.reg)
			wantCode(t, err, tt.want)
			if _, ok := b.Endpoint(tt.reg.Domain); ok {
				t.Error("it was registered all the same")
			}
		})
	}
}
