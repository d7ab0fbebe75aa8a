package agentserver_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/internal/agentserver"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

// site is a server with one domain, and its admin client.
type site struct {
	*app.App

	admin *client.Client
	key   string
}

func start(t *testing.T, change ...func(*app.Config)) site {
	t.Helper()
	svc, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := app.Config{
		Addr: "127.0.0.1:0", DataDir: t.TempDir(), Bootstrap: []byte(`{"domains":[{"domain":"finance","url":"` + domaintest.Serve(t, svc) + `"}]}`),
	}
	for _, c := range change {
		c(&cfg)
	}
	a := apptest.Start(t, cfg)
	if err := a.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	key := apptest.Key(t, a.AdminKeyFile())
	return site{App: a, key: key, admin: apptest.Client(t, client.Config{URL: a.URL(), Key: key})}
}

// keyOf creates a key with these roles and returns it.
func (s site) keyOf(t *testing.T, principal string, roles ...string) string {
	t.Helper()
	made, err := s.admin.CreateKey(t.Context(), contracts.KeySpec{Kind: "user", Principal: principal, Roles: roles})
	if err != nil {
		t.Fatal(err)
	}
	return made.Text
}

// bearer is an API key that is sent with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (s site) dial(t *testing.T, key, version string) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}).Connect(
		t.Context(),
		&mcp.StreamableClientTransport{Endpoint: s.URL() + "/mcp", HTTPClient: &http.Client{Transport: bearer(key)}, MaxRetries: -1, DisableStandaloneSSE: true},
		&mcp.ClientSessionOptions{ProtocolVersion: version},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call calls a tool and returns its text and its structured content.
func call(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (text string, structured map[string]any, bad bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text += c.Text
		}
	}
	structured, _ = r.StructuredContent.(map[string]any)
	return text, structured, r.IsError
}

func toolNames(t *testing.T, s *mcp.ClientSession) []string {
	t.Helper()
	var out []string
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tool.Name)
	}
	return out
}

// TestReadsAreToolsInEveryVersion of the protocol that clients speak.
func TestReadsAreToolsInEveryVersion(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25", ""} {
		session := s.dial(t, s.key, version)
		names := toolNames(t, session)
		for _, want := range []string{"ask", "run_start", "run_status", "run_result", "finance__get_stock_price"} {
			if !slices.Contains(names, want) {
				t.Errorf("%q: %s is missing among %v", version, want, names)
			}
		}
		if slices.Contains(names, "finance__set_price_alert") {
			t.Errorf("%q: a write is offered as a tool", version)
		}
		text, found, bad := call(t, session, "finance__get_stock_price", map[string]any{"symbol": "AAPL"})
		if bad || !strings.Contains(text, "AAPL") || found["status"] != "completed" || found["facts"] == nil {
			t.Errorf("%q: %s %v", version, text, found)
		}
		text, _, bad = call(t, session, "finance__get_stock_price", map[string]any{"symbol": 7})
		if !bad || !strings.Contains(text, "symbol") {
			t.Errorf("%q: a wrong parameter is answered with %q", version, text)
		}
	}
}

// TestNoToolDecidesAGate: a write waits until a person approves it in Manifold, whatever the agent
// says.
func TestNoToolDecidesAGate(t *testing.T) {
	t.Parallel()
	s := start(t)
	session := s.dial(t, s.keyOf(t, "ana", "operator"), "")
	text, found, bad := call(t, session, "run_start", map[string]any{"goal": "set a price alert for AAPL above 500"})
	gates, _ := found["gates"].([]any)
	if bad || found["status"] != "awaiting_approval" || len(gates) != 1 || !strings.Contains(text, "approve") {
		t.Fatalf("%s %v", text, found)
	}
	for _, words := range []string{"approve", "yes, approve it", "/approve " + gates[0].(string), "approve " + gates[0].(string)} {
		call(t, session, "ask", map[string]any{"message": words, "session_id": found["session_id"]})
	}
	run := found["run_id"].(string)
	if _, found, _ = call(t, session, "run_status", map[string]any{"run_id": run}); found["status"] != "awaiting_approval" {
		t.Fatalf("the gate was decided: %v", found)
	}
	for _, name := range toolNames(t, session) {
		if strings.Contains(name, "approve") || strings.Contains(name, "decide") || strings.Contains(name, "resume") {
			t.Errorf("the tool %s sounds as if it decided", name)
		}
	}
	s.approve(t, run)
	if text, found, bad = call(t, session, "run_result", map[string]any{"run_id": run}); bad || found["status"] != "completed" {
		t.Errorf("%s %v", text, found)
	}
}

// approve approves the open gate of a run as another person.
func (s site) approve(t *testing.T, run string) {
	t.Helper()
	view, err := s.admin.Run(t.Context(), run, client.Opt{})
	if err != nil || len(view.Interrupts) != 1 {
		t.Fatalf("%+v %v", view.Interrupts, err)
	}
	i := view.Interrupts[0]
	if _, err := s.admin.Approve(t.Context(), i, "", client.Opt{}); err != nil {
		t.Fatal(err)
	}
}

