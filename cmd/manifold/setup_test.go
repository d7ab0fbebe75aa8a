package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

// desk is a server that "manifold serve" has started, and its users on the command line.
type desk struct {
	t    *testing.T
	dir  string
	url  string // of the domain
	keys map[string]string
}

func none(string) string { return "" }

func setup(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), url: prices(t), keys: map[string]string{}}
	bootstrap := filepath.Join(d.dir, "domains.json")
	if err := os.WriteFile(bootstrap, []byte(`{"domains":[{"domain":"finance","url":"`+d.url+`"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done, out := make(chan int, 1), &apptest.Log{}
	go func() {
		done <- run(ctx, []string{"serve", "--embeddings", "off", "--addr", "127.0.0.1:0", "--data", d.dir, "--bootstrap", bootstrap, "--log-format", "json"}, none, nil, out, out)
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != exitOK {
			t.Errorf("serve ends with %d: %s", code, out)
		}
	})
	d.until(func() bool { return strings.Contains(out.String(), "Manifold is serving at http://127.0.0.1:") })
	d.until(func() bool {
		code, text, _ := d.as("", "domain", "list", "--json")
		return code == exitOK && strings.Contains(text, `"outcome": "active"`)
	})
	for name, role := range map[string]string{"rita": "operator", "otto": "approver"} {
		code, text, errs := d.as("", "key", "create", name, "--role", role)
		if code != exitOK {
			t.Fatalf("key of %s: %d %s", name, code, errs)
		}
		d.keys[name] = strings.TrimSpace(text)
	}
	return d
}

func prices(t *testing.T) string {
	t.Helper()
	svc, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return domaintest.Serve(t, svc)
}

func (d *desk) until(holds func() bool) {
	d.t.Helper()
	deadline, tick := time.After(30*time.Second), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			d.t.Fatal("it never came to that")
		}
	}
}

// as runs a command with a user's key; "" is the admin of the file that the server wrote.
func (d *desk) as(who string, args ...string) (code int, stdout, stderr string) {
	d.t.Helper()
	getenv := func(name string) string {
		switch name {
		case "MANIFOLD_CONFIG":
			return filepath.Join(d.dir, "client.json")
		case "MANIFOLD_KEY":
			return d.keys[who]
		}
		return ""
	}
	var out, errs bytes.Buffer
	code = run(d.t.Context(), args, getenv, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// does runs a command and checks its exit code and its output.
func (d *desk) does(who string, code int, says string, args ...string) string {
	d.t.Helper()
	got, out, errs := d.as(who, args...)
	if got != code || !regexp.MustCompile(says).MatchString(out+errs) {
		d.t.Fatalf("manifold %s: ends with %d, want %d and %q; says\n%s%s", strings.Join(args, " "), got, code, says, out, errs)
	}
	return out
}

// reads runs a command with --json and decodes its output.
func (d *desk) reads(who string, into any, args ...string) int {
	d.t.Helper()
	code, out, errs := d.as(who, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), into); err != nil {
		d.t.Fatalf("manifold %s: %v\n%s%s", strings.Join(args, " "), err, out, errs)
	}
	return code
}

// approves runs the command that approves exactly the current action of a gate.
func (d *desk) approves(who string, code int, says, gate string, more ...string) string {
	d.t.Helper()
	var shown contracts.Interrupt
	d.reads(who, &shown, "gates", gate)
	return d.does(who, code, says, append([]string{"approve", gate, "--sha256", shown.ActionSHA256}, more...)...)
}

const alert = "set an alert for AAPL above 250"

// waiting requests a write as rita, and returns the code of its gate.
func (d *desk) waiting() string {
	d.t.Helper()
	out := d.does("rita", exitWaiting, `manifold approve`, "ask", alert)
	return regexp.MustCompile(`manifold approve (\w+)`).FindStringSubmatch(out)[1]
}
