package bridges_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/cmd/manifold/internal/bridges"
	"github.com/manifold-run/manifold/contracts"
)

// terminal opens the printed link, as a person does.
type terminal struct {
	t    *testing.T
	text bytes.Buffer
}

func (o *terminal) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if !strings.HasPrefix(line, "http") {
			continue
		}
		res, err := http.Get(strings.TrimSpace(line)) // Get follows the redirect
		if err != nil {
			o.t.Error(err)
			continue
		}
		res.Body.Close()
	}
	return o.text.Write(p)
}

func TestTheLoginCommand(t *testing.T) {
	t.Parallel()
	const secret = "s3cret"
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	answer := func(body map[string]any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(body)
		}
	}
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "log in", http.StatusUnauthorized) })
	mux.Handle("GET /.well-known/oauth-protected-resource/mcp", answer(map[string]any{"resource": server.URL + "/mcp", "authorization_servers": []string{server.URL}}))
	mux.Handle("GET /.well-known/oauth-authorization-server", answer(map[string]any{
		"issuer": server.URL, "authorization_endpoint": server.URL + "/authorize", "token_endpoint": server.URL + "/token",
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"client_secret_post"},
	}))
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {secret}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("client_id") != "mine" || r.PostFormValue("client_secret") != secret || r.PostFormValue("code") != secret {
			t.Error("the client, or the code, is not what it was")
		}
		answer(map[string]any{"access_token": secret, "token_type": "Bearer"})(w, r)
	})
	for key, readable := range map[string]bool{"": true, "env:KEY": false} {
		file, out := filepath.Join(t.TempDir(), "tokens.json"), &terminal{t: t}
		cmd := bridges.LoginCommand(&file, func(ctx context.Context, l bridges.Login) error {
			return l.Run(ctx, func(name string) string {
				return map[string]string{"SECRET": secret, "KEY": strings.Repeat("k", 32)}[name]
			}, key, out)
		})
		cmd.SetArgs([]string{server.URL + "/mcp", "--client-id", "mine", "--client-secret", "env:SECRET"})
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		if raw, err := os.ReadFile(file); err != nil || strings.Contains(string(raw), secret) != readable || len(raw) < 100 {
			t.Errorf("with the key %q: %v: %s", key, err, raw)
		}
		if text := out.text.String(); strings.Contains(text, secret) || !strings.Contains(text, "no refresh token") {
			t.Errorf("%s", text)
		}
	}
}

// TestLoginsOfPeopleNeedToKnowWhoAsks: without a token for Manifold anybody could impersonate anybody.
func TestLoginsOfPeopleNeedToKnowWhoAsks(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]bridges.Options{
		"--token-env":            {Bridge: contracts.Bridge{MCP: &contracts.MCPServer{URL: "https://mcp.example/mcp"}}},
		"MCP servers with a URL": {Bridge: contracts.Bridge{MCP: &contracts.MCPServer{Command: []string{"true"}}}, TokenEnv: "TOKEN"},
	} {
		o.People.Dir, o.Getenv, o.Stderr = t.TempDir(), func(string) string { return "secret" }, io.Discard
		if err := bridges.Serve(t.Context(), o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
