package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
)

func problem(t *testing.T, a answer) contracts.Problem {
	t.Helper()
	var p contracts.Problem
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	if kind := a.header.Get("Content-Type"); kind != "application/problem+json" {
		t.Errorf("content type %q", kind)
	}
	return p
}

func TestRequestsThatAreNotUnderstoodAreRefusedWithTheirPlace(t *testing.T) {
	t.Parallel()
	s := setup(t)
	tests := map[string]struct {
		method, path, body string
		headers            []string
		status             int
		says               string
	}{
		"an unknown key":                 {"POST", "/v1/sessions", `{"message":"x","mesage":"y"}`, nil, 400, "/mesage"},
		"a wrong type":                   {"POST", "/v1/plans", `{"message":7}`, nil, 400, "/message"},
		"a duplicate key":                {"POST", "/v1/plans", `{"message":"a","message":"b"}`, nil, 400, "/message"},
		"something behind the body":      {"POST", "/v1/plans", `{"message":"a"} {}`, nil, 400, "input"},
		"no body":                        {"POST", "/v1/sessions", "", nil, 400, "body is empty"},
		"a body of another kind":         {"POST", "/v1/sessions", `message=x`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 400, "application/json"},
		"a body that is too large":       {"POST", "/v1/sessions", `{"message":"` + strings.Repeat("x", 1<<20) + `"}`, nil, 413, "1048576"},
		"an empty message":               {"POST", "/v1/sessions", `{"message":" "}`, nil, 400, "message"},
		"a message that is too long":     {"POST", "/v1/sessions", `{"message":"` + strings.Repeat("x", contracts.MaxMessageChars+1) + `"}`, nil, 400, "/message"},
		"a webhook to this machine":      {"POST", "/v1/sessions", `{"message":"x","webhook_url":"http://127.0.0.1/hook"}`, nil, 400, "/webhook_url"},
		"an idempotency key of binary":   {"POST", "/v1/sessions", `{"message":"x"}`, []string{"Idempotency-Key", "é"}, 400, "ASCII"},
		"a limit that is no number":      {"GET", "/v1/runs?limit=many", "", nil, 400, "/limit"},
		"a negative place":               {"GET", "/v1/runs/r/events?after=-1", "", nil, 400, "/after"},
		"a time that is none":            {"GET", "/v1/sessions?before=yesterday", "", nil, 400, "/before"},
		"a flag that is none":            {"GET", "/v1/runs?all=perhaps", "", nil, 400, "/all"},
		"a state that no run is in":      {"GET", "/v1/runs?state=asleep", "", nil, 400, "/state"},
		"a status that no gate has":      {"GET", "/v1/gates?status=undecided", "", nil, 400, "/status"},
		"a type that no question has":    {"GET", "/v1/gates?type=riddle", "", nil, 400, "/type"},
		"an artifact by another name":    {"GET", "/v1/runs/r/artifacts/passwd", "", nil, 400, "64"},
		"a route that is not there":      {"GET", "/v1/nothing", "", nil, 404, "/openapi.yaml"},
		"a way out of the path":          {"GET", "/v1/domains/..%2f..%2fetc", "", nil, 404, "domain"},
		"a method that is not there":     {"PUT", "/v1/sessions", "{}", nil, 405, "PUT"},
		"a session that is not there":    {"GET", "/v1/sessions/ses_none", "", nil, 404, "ses_none"},
		"a gate that is not there":       {"POST", "/v1/gates/NOPE2/decision", `{"decision":"reject"}`, nil, 404, "NOPE2"},
		"a decision that is none":        {"POST", "/v1/gates/NOPE2/decision", `{"decision":"maybe"}`, nil, 400, "/decision"},
		"a plan that nobody was shown":   {"POST", "/v1/runs", `{"plan_hash":"00"}`, nil, 404, "plan"},
		"a name that is empty":           {"PATCH", "/v1/sessions/ses_none/name", `{"name":""}`, nil, 400, "/name"},
		"a name of nothing":              {"PATCH", "/v1/sessions/ses_none/name", `{"name":"x"}`, nil, 404, "ses_none"},
		"a session without a real start": {"POST", "/v1/sessions/ses_none/messages", `{"message":"x"}`, nil, 404, "ses_none"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.send("rita", tt.method, tt.path, tt.body, tt.headers...)
			p := problem(t, a)
			if a.status != tt.status || p.Status != tt.status || !strings.Contains(a.body, tt.says) {
				t.Errorf("%d %s, want %d with %q", a.status, a.body, tt.status, tt.says)
			}
			if p.RequestID == "" || p.RequestID != a.header.Get("X-Request-Id") {
				t.Errorf("request id %q and %q", p.RequestID, a.header.Get("X-Request-Id"))
			}
		})
	}
}

