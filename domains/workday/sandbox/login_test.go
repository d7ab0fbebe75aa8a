package sandbox_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// TestACodeIsRedeemedOnce, by the client that started the login, for tokens of the person who
// logged in.
func TestACodeIsRedeemedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	c, verifier, back := b.tenant.Credentials(), strings.Repeat("v", 43), "http://127.0.0.1:1/callback"
	sum := sha256.Sum256([]byte(verifier))
	authorize := func(hint string) url.Values {
		t.Helper()
		q := url.Values{
			"response_type": {"code"}, "client_id": {c.ClientID}, "redirect_uri": {back}, "state": {"s"}, "login_hint": {hint},
			"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+"/ccx/oauth2/"+c.Tenant+"/authorize?"+q.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		at, err := res.Location()
		if err != nil || !strings.HasPrefix(at.String(), back) || at.Query().Get("state") != "s" {
			t.Fatalf("%v %v", at, err)
		}
		return at.Query()
	}
	redeem := func(code, verifier, back string) (int, object) {
		t.Helper()
		form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier}, "redirect_uri": {back}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/ccx/oauth2/"+c.Tenant+"/token", strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.SetBasicAuth(c.ClientID, c.ClientSecret)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		out := object{}
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, out
	}
	if got := authorize("nobody@example.com"); got.Get("error") != "access_denied" || got.Get("code") != "" {
		t.Errorf("nobody: %v", got)
	}
	helena := b.people["Helena Duarte"]
	for name, try := range map[string]func(code string) (int, object){
		"another verifier": func(code string) (int, object) { return redeem(code, "other", back) },
		"another address":  func(code string) (int, object) { return redeem(code, verifier, back+"/x") },
		"too late": func(code string) (int, object) {
			b.tenant.AdvanceClock(11 * time.Minute)
			return redeem(code, verifier, back)
		},
	} {
		code := authorize(helena.EmployeeID).Get("code")
		if status, out := try(code); status != http.StatusBadRequest || out["error"] != "invalid_grant" {
			t.Errorf("%s: %d %v", name, status, out)
		}
		if status, _ := redeem(code, verifier, back); status != http.StatusBadRequest {
			t.Errorf("%s, and then right: %d", name, status)
		}
	}
	status, out := redeem(authorize(helena.EmployeeID).Get("code"), verifier, back)
	token, _ := out["access_token"].(string)
	if status != http.StatusOK || out["refresh_token"] == "" || token == "" {
		t.Fatalf("%d %v", status, out)
	}
	b.token = token
	if me := b.get(common + "/workers/me"); me["descriptor"] != "Helena Duarte" {
		t.Errorf("it is a token of %v", me["descriptor"])
	}
}
