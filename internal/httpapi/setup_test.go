package httpapi_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

// site is a whole server with one domain, and its users.
type site struct {
	t      *testing.T
	url    string
	log    *apptest.Log
	server *app.App
	admin  *client.Client
	rita   *client.Client // operator
	otto   *client.Client // approver
	text   map[string]string
}

const plenty = 1_000_000

func setup(t *testing.T, change ...func(*app.Config)) *site {
	t.Helper()
	s := &site{t: t, log: &apptest.Log{}, text: map[string]string{}}
	cfg := app.Config{
		ChatSettle: time.Nanosecond,
		Addr:       "127.0.0.1:0", DataDir: t.TempDir(), Version: "test", Bootstrap: bootstrap(t),
		SessionsPerMinute: plenty, SessionBurst: plenty, RequestsPerMinute: plenty, RequestBurst: plenty,
		Logger: slog.New(slog.NewJSONHandler(s.log, nil)),
	}
	for _, c := range change {
		c(&cfg)
	}
	server := apptest.Start(t, cfg)
	if err := server.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.url, s.server = server.URL(), server
	s.admin = s.with(apptest.Key(t, server.AdminKeyFile()))
	s.rita, s.otto = s.person("rita", "operator"), s.person("otto", "approver")
	return s
}

// bootstrap serves the domain and returns the bootstrap file for it.
func bootstrap(t *testing.T) []byte {
	t.Helper()
	svc, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return []byte(`{"domains":[{"domain":"finance","url":"` + domaintest.Serve(t, svc) + `"}]}`)
}

// withPeople adds a Workday tenant besides the stocks domain; a worker's key has the worker's name:
// "Ana.Souza".
func withPeople(t *testing.T) func(*app.Config) {
	t.Helper()
	tenant, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(tenant)
	t.Cleanup(server.Close)
	c, workers := tenant.Credentials(), map[string]string{}
	for _, w := range tenant.People() {
		workers[strings.ReplaceAll(w.Name, " ", ".")] = w.ID
	}
	people, err := workday.New(workday.Config{
		Access: workday.Access{All: []string{"operator"}, People: workers},
		Today:  func() time.Time { return time.Date(2026, time.November, 2, 9, 0, 0, 0, time.UTC) },
		Tenant: workday.Tenant{
			URL: server.URL, Name: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
			Tokens: workday.MemoryTokens(c.RefreshToken), AllowLoopback: true, RequestsPerSecond: 200, Burst: 50, MaxConcurrency: 16,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	stocks, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return func(cfg *app.Config) {
		cfg.Bootstrap = []byte(`{"domains":[{"domain":"finance","url":"` + domaintest.Serve(t, stocks) + `"},{"domain":"workday","url":"` + domaintest.Serve(t, people) + `"}]}`)
	}
}

func (s *site) with(key string) *client.Client {
	s.t.Helper()
	return apptest.Client(s.t, client.Config{URL: s.url, Key: key})
}

// person creates a user's key with these roles.
func (s *site) person(name string, roles ...string) *client.Client {
	s.t.Helper()
	return s.with(s.key(contracts.KeySpec{Kind: "user", Principal: name, Roles: roles}))
}

func (s *site) key(spec contracts.KeySpec) string {
	s.t.Helper()
	key, err := s.admin.CreateKey(s.t.Context(), spec)
	if err != nil {
		s.t.Fatalf("key of %s: %v", spec.Principal, err)
	}
	s.text[spec.Principal] = key.Text
	return key.Text
}

// answer is the response to a raw request.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a raw request, with the key of a person unless who is empty.
func (s *site) send(who, method, path, body string, headers ...string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if who != "" {
		req.Header.Set("Authorization", "Bearer "+s.text[who])
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	from := io.Reader(res.Body)
	if strings.HasSuffix(req.URL.Path, "/stream") && res.StatusCode == http.StatusOK {
		from = io.LimitReader(res.Body, 1) // it never ends
	}
	raw, err := io.ReadAll(from)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(raw)}
}

// alert is a request that needs an approval.
const alert = "set an alert for AAPL above 250"

// waiting starts a session that stops at a gate, and returns the gate.
func (s *site) waiting(who *client.Client) (contracts.SessionResponse, contracts.Interrupt) {
	s.t.Helper()
	session, err := who.StartSession(s.t.Context(), contracts.StartSession{Message: alert}, client.Opt{Wait: 30 * time.Second})
	if err != nil {
		s.t.Fatal(err)
	}
	if session.Interrupt == nil {
		s.t.Fatalf("no gate: %+v", session)
	}
	return session, *session.Interrupt
}
