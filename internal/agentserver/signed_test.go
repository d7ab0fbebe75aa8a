package agentserver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
)

const frontendSecret = "a secret that frontend and server share"

// asUser sends a key and a user that a frontend has signed.
type asUser struct{ key, user string }

func (a asUser) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-OpenWebUI-User-Jwt", a.user)
	return bearer(a.key).RoundTrip(r)
}

// TestASignedUserIsWhoAsks: a request of a frontend over MCP is made by its signed user, with the
// user's roles, as over the API.
func TestASignedUserIsWhoAsks(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.Frontends.JWTSecret = []byte(frontendSecret) })
	made, err := s.admin.CreateKey(t.Context(), contracts.KeySpec{Kind: "frontend", Principal: "webui", Roles: []string{"viewer", "requester", "operator"}})
	if err != nil {
		t.Fatal(err)
	}
	user, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iss": "open-webui", "sub": "1", "email": "ana@example.com", "role": "user", "exp": time.Now().Add(time.Hour).Unix(),
	}).SignedString([]byte(frontendSecret))
	if err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: s.URL() + "/mcp", HTTPClient: &http.Client{Transport: asUser{made.Text, user}}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	_, found, bad := call(t, session, "ask", map[string]any{"message": "what is the price of Apple?"})
	if bad {
		t.Fatalf("%v", found)
	}
	run, _ := found["run_id"].(string)
	view, err := s.admin.Run(t.Context(), run, client.Opt{})
	if err != nil || view.Plan.Owner.Subject() != "ana@example.com" {
		t.Errorf("the run is that of %q, %v", view.Plan.Owner.Subject(), err)
	}
}
