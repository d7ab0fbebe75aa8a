package chatclients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

func TestOfficialClients(t *testing.T) {
	if os.Getenv("CHAT_CLIENTS") != "1" {
		t.Skip("it installs packages from npm and PyPI; make test-chat-clients runs it")
	}
	tools := install(t)
	url, key := serve(t)
	env := append(os.Environ(), "MANIFOLD_BASE="+url+"/v1", "MANIFOLD_KEY="+key)
	run(t, tools, env, "node", "clients.mjs")
	run(t, tools, env, filepath.Join(tools, "python", "bin", "python"), "clients.py")
	run(t, tools, env, "node", "mcp.mjs")
	run(t, tools, env, filepath.Join(tools, "python", "bin", "python"), "mcp_client.py")
}

// install puts the clients into the cache of this user, once.
func install(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "manifold-chat-clients")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "requirements.txt", "clients.mjs", "clients.py", "mcp.mjs", "mcp_client.py"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, os.Environ(), "npm", "install", "--no-audit", "--no-fund", "--silent")
	run(t, dir, os.Environ(), "python3", "-m", "venv", "python")
	run(t, dir, os.Environ(), filepath.Join(dir, "python", "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt")
	return dir
}

func run(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if t.Logf("%s %s\n%s", name, strings.Join(args, " "), out); err != nil {
		t.Fatal(err)
	}
}

// serve starts a server with one domain, and makes the key of somebody who may
// ask and approve.
func serve(t *testing.T) (url, key string) {
	t.Helper()
	svc, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := apptest.Start(t, app.Config{
		Addr: "127.0.0.1:0", DataDir: t.TempDir(), SessionBurst: 1000, SessionsPerMinute: 1000,
		Bootstrap: []byte(`{"domains":[{"domain":"finance","url":"` + domaintest.Serve(t, svc) + `"}]}`),
	})
	if err := server.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := apptest.Client(t, client.Config{URL: server.URL(), Key: apptest.Key(t, server.AdminKeyFile())})
	made, err := c.CreateKey(t.Context(), contracts.KeySpec{Kind: "user", Principal: "uma", Roles: []string{"operator", "approver"}})
	if err != nil {
		t.Fatal(err)
	}
	return server.URL(), made.Text
}