func TestAPlanMayBeLargerThanAMessage(t *testing.T) {
	t.Parallel()
	s := setup(t)
	body := `{"goal":"` + strings.Repeat("x", 2<<20) + `","intents":[{"id":"i1","domain":"finance","capability":"get_stock_price","parameters":{"symbol":"AAPL"},"confidence":1}]}`
	if a := s.send("rita", "POST", "/v1/plans", body); a.status != 200 {
		t.Errorf("%d %.200s", a.status, a.body)
	}
	if a := s.send("rita", "POST", "/v1/plans", strings.Replace(body, "x", strings.Repeat("x", 2<<20), 1)); a.status != 413 {
		t.Errorf("%d %.200s", a.status, a.body)
	}
}

func TestKeysThatDoNotCountAreRefused(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.person("ex", "operator")
	keys, err := s.admin.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.admin.RevokeKey(t.Context(), keys[len(keys)-1].ID); err != nil {
		t.Fatal(err)
	}
	for name, authorization := range map[string]string{
		"none":         "",
		"a made-up":    "Bearer mfk_aaaaaaaaaaaa_" + strings.Repeat("a", 52),
		"no key":       "Bearer hello",
		"basic":        "Basic cml0YTpyaXRh",
		"a revoked":    "Bearer " + s.text["ex"],
		"a changed":    "Bearer " + s.text["rita"][:len(s.text["rita"])-1] + "0",
		"only its id":  "Bearer " + s.text["rita"][:16],
		"without word": s.text["rita"],
	} {
		a := s.send("", "GET", "/v1/whoami", "", "Authorization", authorization)
		if p := problem(t, a); a.status != 401 || p.Code != contracts.CodeUnauthorized || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

func TestOnlyAFrontendSpeaksForOthers(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.key(contracts.KeySpec{Kind: "frontend", Principal: "chat", Roles: []string{"operator"}})
	for _, tt := range []struct{ who, forwarded, subject string }{
		{"chat", "ana", "ana"}, {"chat", "", "frontend:chat"}, {"rita", "ana", "rita"},
	} {
		a := s.send(tt.who, "GET", "/v1/whoami", "", "Manifold-User", tt.forwarded)
		if !strings.Contains(a.body, `"subject":"`+tt.subject+`"`) {
			t.Errorf("%+v: %s", tt, a.body)
		}
	}
	if a := s.send("chat", "GET", "/v1/whoami", "", "Manifold-User", "a b; c"); a.status != 400 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestTooManyRequestsAreToldWhenToGoOn(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *app.Config) { c.RequestsPerMinute, c.RequestBurst = 1, 5 })
	var last answer
	for range 6 {
		last = s.send("otto", "GET", "/v1/whoami", "")
	}
	if last.status != 429 || last.header.Get("Retry-After") == "" || problem(t, last).Code != contracts.CodeRateLimited {
		t.Errorf("%d %v %s", last.status, last.header, last.body)
	}
	if a := s.send("rita", "GET", "/v1/whoami", ""); a.status != 200 {
		t.Errorf("another caller: %d", a.status)
	}
}

func TestTooManySessionsAreToldWhenToGoOn(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *app.Config) { c.SessionsPerMinute, c.SessionBurst = 1, 1 })
	body := `{"message":"what is the stock price of Apple"}`
	if a := s.send("rita", "POST", "/v1/sessions", body); a.status != 201 || a.header.Get("Location") == "" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.send("rita", "POST", "/v1/sessions", body); a.status != 429 || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %v", a.status, a.header)
	}
}

