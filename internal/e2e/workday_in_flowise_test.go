package e2e_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/flowise"
	"github.com/manifold-run/manifold/domains/flowise/flowisetest"
	flowises "github.com/manifold-run/manifold/domains/flowise/sandbox"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
	"github.com/manifold-run/manifold/internal/sample"
)

// TestWorkdayIsWiredIntoAChatflow by the pack of the examples: Workday compiles, Flowise
// applies, one gate shows both, and what is not accepted is taken back.
func TestWorkdayIsWiredIntoAChatflow(t *testing.T) {
	sample.Night(t, "it registers two big manifests")
	t.Parallel()
	tenant, err := sandbox.New(sandbox.Config{ToolPrefix: "acme_"})
	if err != nil {
		t.Fatal(err)
	}
	workdays := httptest.NewServer(tenant)
	t.Cleanup(workdays.Close)
	c := tenant.Credentials()
	svc, err := workday.New(workday.Config{
		Tenant: workday.Tenant{
			URL: workdays.URL, Name: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
			Tokens: workday.MemoryTokens(c.RefreshToken), AllowLoopback: true, RequestsPerSecond: -1,
		},
		MCP: &workday.MCP{URL: workdays.URL + "/mcp"},
	})
	if err != nil {
		t.Fatal(err)
	}
	server, err := flowises.New(flowises.Config{})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	s := startSite(t)
	s.register(contracts.Registration{Domain: "workday", URL: domaintest.Serve(t, svc)})
	data, err := flowise.OpenData(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = data.Close() })
	flows, err := flowise.New(flowise.Config{
		Instances: []flowise.Instance{{ID: "test", Endpoint: front.URL, APIKey: server.Key()}}, Data: data,
		Acting: flowise.ActingAllow, // its tools only read
	})
	if err != nil {
		t.Fatal(err)
	}
	s.register(contracts.Registration{Domain: "flowise", URL: domaintest.Serve(t, flows)})
	s.register(wiringPack(t))
	s.approved(`create a chatflow called "Agentless" that replies "Hello"`)

	gates := 0
	looks := func(i contracts.Interrupt) {
		if i.Type != contracts.InterruptWriteApproval || gates > 0 {
			return
		}
		gates++
		for _, part := range []string{workdays.URL + "/mcp", "acme_searchForWorker", "customMCP", "beartoken"} {
			if !strings.Contains(asJSON(i), part) {
				t.Errorf("the gate does not show %s: %s", part, asJSON(i.Evidence))
			}
		}
	}
	server.AddCredential("Team key", "openAIApi")
	view, told := s.developed(`wire Workday into the chatflow "People Desk"`, say{
		contracts.InterruptSelectTarget: {decides("create_new")},
		contracts.InterruptResultReview: {decides("accept")},
	}, looks)
	if view.State != contracts.RunCompleted || gates != 1 || !strings.Contains(told, "The agent has the tools of Workday: acme_getMyInfo") {
		t.Fatalf("%s, %d gates: %s\n%s", view.State, gates, told, states2text(view))
	}
	stored := ""
	for _, n := range view.Nodes {
		if id, made := n.Facts["chatflow_id"].(string); made && strings.HasSuffix(n.NodeID, "create") {
			stored, _ = server.FlowData(id)
		}
	}
	for _, part := range []string{"{{$vars.beartoken}}", workdays.URL + "/mcp", "acme_getWorkers", `{{workdayMCP.data.instance}}`} {
		if !strings.Contains(stored, part) {
			t.Errorf("the flow has no %s: %s", part, stored)
		}
	}
	// One that has the tools already cannot have them twice; one without an agent has no place for them.
	for name, want := range map[string]string{"Agentless": "has no tools to change", "People Desk": "workdayMCP"} {
		r := s.ask(`wire Workday into the chatflow "` + name + `"`)
		i := s.gates(r.RunIDs[0], 1)[0]
		if _, err := s.rita.Answer(t.Context(), i, "1", client.Opt{}); err != nil {
			t.Fatal(err)
		}
		if v := s.ended(r.RunIDs[0]); !strings.Contains(asJSON(v), want) {
			t.Errorf("%s: %s", name, states2text(v))
		}
	}
}

