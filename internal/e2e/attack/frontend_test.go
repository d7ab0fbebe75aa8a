package attack_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
)

const frontendSecret = "a secret that frontend and server share"

func withJWT(c *app.Config) { c.Frontends.JWTSecret = []byte(frontendSecret) }

// signed is a user as Open WebUI signs it.
func signed(t *testing.T, secret, email string, method jwt.SigningMethod, ends time.Duration) string {
	t.Helper()
	var key any = []byte(secret)
	if method == jwt.SigningMethodNone {
		key = jwt.UnsafeAllowNoneSignatureType
	}
	text, err := jwt.NewWithClaims(method, jwt.MapClaims{
		"iss": "open-webui", "sub": "id-of-" + email, "email": email, "role": "admin", "exp": time.Now().Add(ends).Unix(),
	}).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// operations are all methods and paths that the server says it has.
func (s *site) operations() [][2]string {
	s.t.Helper()
	var out [][2]string
	path := ""
	line := regexp.MustCompile(`^  (/[^:]*):|^    (get|post|put|patch|delete):`)
	inPaths := false
	for text := range strings.SplitSeq(s.sends("", http.MethodGet, "/openapi.yaml", nil).body, "\n") {
		if text != "" && text[0] != ' ' {
			inPaths = strings.HasPrefix(text, "paths:")
		}
		m := line.FindStringSubmatch(text)
		switch {
		case !inPaths || m == nil:
		case m[1] != "":
			path = regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(m[1], "x1")
		default:
			out = append(out, [2]string{strings.ToUpper(m[2]), path})
		}
	}
	if len(out) < 40 {
		s.t.Fatalf("only %d operations are known: %v", len(out), out)
	}
	return out
}

func TestWhereUsersAreSignedNoRouteTakesAClaim(t *testing.T) {
	t.Parallel()
	s := open(t, withJWT)
	front := s.frontend("operator", "approver", "admin")
	for _, op := range s.operations() {
		// Nobody has signed in to the last: a key in the body, or the cookie, says who it is.
		if op[1] == "/health" || op[1] == "/ready" || op[1] == "/openapi.yaml" || strings.HasPrefix(op[1], "/approve/") || op[1] == "/v1/session" {
			continue
		}
		claims := []string{"Manifold-User: otto"}
		if strings.HasPrefix(op[1], "/v1/chat") || op[1] == "/v1/models" {
			claims = append(claims, "X-OpenWebUI-User-Email: otto@example.com", "X-OpenWebUI-User-Id: otto")
		}
		for _, claim := range claims {
			if got := s.sends(front, op[0], op[1], nil, claim); got.status != http.StatusUnauthorized {
				t.Errorf("%s %s took %q: %d %.200s", op[0], op[1], claim, got.status, got.body)
			}
		}
	}
}

func TestASignedUserIsASecondEyeAndAForgedOneIsNobody(t *testing.T) {
	t.Parallel()
	s := open(t, withJWT)
	front := s.frontend("operator", "approver")
	alice := s.person("alice", "operator")
	gate := s.gate(s.asks(alice, "vault.pay", toAlice))
	approval := contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: gate.ActionSHA256}
	decide := func(headers ...string) reply {
		return s.sends(front, http.MethodPost, "/v1/gates/"+gate.InterruptID+"/decision", approval, headers...)
	}
	for name, token := range map[string]string{
		"another secret": signed(t, "guessed", "otto@example.com", jwt.SigningMethodHS256, time.Minute),
		"no signature":   signed(t, "", "otto@example.com", jwt.SigningMethodNone, time.Minute),
		"yesterday":      signed(t, frontendSecret, "otto@example.com", jwt.SigningMethodHS256, -24*time.Hour),
		"another method": signed(t, frontendSecret, "otto@example.com", jwt.SigningMethodHS384, time.Minute),
	} {
		if got := decide("X-OpenWebUI-User-Jwt: " + token); got.status != http.StatusUnauthorized {
			t.Errorf("%s counts: %d %s", name, got.status, got.body)
		}
	}
	if got := decide("X-OpenWebUI-User-Jwt: " + signed(t, frontendSecret, "alice", jwt.SigningMethodHS256, time.Minute)); got.status != http.StatusForbidden {
		t.Errorf("who asked approved as a signed user: %d %s", got.status, got.body)
	}
	if got := decide("X-OpenWebUI-User-Jwt: "+signed(t, frontendSecret, "otto@example.com", jwt.SigningMethodHS256, time.Minute), "Manifold-User: root"); got.status != http.StatusOK {
		t.Errorf("a signed user does not count: %d %s", got.status, got.body)
	}
	decided, err := s.root.Gate(t.Context(), gate.InterruptID)
	if err != nil || len(decided.Decisions) != 1 || decided.Decisions[0].DecidedBy != "otto@example.com" {
		t.Errorf("decided by %s, %v; a claim beside a signature counts for nothing", asJSON(decided.Decisions), err)
	}
}
