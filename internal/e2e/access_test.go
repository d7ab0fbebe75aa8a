package e2e_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

func TestNothingButThePublicRoutesAnswersWithoutAKey(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	for path, want := range map[string]int{
		"/health": 200, "/ready": 200, "/openapi.yaml": 200,
		"/v1/sessions": 401, "/v1/runs": 401, "/v1/gates": 401, "/v1/domains": 401, "/v1/capabilities": 401,
		"/v1/keys": 401, "/v1/locks": 401, "/v1/whoami": 401, "/v1/runs/run_x": 401, "/v1/gates/ABCDE": 401,
	} {
		headers := []string{"", "Bearer mfk_wrong", "Basic YWRtaW46YWRtaW4="}
		if want == http.StatusOK {
			headers = headers[:1] // a wrong key is refused everywhere
		}
		for _, header := range headers {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if header != "" {
				req.Header.Set("Authorization", header)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("GET %s with %q: %d, want %d", path, header, res.StatusCode, want)
			}
		}
	}
}

func TestRolesBoundWhatAPersonMayDo(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	d := newDepot(t, "depot")
	s.register(d.registration())
	vera, text := s.person("vera", "viewer")
	ctx := t.Context()
	write := d.put("keyed", "a", "1")
	write.ID, write.Confidence, write.Source = "i1", 1, "caller"

	_, err := vera.Plan(ctx, contracts.PlanRequest{Intents: []contracts.Intent{write}})
	wantCode(t, err, contracts.CodeForbidden)
	_, err = vera.RegisterDomain(ctx, d.registration())
	wantCode(t, err, contracts.CodeForbidden)
	_, err = s.rita.CreateKey(ctx, contracts.KeySpec{Kind: "user", Principal: "mole", Roles: []string{"admin"}})
	wantCode(t, err, contracts.CodeForbidden)

	r := s.run(d.put("keyed", "a", "1"))
	gate := s.gates(r.RunIDs[0], 1)[0]
	_, err = vera.Run(ctx, r.RunIDs[0], client.Opt{})
	wantCode(t, err, contracts.CodeNotFound) // what is not yours is not even there
	_, err = vera.Approve(ctx, gate, "", client.Opt{})
	wantCode(t, err, contracts.CodeNotFound)
	_, err = s.rita.Approve(ctx, gate, "", client.Opt{})
	wantCode(t, err, contracts.CodeForbidden)

	keys, err := s.admin.Keys(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if k.Principal == "vera" {
			if err := s.admin.RevokeKey(ctx, k.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err = s.with(text).Whoami(ctx)
	wantCode(t, err, contracts.CodeUnauthorized)
}

func TestHighRiskNeedsASecondPerson(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	d := newDepot(t, "depot", func(m *contracts.Manifest) { capability(m, "put_keyed").Metadata.RiskLevel = contracts.RiskHigh })
	s.register(d.registration())
	// Rita may ask and approve, but not both for the same action.
	both, _ := s.person("rita", "operator", "approver")
	robot, err := s.admin.CreateKey(t.Context(), contracts.KeySpec{Kind: "service", Principal: "robot", Roles: []string{"approver"}})
	if err != nil {
		t.Fatal(err)
	}
	run := s.run(d.put("keyed", "a", "1")).RunIDs[0]
	gate := s.gates(run, 1)[0]
	for name, c := range map[string]*client.Client{"who asked": both, "a program": s.with(robot.Text)} {
		if _, err := c.Approve(t.Context(), gate, "", client.Opt{}); contracts.CodeOf(err) != contracts.CodeForbidden {
			t.Errorf("%s approved: %v", name, err)
		}
	}
	if len(d.record()) != 0 {
		t.Fatalf("effects: %+v", d.record())
	}
	s.approve(gate)
	if view := s.ended(run); view.State != contracts.RunCompleted || len(d.record()) != 1 {
		t.Errorf("%s, effects: %+v", states2text(view), d.record())
	}
}

// delivery is a webhook as its receiver got it.
type delivery struct {
	header http.Header
	body   string
}

func TestAnInterruptIsToldByASignedWebhook(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	d := newDepot(t, "depot")
	s.register(d.registration())
	got := make(chan delivery, 10)
	refused := false
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !refused { // the first delivery meets a tired receiver
			refused = true
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		got <- delivery{r.Header, string(body)}
	}))
	t.Cleanup(receiver.Close)
	r, err := s.runWith(contracts.PlanRequest{Intents: []contracts.Intent{d.put("keyed", "a", "1")}}, contracts.RunPlan{WebhookURL: receiver.URL})
	if err != nil {
		t.Fatal(err)
	}
	gate := s.gates(r.RunIDs[0], 1)[0]
	told := eventually(t, "the webhook", func() (delivery, bool) {
		select {
		case d := <-got:
			return d, true
		default:
			return delivery{}, false
		}
	})
	if !strings.Contains(told.body, gate.InterruptID) {
		t.Errorf("the delivery does not name the gate: %s", told.body)
	}
	signature, found := strings.CutPrefix(told.header.Get("Manifold-Signature"), "v1=")
	if raw, err := hex.DecodeString(signature); !found || err != nil || len(raw) != sha256.Size || told.header.Get("Manifold-Timestamp") == "" {
		t.Errorf("it is not signed: %v", told.header)
	}
	mac := hmac.New(sha256.New, []byte(s.key)) // no key that callers hold signs
	_, _ = mac.Write([]byte(told.header.Get("Manifold-Timestamp") + "." + told.body))
	if hex.EncodeToString(mac.Sum(nil)) == signature {
		t.Error("it is signed with a caller's key")
	}
}

func TestAWebhookToThisMachineMustBeAllowed(t *testing.T) {
	t.Parallel()
	s := startSite(t, withoutLoopbackWebhooks)
	for _, url := range []string{"http://127.0.0.1:9/x", "http://localhost/x", "http://169.254.169.254/latest", "file:///etc/passwd", "http://u:p@example.com/"} {
		_, err := s.rita.StartSession(t.Context(), contracts.StartSession{Message: "hello", WebhookURL: url}, client.Opt{})
		if code := contracts.CodeOf(err); code != contracts.CodeInvalid && code != contracts.CodeForbidden {
			t.Errorf("webhook to %s: %v", url, err)
		}
	}
}

func TestTwoServersOnOneFolderAreRefused(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	second := &process{site: &site{t: t, dir: p.dir, log: &apptest.Log{}}}
	t.Cleanup(second.kill)
	if err := second.tryStart(); err == nil {
		t.Fatal("a second server started on the same folder")
	}
	if _, err := p.rita.Whoami(t.Context()); err != nil {
		t.Errorf("the first server suffers: %v", err)
	}
}

func TestSecretsAreNeverLogged(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	d := newDepot(t, "depot")
	seen := make(chan string, 100)
	guarded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case seen <- r.Header.Get("Authorization"):
		default:
		}
		if r.Header.Get("Authorization") != domainToken {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		d.ServeHTTP(w, r)
	}))
	t.Cleanup(guarded.Close)
	p.register(contracts.Registration{Domain: "depot", URL: guarded.URL, Authorization: "env:E2E_DOMAIN_TOKEN"})
	run := p.run(d.put("keyed", "a", "hunter2-parameter")).RunIDs[0]
	p.approve(p.gates(run, 1)[0])
	if view := p.ended(run); view.State != contracts.RunCompleted || <-seen != domainToken {
		t.Fatalf("%s", states2text(view))
	}
	_, err := p.with(p.keys[1] + "x").Whoami(t.Context())
	wantCode(t, err, contracts.CodeUnauthorized)
	shown, err := p.admin.Domain(t.Context(), "depot")
	if err != nil || strings.Contains(asJSON(shown), domainToken) {
		t.Errorf("the credential of a domain is shown: %v", err)
	}
	if err := p.quit(); err != nil {
		t.Errorf("the server did not stop in good order: %v", err)
	}
	log := p.log.String()
	if !strings.Contains(log, "level=") {
		t.Fatalf("there is no log to look at: %s", log)
	}
	for name, secret := range map[string]string{
		"the admin's key": p.keys[0], "rita's key": p.keys[1], "otto's key": p.keys[2], "the domain's credential": domainToken,
		"the domain's token": strings.TrimPrefix(domainToken, "Bearer "), "a parameter": "hunter2-parameter",
	} {
		if strings.Contains(log, secret) {
			t.Errorf("%s is in the log", name)
		}
	}
}
