package httpapi_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
)

// tab is a browser tab: its cookie, and the CSRF token of its page.
type tab struct {
	s      *site
	cookie string
	in     contracts.SignedIn
}

// signIn opens a tab that is signed in with somebody's key.
func (s *site) signIn(who string) *tab {
	s.t.Helper()
	b := &tab{s: s}
	b.with(`{"key":"` + s.text[who] + `"}`)
	return b
}

// with signs in and stores the cookie.
func (b *tab) with(body string, headers ...string) answer {
	b.s.t.Helper()
	a := b.s.send("", http.MethodPost, "/v1/session", body, append(headers, "Cookie", b.cookie)...)
	if a.status == http.StatusOK {
		b.keep(a)
	}
	return a
}

func (b *tab) keep(a answer) {
	b.s.t.Helper()
	cookie, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	if b.cookie = cookie; cookie == "" {
		b.s.t.Fatalf("no cookie: %v", a.header)
	}
	if err := json.Unmarshal([]byte(a.body), &b.in); err != nil {
		b.s.t.Fatal(err)
	}
}

// send sends a request of the page.
func (b *tab) send(method, path, body string, headers ...string) answer {
	b.s.t.Helper()
	return b.s.send("", method, path, body, append([]string{"Cookie", b.cookie, "X-CSRF-Token", b.in.CSRF, "Sec-Fetch-Site", "same-origin"}, headers...)...)
}

func (b *tab) want(status int, method, path, body string, headers ...string) {
	b.s.t.Helper()
	if a := b.send(method, path, body, headers...); a.status != status {
		b.s.t.Errorf("%s %s: %d %s, want %d", method, path, a.status, a.body, status)
	}
}

func TestABrowserSignsInAndOut(t *testing.T) {
	t.Parallel()
	s := setup(t)
	link, _, err := s.rita.SignInLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at, token, _ := strings.Cut(link, "#")
	if at != s.url+"/sign-in" {
		t.Errorf("the page is %s", at)
	}
	b := &tab{s: s}
	a := b.with(`{"link":"` + token + `"}`)
	if a.status != http.StatusOK || b.in.User.ID != "rita" || b.in.User.Roles[0] != "operator" || b.in.CSRF == "" || !b.in.EndsAt.After(b.in.ExpiresAt) {
		t.Fatalf("%d %s", a.status, a.body)
	}
	cookie := a.header.Get("Set-Cookie")
	for _, attribute := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, attribute) {
			t.Errorf("%s is missing in %q", attribute, cookie)
		}
	}
	if strings.Contains(cookie, "Max-Age") || strings.Contains(cookie, "Expires") || strings.Contains(a.body, strings.SplitN(b.cookie, "=", 2)[1]) {
		t.Errorf("the cookie ends with the browser, and its page does not read it: %q %s", cookie, a.body)
	}
	if again := (&tab{s: s}).with(`{"link":"` + token + `"}`); again.status != http.StatusUnauthorized {
		t.Errorf("a link counts once: %d", again.status)
	}
	b.want(http.StatusOK, "GET", "/v1/session", "")
	b.want(http.StatusCreated, "POST", "/v1/sessions", `{"message":"buy me a pony"}`)
	b.want(http.StatusNoContent, "DELETE", "/v1/session", "")
	b.want(http.StatusNoContent, "GET", "/v1/session", "")
	b.want(http.StatusUnauthorized, "GET", "/v1/runs", "")
}

func TestOverTLSTheCookieIsBoundToTheHost(t *testing.T) {
	t.Parallel()
	s := setup(t, withLinks)
	cookie := s.send("", "POST", "/v1/session", `{"key":"`+s.text["rita"]+`"}`).header.Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-") || !strings.Contains(cookie, "; Secure") || strings.Contains(cookie, "Domain") {
		t.Errorf("cookie %q", cookie)
	}
}

