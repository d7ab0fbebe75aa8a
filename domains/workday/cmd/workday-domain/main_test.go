package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestTheCommandServesATenantUntilItIsStopped(t *testing.T) {
	t.Parallel()
	tenant, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(tenant)
	t.Cleanup(server.Close)
	c, dir, addr := tenant.Credentials(), t.TempDir(), freeAddress(t)
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte(c.ClientSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{
			"--listen", addr, "--tenant-url", server.URL, "--tenant", c.Tenant, "--client-id", c.ClientID,
			"--client-secret-file", secret, "--token-store", filepath.Join(dir, "token.json"),
			"--keys", filepath.Join(dir, "keys.db"), "--allow-loopback",
		}, environment(map[string]string{"WORKDAY_REFRESH_TOKEN": c.RefreshToken, "WORKDAY_AUTHORIZATION": "let me in"}), io.Discard, io.Discard)
	}()
	if got := health(t, "http://"+addr); got.Status != contracts.HealthOK {
		t.Errorf("health %v", got)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("after the stop: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "token.json")); err != nil {
		t.Errorf("the rotated refresh token was not kept: %v", err)
	}
}

// TestTheCommandRefreshesTheBlueprint, and a dry run only reports the changes.
func TestTheCommandRefreshesTheBlueprint(t *testing.T) {
	t.Parallel()
	tenant, err := sandbox.New(sandbox.Config{KeepRefreshToken: true})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(tenant)
	t.Cleanup(server.Close)
	c, file := tenant.Credentials(), filepath.Join(t.TempDir(), "workday_mcp.snapshot.json")
	blueprint := func(more ...string) (string, error) {
		var out strings.Builder
		err := run(t.Context(), append([]string{
			"blueprint", "--tenant-url", server.URL, "--tenant", c.Tenant, "--client-id", c.ClientID, "--allow-loopback",
		}, more...), environment(map[string]string{"WORKDAY_REFRESH_TOKEN": c.RefreshToken, "WORKDAY_CLIENT_SECRET": c.ClientSecret}), &out, io.Discard)
		return out.String(), err
	}
	flags := []string{"--mcp-url", server.URL + "/mcp", "--blueprint", file}
	for _, tt := range []struct {
		more    []string
		says    string
		written bool
	}{
		{append(flags, "--dry-run"), "searchForWorker is new: searchForWorker\ngetWorkers is new: getWorkers\nnothing was written\n", false},
		{flags, file + " was written\n", true},
		{flags, "nothing has changed\n", true},
	} {
		said, err := blueprint(tt.more...)
		if _, statErr := os.Stat(file); err != nil || !strings.HasSuffix(said, tt.says) || (statErr == nil) != tt.written {
			t.Errorf("%v: %q %v, %v", tt.more, said, err, statErr)
		}
	}
	if _, err := blueprint("--mcp-url", server.URL+"/mcp"); err == nil || !strings.Contains(err.Error(), "--blueprint is required") {
		t.Errorf("without a file: %v", err)
	}
	if _, err := blueprint("--blueprint", file); err == nil || !strings.Contains(err.Error(), "--mcp-url") {
		t.Errorf("without a server: %v", err)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// health polls until the service answers.
func health(t *testing.T, url string) contracts.Health {
	t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer let me in")
		if res, err := http.DefaultClient.Do(req); err == nil {
			defer res.Body.Close()
			var out contracts.Health
			if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
				t.Fatal(err)
			}
			return out
		}
		select {
		case <-deadline.C:
			t.Fatal("the service never answered")
		case <-tick.C:
		}
	}
}

func TestFaultyOptionsAreRefusedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	fine := []string{"--tenant-url", "https://wd2-impl-services1.workday.com", "--tenant", "t", "--client-id", "c"}
	secrets := map[string]string{"WORKDAY_CLIENT_SECRET": "s", "WORKDAY_REFRESH_TOKEN": "r"}
	tests := map[string]struct {
		args []string
		env  map[string]string
		says string
	}{
		"no place for the refresh token":    {fine, secrets, "--token-store is required"},
		"no tenant":                         {[]string{"--token-store", "x"}, secrets, "no "},
		"a tenant on this machine unasked":  {append([]string{"--token-store", "x", "--tenant-url", "http://127.0.0.1:1"}, fine[2:]...), secrets, "loopback"},
		"a secret file that is not there":   {append([]string{"--client-secret-file", "/nowhere"}, fine...), secrets, "client-secret"},
		"an absence type without a name":    {append([]string{"--absence-types", "vacation"}, fine...), secrets, "kind=name"},
		"an absence type nobody knows":      {append([]string{"--token-store", "x", "--absence-types", "fun=Party"}, fine...), secrets, "fun"},
		"a rate that is no number":          {fine, map[string]string{"WORKDAY_RPS": "fast"}, "WORKDAY_RPS"},
		"a flag that does not exist":        {[]string{"--nope"}, secrets, "nope"},
		"a secret on the command line":      {[]string{"--client-secret", "s"}, secrets, "client-secret"},
		"logins that no browser reaches":    {append([]string{"--token-store", "x", "--logins", "l"}, fine...), secrets, "no address that browsers reach"},
		"logins at a page of somebody else": {append([]string{"--token-store", "x", "--logins", "l", "--login-url", "https://m.example.com", "--authorize-url", "https://login.example.com"}, fine...), secrets, "allowed hosts"},
		"keys where no file can be written": {append([]string{"--token-store", "x", "--keys", "/nowhere/keys.db"}, fine...), secrets, "keys"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := run(t.Context(), tt.args, environment(tt.env), io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one about %q", err, tt.says)
			}
		})
	}
}