func TestTheServerHoldsAnAnswerBackAsLongAsIsPreferred(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, tt := range []struct{ prefer, applied string }{
		{"wait=30", "wait=30"}, {"respond-async, wait=7", "wait=7"}, {"wait=100000", "wait=60"}, {"wait=soon", ""}, {"", ""},
	} {
		a := s.send("rita", "POST", "/v1/sessions", `{"message":"what is the stock price of Apple"}`, "Prefer", tt.prefer)
		if got := a.header.Get("Preference-Applied"); got != tt.applied {
			t.Errorf("%q is applied as %q, want %q", tt.prefer, got, tt.applied)
		}
		if waited := tt.applied != ""; waited && !strings.Contains(a.body, `"status":"completed"`) {
			t.Errorf("%q: %s", tt.prefer, a.body)
		}
	}
}

func TestARepeatWithTheSameKeyIsTheSameRequest(t *testing.T) {
	t.Parallel()
	s := setup(t)
	send := func(message string) answer {
		return s.send("rita", "POST", "/v1/sessions", `{"message":"`+message+`"}`, "Idempotency-Key", "k-1", "Prefer", "wait=30")
	}
	first, again, other := send("what is the stock price of Apple"), send("what is the stock price of Apple"), send("list my price alerts")
	if first.status != 201 || again.header.Get("Location") != first.header.Get("Location") {
		t.Errorf("%s and %s", first.body, again.body)
	}
	if p := problem(t, other); other.status != 409 || p.Code != contracts.CodeConflict {
		t.Errorf("%d %s", other.status, other.body)
	}
	if runs, err := s.rita.Runs(t.Context(), client.RunsFilter{}); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func TestAnswersCannotBeMadeMoreOfByBrowsers(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, path := range []string{"/v1/whoami", "/nothing", "/health"} {
		a := s.send("rita", "GET", path, "")
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
	a := s.send("rita", "GET", "/v1/whoami", "", "X-Request-Id", "mine-1")
	if a.header.Get("X-Request-Id") != "mine-1" {
		t.Errorf("request id %q", a.header.Get("X-Request-Id"))
	}
	if a = s.send("rita", "GET", "/v1/whoami", "", "X-Request-Id", "a\tb"); a.header.Get("X-Request-Id") == "a\tb" {
		t.Error("a foreign request id goes into the log as it is")
	}
}

func TestTheAccessLogHoldsNoPayload(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.send("rita", "POST", "/v1/sessions?secret-query=1", `{"message":"what is the stock price of Apple, secret-word"}`, "Prefer", "wait=30", "Idempotency-Key", "secret-key")
	s.send("rita", "POST", "/v1/sessions", `{"secret-name":1}`)
	log := s.logged(`"status":400`)
	if !strings.Contains(log, `"subject":"rita"`) || !strings.Contains(log, `"status":400`) {
		t.Errorf("log: %s", log)
	}
	for _, secret := range []string{"secret", s.text["rita"], "stock price"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

// logged waits for a line of the log, which is written after the response.
func (s *site) logged(line string) string {
	s.t.Helper()
	deadline, tick := time.After(10*time.Second), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(s.log.String(), line) {
		select {
		case <-tick.C:
		case <-deadline:
			s.t.Fatalf("there is no %s in the log: %s", line, s.log)
		}
	}
	return s.log.String()
}

func TestStrangersLearnOnlyWhetherTheServerWorks(t *testing.T) {
	t.Parallel()
	s := setup(t)
	if a := s.send("", "GET", "/health", ""); a.status != 200 || !strings.Contains(a.body, `"status":"ok"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.send("", "GET", "/ready", ""); a.status != http.StatusOK || strings.Contains(a.body, "finance") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.send("otto", "GET", "/ready", ""); !strings.Contains(a.body, `"finance"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.send("", "GET", "/ready", "", "Authorization", "Bearer x"); a.status != 401 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
