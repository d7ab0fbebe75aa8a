package attack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
	"github.com/manifold-run/manifold/internal/webhook"
)

// patience is how long a test waits for what must happen; nothing is measured
// against it.
const patience = 60 * time.Second

// site is a running server with one domain, as its callers see it.
type site struct {
	t     *testing.T
	url   string
	dir   string
	log   *apptest.Log
	app   *app.App
	root  *client.Client // the key of the first start
	vault *vault
}

// open starts a server in this process and registers a vault.
func open(t *testing.T, change ...func(*app.Config)) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), log: &apptest.Log{}, vault: newVault(t)}
	s.starts(change...)
	s.root = s.with(apptest.Key(t, filepath.Join(s.dir, "admin.key")))
	s.register(s.vault)
	return s
}

// starts has the server of the site run.
func (s *site) starts(change ...func(*app.Config)) {
	s.t.Helper()
	cfg := app.Config{
		Addr: "127.0.0.1:0", DataDir: s.dir, Lookup: os.LookupEnv, Version: "attack",
		Logger:   slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Webhooks: webhook.GuardConfig{AllowLoopback: true}, SessionsPerMinute: 100_000, RequestsPerMinute: 1_000_000,
	}
	for _, c := range change {
		c(&cfg)
	}
	s.app, s.dir = apptest.Start(s.t, cfg), cfg.DataDir
	s.url = s.app.URL()
}

// again stops the server and starts it again.
func (s *site) again(change ...func(*app.Config)) {
	s.t.Helper()
	apptest.Stop(s.t, s.app)
	s.starts(change...)
	s.root = s.with(apptest.Key(s.t, filepath.Join(s.dir, "admin.key")))
}

// policy gives the server a site policy.
func policy(text string) func(*app.Config) {
	return func(c *app.Config) { c.Bootstrap = []byte(`{"domains":[],"site_policy":` + text + `}`) }
}

func (s *site) register(v *vault) {
	s.t.Helper()
	report, err := s.root.RegisterDomain(s.t.Context(), contracts.Registration{Domain: v.name, URL: v.url})
	if err != nil || report.Outcome != contracts.DomainActive {
		s.t.Fatalf("register %s: %v %s", v.name, err, asJSON(report))
	}
}

func (s *site) with(key string) *client.Client {
	s.t.Helper()
	return apptest.Client(s.t, client.Config{URL: s.url, Key: key})
}

// person makes a key for somebody, by the first admin.
func (s *site) person(name string, roles ...string) *client.Client {
	s.t.Helper()
	return s.with(s.key(s.root, contracts.KeySpec{Kind: "user", Principal: name, Roles: roles}))
}

// key makes a key and returns its text.
func (s *site) key(by *client.Client, spec contracts.KeySpec) string {
	s.t.Helper()
	made, err := by.CreateKey(s.t.Context(), spec)
	if err != nil {
		s.t.Fatalf("key for %s: %v", spec.Principal, err)
	}
	return made.Text
}

// frontend makes the key of a frontend.
func (s *site) frontend(roles ...string) string {
	s.t.Helper()
	return s.key(s.root, contracts.KeySpec{Kind: "frontend", Principal: "webui", Roles: roles})
}

// asks plans one call and runs it for somebody; it gives the run.
func (s *site) asks(who *client.Client, capability string, params map[string]any) string {
	s.t.Helper()
	run, err := s.tries(who, capability, params)
	if err != nil {
		s.t.Fatalf("run %s: %v", capability, err)
	}
	return run
}

// tells is asks with a URL that is told of what waits.
func (s *site) tells(who *client.Client, hook, capability string, params map[string]any) string {
	s.t.Helper()
	run, err := s.runs(who, contracts.RunPlan{WebhookURL: hook}, capability, params)
	if err != nil {
		s.t.Fatalf("run %s: %v", capability, err)
	}
	return run
}

func (s *site) tries(who *client.Client, capability string, params map[string]any) (string, error) {
	s.t.Helper()
	return s.runs(who, contracts.RunPlan{}, capability, params)
}

func (s *site) runs(who *client.Client, body contracts.RunPlan, capability string, params map[string]any) (string, error) {
	s.t.Helper()
	domain, name, _ := strings.Cut(capability, ".")
	preview, err := who.Plan(s.t.Context(), contracts.PlanRequest{Intents: []contracts.Intent{{
		ID: "i1", Domain: domain, Capability: name, Parameters: params, Confidence: 1, Source: "caller",
	}}})
	if err != nil {
		return "", err
	}
	if preview.PlanHash == "" {
		s.t.Fatalf("there is no plan: %s", asJSON(preview))
	}
	body.PlanHash = preview.PlanHash
	session, err := who.RunPlan(s.t.Context(), body, client.Opt{})
	if err != nil {
		return "", err
	}
	return session.RunIDs[0], nil
}