// wiringPack is the pack of the examples.
func wiringPack(t *testing.T) (pack contracts.Registration) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "..", "examples", "workday-in-flowise", "registration.json"))
	if err == nil {
		err = contracts.Parse(contracts.SchemaRegistration, body, &pack)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pack
}

// TestAChatflowAsksWorkday is the pack on a real Flowise, by sentence: it chooses the flow,
// Workday compiles, Flowise applies, both check and test and judge it, and then whoever asks the
// flow in a chat is answered with what its agent found by searchForWorker, through Flowise's own
// MCP client. Only the chat model is a stand-in.
func TestAChatflowAsksWorkday(t *testing.T) {
	t.Parallel()
	endpoint, key := realFlowise(t)
	tenant, err := sandbox.New(sandbox.Config{ToolPrefix: "acme_"})
	if err != nil {
		t.Fatal(err)
	}
	calls := &toolCalls{next: tenant}
	workdays := httptest.NewServer(calls)
	t.Cleanup(workdays.Close)
	people := map[string]sandbox.Worker{}
	for _, w := range tenant.People() {
		people[w.Name] = w
	}
	c := tenant.Credentials()
	hr, err := workday.New(workday.Config{
		Tenant: workday.Tenant{
			URL: workdays.URL, Name: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
			Tokens: workday.MemoryTokens(c.RefreshToken), AllowLoopback: true, RequestsPerSecond: -1,
		},
		Access: workday.Access{People: map[string]string{"rita": people["Ana Souza"].ID}},
		MCP:    &workday.MCP{URL: workdays.URL + "/mcp"},
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := flowise.OpenData(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = data.Close() })
	flows, err := flowise.New(flowise.Config{
		Instances: []flowise.Instance{{ID: "test", Endpoint: endpoint, APIKey: key}}, Data: data,
		Acting: flowise.ActingAllow, // its tools only read
	})
	if err != nil {
		t.Fatal(err)
	}
	at := flowiseAPI{t, endpoint, key}
	variable := at.post("/variables", map[string]any{"name": "beartoken", "type": "static", "value": accessToken(t, workdays.URL, tenant.Credentials())})
	t.Cleanup(func() { at.remove("/variables/" + variable) })
	service := domaintest.Serve(t, flows)
	s, name := startSite(t), "Reception "+rand.Text()[:6]
	agentOf(t, service, name, at.post("/credentials", map[string]any{
		"name": "Team key", "credentialName": "openAIApi", "plainDataObj": map[string]any{"openAIApiKey": "sk-1"},
	}))
	s.register(contracts.Registration{Domain: "workday", URL: domaintest.Serve(t, hr)})
	s.register(contracts.Registration{Domain: "flowise", URL: service})
	s.register(wiringPack(t))

	var gate, review string
	view, told := s.developed(`wire Workday into the chatflow "`+name+`"`, say{
		contracts.InterruptSelectTarget: {"1"},
		contracts.InterruptResultReview: {decides("accept")},
	}, func(i contracts.Interrupt) {
		switch i.Type {
		case contracts.InterruptWriteApproval:
			gate += i.Prompt + asJSON(i.Evidence)
		case contracts.InterruptResultReview:
			review = asJSON(i)
		default:
		}
	})
	if view.State != contracts.RunCompleted || !strings.Contains(told, "The agent has the tools of Workday: acme_getMyInfo, acme_searchForWorker") {
		t.Fatalf("%s: %s\n%s\n%s", view.State, told, review, states2text(view))
	}
	s.sound(view)
	for _, part := range []string{workdays.URL + "/mcp", "acme_searchForWorker", "beartoken", "the tools of Workday are wired right", "acme_getMyInfo, which a Flowise leaves out"} {
		if !strings.Contains(gate, part) {
			t.Errorf("the gate does not show %q: %s", part, gate)
		}
	}
	for _, part := range []string{"Workday: searchForWorker: passed", "greeting: passed", "2 of 2 tests about Workday passed: DONE"} {
		if !strings.Contains(review, part) {
			t.Errorf("the review does not show %q: %s", part, review)
		}
	}
	if scopes := fmt.Sprint(nodeIn(view, "test", []contracts.NodeState{contracts.NodeCompleted}).Facts["domain_scopes"]); scopes != "[flowise workday]" {
		t.Errorf("the tests are about %s", scopes)
	}
	before := len(calls.made())
	answer := s.told(`ask the chatflow "` + name + `": "What is the business title of Bruno Lima?"`)
	made := calls.made()[before:]
	if len(made) != 1 || made[0] != "acme_searchForWorker" || !strings.Contains(answer, people["Bruno Lima"].Title) {
		t.Errorf("it called %v and says %s", made, answer)
	}
	begunForWorkday(s, "Front Office "+rand.Text()[:6], people["Bruno Lima"].Title, calls)
	// A token that has expired is told as one.
	at.send(http.MethodPut, "/variables/"+variable, map[string]any{"name": "beartoken", "type": "static", "value": "expired"})
	r := s.ask(`ask the chatflow "` + name + `": "What is the business title of Bruno Lima?"`)
	if view := s.ended(r.RunIDs[0]); view.State != contracts.RunFailed || !strings.Contains(asJSON(view), "CREDENTIAL") {
		t.Errorf("with an expired token: %s", states2text(view))
	}
	s.approved(`delete the chatflow "` + name + `"`)
}

// begunForWorkday is the pack where there is no such chatflow yet: it begins one with an
// agent, whose model is at the server's own address of OpenAI.
func begunForWorkday(s *site, name, title string, calls *toolCalls) {
	s.t.Helper()
	at := os.Getenv("FLOWISE_OPENAI")
	if at == "" {
		s.t.Log("FLOWISE_OPENAI is not set: a server that was started elsewhere asks OpenAI itself; no chatflow is begun")
		return
	}
	listener, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", at)
	if err != nil {
		s.t.Fatal(err)
	}
	model := &http.Server{Handler: lookingUp(), ReadHeaderTimeout: time.Minute}
	var served sync.WaitGroup
	served.Go(func() { _ = model.Serve(listener) })
	s.t.Cleanup(func() { _ = model.Close(); served.Wait() })
	written := 0
	view, told := s.developed(`wire Workday into the chatflow "`+name+`"`, say{
		contracts.InterruptSelectTarget: {decides("create_new")},
		contracts.InterruptResultReview: {decides("accept")},
	}, func(i contracts.Interrupt) {
		if i.Type == contracts.InterruptWriteApproval {
			written++
		}
		if i.Type == contracts.InterruptResultReview && !strings.Contains(asJSON(i), "Workday: searchForWorker: passed") {
			s.t.Errorf("the review of the new chatflow: %s", asJSON(i))
		}
	})
	if view.State != contracts.RunCompleted || written != 1 || !strings.Contains(told, "acme_searchForWorker") {
		s.t.Fatalf("a new chatflow: %s after %d gates: %s\n%s", view.State, written, told, states2text(view))
	}
	before := len(calls.made())
	answer := s.told(`ask the chatflow "` + name + `": "What is the business title of Bruno Lima?"`)
	if made := calls.made()[before:]; !slices.Equal(made, []string{"acme_searchForWorker"}) || !strings.Contains(answer, title) {
		s.t.Errorf("the new chatflow called %v and says %s", made, answer)
	}
	s.approved(`delete the chatflow "` + name + `"`)
}

// toolCalls notes which tools of an MCP server are called by others than the domain
// itself.
type toolCalls struct {
	next http.Handler

	mu    sync.Mutex
	names []string // guarded by mu
}

func (c *toolCalls) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var asks struct {
		Method string
		Params struct{ Name string }
	}
	if json.Unmarshal(body, &asks) == nil && asks.Method == "tools/call" && !strings.HasPrefix(r.UserAgent(), "Go-http-client") {
		c.mu.Lock()
		c.names = append(c.names, asks.Params.Name)
		c.mu.Unlock()
	}
	c.next.ServeHTTP(w, r)
}