func TestAnotherSiteChangesNothing(t *testing.T) {
	t.Parallel()
	s := setup(t)
	b := s.signIn("rita")
	const path, body = "/v1/sessions", `{"message":"buy me a pony"}`
	for name, headers := range map[string][]string{
		"without the token":              {"X-CSRF-Token", ""},
		"with another browser's token":   {"X-CSRF-Token", s.signIn("rita").in.CSRF},
		"with the token, cross-site":     {"Sec-Fetch-Site", "cross-site"},
		"with the token, same-site":      {"Sec-Fetch-Site", "same-site"},
		"with the token, another origin": {"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
	} {
		if a := b.send("POST", path, body, headers...); a.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	b.want(http.StatusForbidden, "DELETE", "/v1/session", "", "X-CSRF-Token", "")
	b.want(http.StatusCreated, "POST", path, body)
	if a := (&tab{s: s}).with(`{"key":"`+s.text["otto"]+`"}`, "Sec-Fetch-Site", "cross-site"); a.status != http.StatusForbidden {
		t.Errorf("another site signs somebody in: %d", a.status)
	}
}

func TestASessionIsNotFixed(t *testing.T) {
	t.Parallel()
	s := setup(t)
	attacker := s.signIn("rita")
	victim := &tab{s: s, cookie: attacker.cookie}
	if a := victim.with(`{"key":"` + s.text["otto"] + `"}`); a.status != http.StatusOK || victim.cookie == attacker.cookie {
		t.Fatalf("%d: the cookie that was set before is kept: %v", a.status, victim.cookie == attacker.cookie)
	}
	attacker.want(http.StatusNoContent, "GET", "/v1/session", "")
	if a := victim.send("GET", "/v1/session", ""); !strings.Contains(a.body, `"otto"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	made := &tab{s: s, cookie: "manifold_session=mfs_aaaaaaaaaaaa_1999999999_" + strings.Repeat("a", 52) + "_" + strings.Repeat("a", 52)}
	made.want(http.StatusNoContent, "GET", "/v1/session", "")
}

func TestAStolenCookieEndsWithTheKey(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.person("eve", "operator")
	b := s.signIn("eve")
	b.want(http.StatusOK, "GET", "/v1/runs", "")
	if err := s.admin.RevokeKey(t.Context(), b.in.User.KeyID); err != nil {
		t.Fatal(err)
	}
	b.want(http.StatusUnauthorized, "GET", "/v1/runs", "")
	b.want(http.StatusUnauthorized, "POST", "/v1/sessions", `{"message":"buy me a pony"}`)
}

func TestTheCookieMayWhatTheKeyMay(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.person("vera", "viewer")
	session, gate := s.waiting(s.rita)
	approve := `{"decision":"approve","action_sha256":"` + gate.ActionSHA256 + `"}`
	vera := s.signIn("vera")
	for _, path := range []string{"/v1/runs/" + gate.RunID, "/v1/sessions/" + session.SessionID, "/v1/gates/" + gate.InterruptID, "/v1/runs/" + gate.RunID + "/stream", "/v1/gates/" + gate.InterruptID + "/sheet"} {
		vera.want(http.StatusNotFound, "GET", path, "")
	}
	vera.want(http.StatusForbidden, "GET", "/v1/runs?all=true", "")
	vera.want(http.StatusNotFound, "POST", "/v1/gates/"+gate.InterruptID+"/decision", approve)
	s.signIn("rita").want(http.StatusForbidden, "POST", "/v1/gates/"+gate.InterruptID+"/decision", approve)
	s.signIn("otto").want(http.StatusOK, "POST", "/v1/gates/"+gate.InterruptID+"/decision", approve)
	decided, err := s.otto.Gate(t.Context(), gate.InterruptID)
	if err != nil || len(decided.Decisions) != 1 || decided.Decisions[0].Via != "page" || decided.Decisions[0].DecidedBy != "otto" {
		t.Errorf("%+v, %v", decided.Decisions, err)
	}
}

func TestAGateReadsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	s := setup(t)
	_, gate := s.waiting(s.rita)
	read := func(who string) (out contracts.GateView) {
		t.Helper()
		a := s.send(who, "GET", "/v1/gates/"+gate.InterruptID+"/sheet", "")
		if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return out
	}
	otto, rita := read("otto"), read("rita")
	if otto.Asks == "" || len(otto.Rows) == 0 || otto.People != 1 || otto.Schema == nil || otto.Verify == "" {
		t.Errorf("%+v", otto)
	}
	if m := otto.May; !m.Approve || !m.Edit || !m.Reject || m.Answer || m.Why != "" {
		t.Errorf("otto may %+v", m)
	}
	if m := rita.May; m.Approve || !m.Edit || !m.Reject || m.Why == "" {
		t.Errorf("rita may %+v", m)
	}
	if len(otto.After) > 0 {
		t.Errorf("otto may not read the run: %+v", otto.After)
	}
	if _, err := s.otto.Reject(t.Context(), gate, "no", client.Opt{}); err != nil {
		t.Fatal(err)
	}
	if m := read("rita").May; m.Approve || m.Edit || !strings.Contains(m.Why, "rejected") {
		t.Errorf("after the decision rita may %+v", m)
	}
}

func TestGuessingSignInsIsLimited(t *testing.T) {
	t.Parallel()
	s := setup(t)
	last := 0
	for range 400 {
		if last = s.send("", "POST", "/v1/session", `{"key":"mfk_none"}`).status; last != http.StatusUnauthorized {
			break
		}
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the last guess: %d", last)
	}
}

func TestASignInSaysOneThing(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, body := range []string{`{}`, `{"key":"a","link":"b"}`, `{"key":1}`, `{"user":"rita"}`, ``} {
		if a := s.send("", "POST", "/v1/session", body); a.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
}

func TestThePageIsServedAndKeptFromHarm(t *testing.T) {
	t.Parallel()
	s := setup(t)
	page := s.send("", "GET", "/runs", "", "Accept", "text/html")
	if page.status != http.StatusOK || !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
		t.Fatalf("%d %v", page.status, page.header)
	}
	for name, want := range map[string]string{
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := page.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	policy := page.header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s: %s", part, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || strings.Contains(policy, "http") {
		t.Errorf("the policy allows too much: %s", policy)
	}
	if strings.Contains(page.body, "<style") || strings.Contains(page.body, " style=") || strings.Contains(page.body, "<script>") {
		t.Error("there is something inline in the page")
	}
	for _, path := range []string{"/v1/nothing", "/v1", "/runs.php", "/metrics", "/debug/pprof"} {
		if a := s.send("", "GET", path, "", "Accept", "text/html"); a.status != http.StatusNotFound || a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", path, a.status, a.header.Get("Content-Type"))
		}
	}
	if a := s.send("", "POST", "/runs", `{}`); a.status != http.StatusNotFound {
		t.Errorf("the page takes nothing: %d", a.status)
	}
	asset := regexp.MustCompile(`/assets/[^"]+\.js`).FindString(page.body)
	if a := s.send("", "GET", asset, ""); a.status != http.StatusOK || !strings.Contains(a.header.Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %d %v", asset, a.status, a.header)
	}
}

func TestASiteMayServeNoPage(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *app.Config) { c.NoPage = true })
	if a := s.send("", "GET", "/", "", "Accept", "text/html"); a.status != http.StatusNotFound {
		t.Errorf("%d", a.status)
	}
}

func TestHostileTextsAreServedAsText(t *testing.T) {
	t.Parallel()
	s := setup(t)
	b := s.signIn("rita")
	const hostile = `<script>alert(1)</script><img src=x onerror=alert(1)>`
	a := b.send("POST", "/v1/sessions", `{"message":"`+hostile+`"}`)
	if a.status != http.StatusCreated || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %v", a.status, a.header)
	}
	if strings.Contains(a.body, "<script") {
		t.Errorf("markup as it was sent: %s", a.body)
	}
}

func TestSettingsAreWithoutSecrets(t *testing.T) {
	t.Parallel()
	s := setup(t, withLinks)
	a := s.send("rita", "GET", "/v1/settings", "")
	if a.status != http.StatusOK || !strings.Contains(a.body, `"store":"sqlite"`) || !strings.Contains(a.body, `"approval_links":true`) || strings.Contains(a.body, "mfk_") {
		t.Errorf("%d %s", a.status, a.body)
	}
}