// asked waits for the open question of a run of this type.
func (s *site) asked(runID string, kind contracts.InterruptType) contracts.Interrupt {
	s.t.Helper()
	return eventually(s.t, "a "+string(kind)+" of "+runID, func() (contracts.Interrupt, bool) {
		open, err := s.root.Gates(s.t.Context(), client.GatesFilter{RunID: runID, Status: contracts.InterruptOpen, Type: kind})
		if err != nil || len(open) != 1 {
			return contracts.Interrupt{}, false
		}
		return open[0], true
	})
}

// gate waits for the open approval of a run.
func (s *site) gate(runID string) contracts.Interrupt {
	s.t.Helper()
	return s.asked(runID, contracts.InterruptWriteApproval)
}

// ended waits until a run has ended.
func (s *site) ended(runID string) {
	s.t.Helper()
	eventually(s.t, "the end of "+runID, func() (contracts.RunView, bool) {
		view, err := s.root.Run(s.t.Context(), runID, client.Opt{Wait: 2 * time.Second})
		return view, err == nil && view.State.Terminal()
	})
}

func (s *site) approves(who *client.Client, gate contracts.Interrupt) contracts.Interrupt {
	s.t.Helper()
	decided, err := who.Approve(s.t.Context(), gate, "", client.Opt{})
	if err != nil {
		s.t.Fatalf("approve %s: %v", gate.Code, err)
	}
	return decided
}

// mayNot tries to approve, and wants to be refused with the words.
func (s *site) mayNot(who *client.Client, gate contracts.Interrupt, name, says string) {
	s.t.Helper()
	_, err := who.Approve(s.t.Context(), gate, "", client.Opt{})
	if contracts.CodeOf(err) != contracts.CodeForbidden || !strings.Contains(err.Error(), says) {
		s.t.Errorf("%s approved: %v, want forbidden with %q", name, err, says)
	}
}

func (s *site) answers(who *client.Client, question contracts.Interrupt, response any) {
	s.t.Helper()
	if _, err := who.Answer(s.t.Context(), question, response, client.Opt{}); err != nil {
		s.t.Fatalf("answer %s: %v", question.Code, err)
	}
}

// reply is an answer of the server as it came.
type reply struct {
	status int
	body   string
}

// sends makes a request by hand: header values are given as "Name: value".
func (s *site) sends(key, method, path string, body any, headers ...string) reply {
	s.t.Helper()
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		content = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, content)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{res.StatusCode, string(raw)}
}

// eventually looks until it finds, at most as long as patience.
func eventually[T any](t *testing.T, what string, look func() (T, bool)) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		if v, ok := look(); ok {
			return v
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func asJSON(v any) string {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(body)
}

func call(capability string, params map[string]any) contracts.Intent {
	domain, name, _ := strings.Cut(capability, ".")
	return contracts.Intent{Domain: domain, Capability: name, Parameters: params, Confidence: 1, Source: "caller"}
}

// two plans two calls and runs them for somebody.
func (s *site) two(who *client.Client, a, b contracts.Intent) string {
	s.t.Helper()
	a.ID, b.ID = "i1", "i2"
	preview, err := who.Plan(s.t.Context(), contracts.PlanRequest{Intents: []contracts.Intent{a, b}})
	if err != nil || preview.PlanHash == "" {
		s.t.Fatalf("plan: %v %s", err, asJSON(preview))
	}
	session, err := who.RunPlan(s.t.Context(), contracts.RunPlan{PlanHash: preview.PlanHash}, client.Opt{})
	if err != nil {
		s.t.Fatal(err)
	}
	return session.RunIDs[0]
}

// gates waits until a run has n open approvals.
func (s *site) gates(runID string, n int) []contracts.Interrupt {
	s.t.Helper()
	return eventually(s.t, "the approvals of "+runID, func() ([]contracts.Interrupt, bool) {
		open, err := s.root.Gates(s.t.Context(), client.GatesFilter{RunID: runID, Status: contracts.InterruptOpen, Type: contracts.InterruptWriteApproval})
		return open, err == nil && len(open) == n
	})
}