func (c *toolCalls) made() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.names)
}

// accessToken is what somebody puts into the variable of Flowise.
func accessToken(t *testing.T, tenant string, c sandbox.Credentials) string {
	t.Helper()
	res, err := http.PostForm(tenant+"/ccx/oauth2/"+c.Tenant+"/token", url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {c.RefreshToken}, "client_id": {c.ClientID}, "client_secret": {c.ClientSecret},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var out struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || out.Token == "" {
		t.Fatalf("no token: %d %v", res.StatusCode, err)
	}
	return out.Token
}

// flowiseAPI does what people do in Flowise's own pages.
type flowiseAPI struct {
	t             *testing.T
	endpoint, key string
}

func (a flowiseAPI) post(path string, body map[string]any) (id string) {
	a.t.Helper()
	return a.send(http.MethodPost, path, body)
}

func (a flowiseAPI) remove(path string) {
	a.t.Helper()
	a.send(http.MethodDelete, path, map[string]any{})
}

func (a flowiseAPI) send(method, path string, body map[string]any) (id string) {
	a.t.Helper()
	req, err := http.NewRequest(method, a.endpoint+"/api/v1"+path, strings.NewReader(asJSON(body)))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= http.StatusMultipleChoices {
		a.t.Fatalf("%s %s: %d %v %s", method, path, res.StatusCode, err, raw)
	}
	var row struct{ ID string }
	_ = json.Unmarshal(raw, &row) // a deletion has none
	return row.ID
}

var titleOf = regexp.MustCompile(`title of (the worker with the Workday ID )?([A-Z][a-z]+ [A-Z][a-z]+|[0-9a-f]{32})`)

// lookingUp is a model that looks up whose title it is asked for, if it has a tool for that,
// and says what that gave.
func lookingUp() *flowisetest.OpenAI {
	return &flowisetest.OpenAI{Choose: func(question string, tools []string) (string, map[string]any) {
		asked := titleOf.FindStringSubmatch(question)
		if asked == nil {
			return "", nil
		}
		suffix, arguments := "searchForWorker", map[string]any{"search": asked[2]}
		if asked[1] != "" {
			suffix, arguments = "getWorkers", map[string]any{"ids": []string{asked[2]}}
		}
		for _, tool := range tools {
			if strings.HasSuffix(tool, suffix) {
				return tool, arguments
			}
		}
		return "", nil
	}}
}

// agentOf makes a chatflow with an agent that can only calculate, whose model is lookingUp.
func agentOf(t *testing.T, service, name, credential string) {
	t.Helper()
	model := httptest.NewServer(lookingUp())
	t.Cleanup(model.Close)
	_, out := domaintest.Execute(t, service, "create_chatflow", map[string]any{"name": name, "type": "CHATFLOW", "ops": []any{
		map[string]any{"op_type": "AddNode", "node_name": "chatOpenAI", "node_id": "model", "params": map[string]any{"basepath": model.URL + "/v1", "streaming": false}},
		map[string]any{"op_type": "AddNode", "node_name": "bufferMemory", "node_id": "memory"},
		map[string]any{"op_type": "AddNode", "node_name": "toolAgent", "node_id": "agent"},
		map[string]any{"op_type": "AddNode", "node_name": "calculator", "node_id": "calculator"},
		map[string]any{"op_type": "Connect", "source_node_id": "model", "target_node_id": "agent"},
		map[string]any{"op_type": "Connect", "source_node_id": "memory", "target_node_id": "agent"},
		map[string]any{"op_type": "Connect", "source_node_id": "calculator", "target_node_id": "agent"},
		map[string]any{"op_type": "BindCredential", "node_id": "model", "credential_id": credential},
	}}, map[string]any{"run_id": "r", "node_id": "n", "attempt": 1, "idempotency_key": name})
	if !out.OK {
		t.Fatalf("the agent: %s", asJSON(out))
	}
}