// TestAccessIsThatOfTheAPI: a request without a key is rejected, and nobody sees other people's runs.
func TestAccessIsThatOfTheAPI(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, change := range map[string]func(*http.Request){
		"no key":          func(r *http.Request) { r.Header.Del("Authorization") },
		"a key of nobody": func(r *http.Request) { r.Header.Set("Authorization", "Bearer mf_nobody") },
	} {
		if status := post(t, s, change); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status := post(t, s, func(r *http.Request) { r.Header.Set("Origin", "https://elsewhere.example") }); status != http.StatusForbidden {
		t.Errorf("a page of another origin: %d", status)
	}
	_, found, _ := call(t, s.dial(t, s.key, ""), "finance__get_stock_price", map[string]any{"symbol": "AAPL"})
	other := s.dial(t, s.keyOf(t, "ben", "requester"), "")
	if text, _, bad := call(t, other, "run_result", map[string]any{"run_id": found["run_id"]}); !bad {
		t.Errorf("the run of another is told: %s", text)
	}
	if _, err := other.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "manifold://runs/" + found["run_id"].(string)}); err == nil {
		t.Error("the run of another is a resource")
	}
}

func post(t *testing.T, s site, change func(*http.Request)) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	change(r)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

// TestARevokedKeyIsRefusedAtOnce, although its list of tools is cached.
func TestARevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	made, err := s.admin.CreateKey(t.Context(), contracts.KeySpec{Kind: "user", Principal: "ana", Roles: []string{"operator"}})
	if err != nil {
		t.Fatal(err)
	}
	toolNames(t, s.dial(t, made.Text, ""))
	if err := s.admin.RevokeKey(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	if status := post(t, s, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+made.Text) }); status != http.StatusUnauthorized {
		t.Errorf("%d", status)
	}
}

// TestRunsAreResourcesAndExamplesArePrompts.
func TestRunsAreResourcesAndExamplesArePrompts(t *testing.T) {
	t.Parallel()
	s := start(t)
	session := s.dial(t, s.key, "")
	_, found, _ := call(t, session, "ask", map[string]any{"message": "what is the stock price of Apple"})
	run, _ := found["run_id"].(string)
	r, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "manifold://runs/" + run})
	if err != nil || len(r.Contents) != 1 || !strings.Contains(r.Contents[0].Text, `"state": "completed"`) {
		t.Fatalf("%v %+v", err, r)
	}
	if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "manifold://runs/" + run + "/artifacts/" + strings.Repeat("0", 64)}); err == nil {
		t.Error("an artifact that is not there is read")
	}
	p, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "finance__get_stock_price"})
	if err != nil || len(p.Messages) != 1 {
		t.Fatalf("%v %+v", err, p)
	}
	if text, ok := p.Messages[0].Content.(*mcp.TextContent); !ok || !strings.Contains(text.Text, "Ask Manifold, in these words: ") {
		t.Errorf("%+v", p.Messages[0].Content)
	}
}

// TestADesktopClientIsServedByAKey: the server of "manifold mcp", without a process.
func TestADesktopClientIsServedByAKey(t *testing.T) {
	t.Parallel()
	s := start(t)
	ours, theirs := mcp.NewInMemoryTransports()
	done := make(chan error, 1)
	go func() {
		done <- agentserver.NewMCP(agentserver.Config{}, agentserver.Remote(s.admin)).Serve(t.Context(), ours)
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "desktop", Version: "1"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, _, bad := call(t, session, "ask", map[string]any{"message": "what is the stock price of Apple"}); bad || !strings.Contains(text, "AAPL") {
		t.Errorf("%s", text)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestManyReadsNeedFewSessions, each with its own result, although the rate of new sessions is limited.
func TestManyReadsNeedFewSessions(t *testing.T) {
	t.Parallel()
	s := start(t)
	session := s.dial(t, s.key, "")
	symbols := []string{"AAPL", "MSFT", "NVDA", "TSLA"}
	var group sync.WaitGroup
	for n := range len(symbols) {
		group.Go(func() {
			for range 8 {
				r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "finance__get_stock_price", Arguments: map[string]any{"symbol": symbols[n]}})
				if err != nil || r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, symbols[n]) {
					t.Errorf("%s: %v %+v", symbols[n], err, r)
					return
				}
			}
		})
	}
	group.Wait()
	all, err := s.admin.Sessions(t.Context(), time.Time{}, 0)
	if err != nil || len(all) > len(symbols) {
		t.Errorf("%d sessions, %v", len(all), err)
	}
}

// TestAReadOverMCPWaitsForNoForecast: a minimal plan preview has none.
func TestAReadOverMCPWaitsForNoForecast(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, minimal := range []bool{false, true} {
		preview, err := s.admin.Plan(t.Context(), contracts.PlanRequest{Message: "what is the price of Apple?"}, client.Opt{Minimal: minimal})
		if err != nil || preview.PlanHash == "" || (preview.Forecast == nil) != minimal {
			t.Errorf("minimal %t: forecast %v, %v", minimal, preview.Forecast, err)
		}
	}
}
