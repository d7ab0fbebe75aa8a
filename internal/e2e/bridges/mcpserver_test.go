package bridges_test

import (
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

// open serves a server's /mcp to clients that send no key.
func open(t *testing.T) string {
	t.Helper()
	svc, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := serve(t, `{"domain":"finance","url":"`+domaintest.Serve(t, svc)+`"}`)
	key := apptest.Key(t, a.AdminKeyFile())
	target, err := url.Parse(a.URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target) // Host and Origin stay as the client sent them
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+key)
	}})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// TestConformance plays the public conformance suite of MCP. What a server can fail
// only for want of the suite's own tools, resources and prompts stands in
// conformance.yaml; the suite fails as well when one of these passes.
func TestConformance(t *testing.T) {
	dir := packages(t)
	address := open(t)
	baseline, err := filepath.Abs("conformance.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out := play(t, dir, "node", "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server",
		"--url", address+"/mcp", "--suite", "all", "--expected-failures", baseline, "--output-dir", t.TempDir())
	t.Log(out)
}

// TestInspector lists and calls by the command line of MCP's inspector.
func TestInspector(t *testing.T) {
	dir := packages(t)
	address := open(t)
	inspect := func(args ...string) string {
		return play(t, dir, "node", append([]string{"node_modules/.bin/mcp-inspector", "--cli", address + "/mcp", "--transport", "http"}, args...)...)
	}
	for _, tool := range []string{`"ask"`, `"run_start"`, `"finance__get_stock_price"`} {
		if out := inspect("--method", "tools/list"); !strings.Contains(out, tool) {
			t.Errorf("no tool %s in %s", tool, out)
		}
	}
	if out := inspect("--method", "tools/call", "--tool-name", "ask", "--tool-arg", "message=what is the price of Apple?"); !strings.Contains(out, "AAPL") {
		t.Error(out)
	}
	if out := inspect("--method", "resources/list"); !strings.Contains(out, "resources") {
		t.Error(out)
	}
}

// play runs a command, which must go well, and gives what it says.
func play(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
