package mcp_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge/mcp"
)

// TestATokenFileIsEncrypted when it is opened with a key. A rotated key can read it, an unrelated key
// cannot, and a file cannot be moved to the place of another.
func TestATokenFileIsEncrypted(t *testing.T) {
	t.Parallel()
	const server = "https://mcp.example/mcp"
	file := t.TempDir() + "/one.json"
	plain := `{"server":"` + server + `","resource":"x","authorization_endpoint":"https://a.example/a","token_endpoint":"https://a.example/t","client_id":"c","auth_style":1,"access_token":"` + marker + `"}`
	if err := os.WriteFile(file, []byte(plain), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(file string, keys ...string) error {
		var all [][]byte
		for _, key := range keys {
			all = append(all, bytes.Repeat([]byte(key), 32))
		}
		_, err := mcp.OpenTokens(t.Context(), mcp.TokensConfig{File: file, Server: server, Keys: all})
		return err
	}
	if err := open(file, "a"); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(raw), marker) || strings.Contains(string(raw), "mcp.example") {
		t.Fatalf("%v: %s", err, raw)
	}
	other := t.TempDir() + "/two.json"
	if err := os.WriteFile(other, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(file, "b", "a"); err != nil {
		t.Errorf("with a new key: %v", err)
	}
	for name, err := range map[string]error{"another key": open(file, "b"), "no key": open(file), "another file": open(other, "a")} {
		if contracts.CodeOf(err) != contracts.CodeUnauthorized {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(file, bytes.Replace(raw, raw[20:24], []byte("AAAA"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(file, "a"); err == nil {
		t.Error("a file that was changed is opened")
	}
}
