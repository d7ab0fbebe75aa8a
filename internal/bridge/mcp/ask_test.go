package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge/mcp"
)

// pizza is a form with a field of each kind.
var pizza = &sdk.ElicitParams{Message: "How do you want it?", RequestedSchema: json.RawMessage(`{"type":"object","required":["slices","size"],"properties":{
	"slices":{"type":"integer","minimum":1,"title":"Slices"},
	"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]},
	"top":{"type":"array","items":{"type":"string","enum":["ham","corn"]}},
	"note":{"type":"string","maxLength":20,"default":"none"}}}`)}

var pizzaAnswers = map[string]any{"0/slices": 3, "0/size": "l", "0/top": "corn, ham"}

// ordered returns the server's result for the answers.
func ordered(in map[string]any) *sdk.CallToolResult {
	return &sdk.CallToolResult{StructuredContent: map[string]any{"order": fmt.Sprintf("%v %v %v %v", in["slices"], in["size"], in["top"], in["note"])}}
}

// The results of the server, and of one with the older protocol, which fills in defaults.
const (
	wantOrder   = "3 l [corn ham] <nil>"
	wantDefault = "3 l [corn ham] none"
)

// again calls a capability as the core does after its questions were answered.
func again(t *testing.T, url, capability, state string, answers map[string]any) contracts.ToolResult {
	t.Helper()
	return executeAs(t, url, contracts.ExecuteRequest{Capability: capability, Context: contracts.ExecuteContext{
		TimeoutMS: 20_000, IdempotencyKey: "second-" + capability, Input: &contracts.GivenInput{State: state, Answers: answers},
	}})
}

func executeAs(t *testing.T, url string, req contracts.ExecuteRequest) contracts.ToolResult {
	t.Helper()
	body, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(url+"/execute", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out contracts.ToolResult
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// plainly returns a read tool without parameters.
func plainly(name string) *sdk.Tool {
	tool := reading(name)
	tool.InputSchema = json.RawMessage(`{"type":"object"}`)
	return tool
}

// needs returns the questions of a call, in the form for a person.
func needs(t *testing.T, r contracts.ToolResult) *contracts.InputRequest {
	t.Helper()
	if r.OK || r.Error.Type != contracts.ErrNeedsInput || r.Error.EffectOf() != contracts.EffectNone || r.Error.Needs == nil {
		t.Fatalf("it does not ask: %+v", r.Error)
	}
	if fault := r.Error.Needs.Fault(); fault != "" {
		t.Fatal(fault)
	}
	return r.Error.Needs
}

// TestAToolThatAsksByItsAnswerGoesOnWithTheAnswers, at another bridge, as after a restart. A write
// keeps the key of its first call.
func TestAToolThatAsksByItsAnswerGoesOnWithTheAnswers(t *testing.T) {
	t.Parallel()
	w := serve(t, nil)
	var mu sync.Mutex
	var keys []any
	w.AddTool(&sdk.Tool{Name: "order", InputSchema: json.RawMessage(`{"type":"object","properties":{"key":{"type":"string"}}}`)}, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in map[string]any
		_ = json.Unmarshal(req.Params.Arguments, &in)
		mu.Lock()
		keys = append(keys, in["key"])
		mu.Unlock()
		if req.Params.RequestState != "oven" {
			return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"how": pizza}, RequestState: "oven"}, nil
		}
		answer, _ := req.Params.InputResponses["how"].(*sdk.ElicitResult)
		return ordered(answer.Content), nil
	})
	const overlay = `tools: {order: {key_param: key, metadata: {idempotency: keyed}}}`
	_, url := bridged(t, mcp.Config{URL: w.url}, overlay)
	asked := needs(t, execute(t, url, "order", nil))
	var said []string
	for _, q := range asked.Questions {
		said = append(said, fmt.Sprintf("%s %v", q.ID, q.Optional))
	}
	if got := fmt.Sprint(said); got != "[0/slices false 0/size false 0/note true 0/top true]" {
		t.Error(got)
	}
	if q := asked.Questions[1]; len(q.Options) != 2 || q.Options[1].Label != "Large" || q.Options[1].Value != "l" || !strings.HasPrefix(q.Prompt, "How do you want it? – ") {
		t.Errorf("%+v", q)
	}
	_, url = bridged(t, mcp.Config{URL: w.url}, overlay)
	r := again(t, url, "order", asked.State, pizzaAnswers)
	if !r.OK || r.Facts["order"] != wantOrder {
		t.Errorf("%+v %+v", r.Facts, r.Error)
	}
	if fmt.Sprint(keys) != "[key-order key-order]" {
		t.Errorf("called with the keys %v", keys)
	}
	if r := again(t, url, "order", asked.State, nil); r.OK || r.Error.Type != contracts.ErrConflict {
		t.Errorf("one key stands for two answers: %+v", r)
	}
	_, url = bridged(t, mcp.Config{URL: w.url}, overlay)
	if r := again(t, url, "order", `{"tool":"other","asked":[]}`, pizzaAnswers); r.OK || r.Error.Type != contracts.ErrInvalidParameters {
		t.Errorf("the answers of another tool are taken: %+v", r.Error)
	}
}

// before is a server of the protocol before 2026-07-28, which asks during a call. It counts the effects
// of its tools.
func before(t *testing.T, names ...string) (config mcp.Config, done func() map[string]int) {
	t.Helper()
	var mu sync.Mutex
	effects := map[string]int{}
	server := sdk.NewServer(&sdk.Implementation{Name: "kitchen", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	for _, name := range names {
		server.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &sdk.ToolAnnotations{ReadOnlyHint: strings.HasPrefix(name, "get")}}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			asked := *pizza
			asked.Message = name + ": " + pizza.Message
			answer, err := req.Session.Elicit(ctx, &asked)
			if err != nil {
				return nil, err
			}
			if answer.Action != "accept" {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "cancelled"}}}, nil
			}
			mu.Lock()
			effects[name]++
			mu.Unlock()
			return ordered(answer.Content), nil
		})
	}
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(h.Close)
	return mcp.Config{URL: h.URL, Protocol: "2025-11-25"}, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return effects
	}
}

func TestAReadThatAsksMeanwhileIsMadeAgainWithTheAnswers(t *testing.T) {
	t.Parallel()
	cfg, done := before(t, "get_menu")
	_, url := bridged(t, cfg, trusted)
	asked := needs(t, execute(t, url, "get_menu", nil))
	_, url = bridged(t, cfg, trusted)
	r := again(t, url, "get_menu", asked.State, pizzaAnswers)
	if !r.OK || r.Facts["order"] != wantDefault || done()["get_menu"] != 1 {
		t.Errorf("%+v %+v, done %v", r.Facts, r.Error, done())
	}
	other := strings.Replace(asked.State, "get_menu: How", "get_menu: For whom, and how", 1)
	if r := again(t, url, "get_menu", other, pizzaAnswers); r.OK || r.Error.Type != contracts.ErrNeedsInput {
		t.Errorf("an answer is given to what nobody was asked: %+v %+v", r.Facts, r.Error)
	}
}

// TestAWriteThatAsksMeanwhileIsNotMadeAgainUnlessSomebodySaysThatItAsksFirst.
func TestAWriteThatAsksMeanwhileIsNotMadeAgainUnlessSomebodySaysThatItAsksFirst(t *testing.T) {
	t.Parallel()
	cfg, done := before(t, "order")
	_, url := bridged(t, cfg, "")
	r := execute(t, url, "order", nil)
	if r.OK || r.Error.Type != mcp.ErrAskedMidway || r.Error.EffectOf() != contracts.EffectUnknown || !strings.Contains(r.Error.Message, "How do you want it?") {
		t.Errorf("%+v", r.Error)
	}
	_, url = bridged(t, cfg, "tools: {order: {ask_effect: none}}")
	asked := needs(t, execute(t, url, "order", nil))
	if len(done()) != 0 {
		t.Fatalf("done: %v", done())
	}
	if r = again(t, url, "order", asked.State, pizzaAnswers); !r.OK || r.Facts["order"] != wantDefault || done()["order"] != 1 {
		t.Errorf("%+v %+v, done %v", r.Facts, r.Error, done())
	}
}

// TestCallsAtOnceAreNotGivenTheAnswersOfOthers: a server does not say which call a question belongs to.
func TestCallsAtOnceAreNotGivenTheAnswersOfOthers(t *testing.T) {
	t.Parallel()
	names := []string{"get_a", "get_b", "get_c", "get_d", "order"}
	cfg, done := before(t, names...)
	_, url := bridged(t, cfg, trusted+"tools: {order: {ask_effect: none}}")
	manifest(t, url)
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			asked := needs(t, execute(t, url, name, nil))
			if len(asked.Questions) != 4 || !strings.HasPrefix(asked.Questions[0].Prompt, name+": ") {
				t.Errorf("%s asks %+v", name, asked.Questions)
				return
			}
			if r := again(t, url, name, asked.State, pizzaAnswers); !r.OK || r.Facts["order"] != wantDefault {
				t.Errorf("%s: %+v %+v", name, r.Facts, r.Error)
			}
		})
	}
	all.Wait()
	for _, name := range names {
		if done()[name] < 1 || name == "order" && done()[name] != 1 {
			t.Errorf("%v", done())
		}
	}
}

func TestAPageIsALinkToAPerson(t *testing.T) {
	t.Parallel()
	w := serve(t, nil)
	page := func(url string) func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if len(req.Params.InputResponses) == 0 {
				return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"p": &sdk.ElicitParams{Mode: "url", Message: "Pay here.", URL: url, ElicitationID: "1"}}}, nil
			}
			answer, _ := req.Params.InputResponses["p"].(*sdk.ElicitResult)
			return &sdk.CallToolResult{StructuredContent: map[string]any{"action": answer.Action}}, nil
		}
	}
	w.AddTool(plainly("get_paid"), page("https://pay.example/1"))
	w.AddTool(plainly("get_caught"), page("http://pay.example/1"))
	_, url := bridged(t, mcp.Config{URL: w.url}, trusted)
	asked := needs(t, execute(t, url, "get_paid", nil))
	if q := asked.Questions[0]; q.Link != "https://pay.example/1" || len(q.Options) != 2 {
		t.Errorf("%+v", q)
	}
	for answer, want := range map[string]string{"done": "accept", "decline": "decline"} {
		if r := again(t, url, "get_paid", asked.State, map[string]any{"0/": answer}); !r.OK || r.Facts["action"] != want {
			t.Errorf("%s: %+v %+v", answer, r.Facts, r.Error)
		}
	}
	if r := execute(t, url, "get_caught", nil); r.OK || r.Error.Needs != nil || !strings.Contains(r.Error.Message, "https") {
		t.Errorf("%+v", r.Error)
	}
}

// TestWhatAServerAsksOfAModelIsAskedOfNobody.
func TestWhatAServerAsksOfAModelIsAskedOfNobody(t *testing.T) {
	t.Parallel()
	w := serve(t, nil)
	w.AddTool(plainly("get_thought"), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"m": &sdk.CreateMessageParams{MaxTokens: 1}}}, nil //nolint:staticcheck // servers still ask
	})
	_, url := bridged(t, mcp.Config{URL: w.url}, trusted)
	if r := execute(t, url, "get_thought", nil); r.OK || r.Error.Needs != nil || r.Error.EffectOf() != contracts.EffectNone {
		t.Errorf("%+v", r.Error)
	}
}

func TestProgressOfAToolIsToldWithTheAcceptedWork(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	server := sdk.NewServer(&sdk.Implementation{Name: "slow", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	server.AddTool(&sdk.Tool{Name: "get_copy", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: 3, Total: 9, Message: "copying"})
		if err != nil {
			return nil, err
		}
		<-free
		return &sdk.CallToolResult{}, nil
	})
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(h.Close)
	_, url := bridged(t, mcp.Config{URL: h.URL}, trusted)
	ask := func(operation string) (status int, out contracts.Accepted) {
		body, err := json.Marshal(contracts.ExecuteRequest{Capability: "get_copy", Context: contracts.ExecuteContext{TimeoutMS: 60_000, Operation: operation}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.Post(url+"/execute", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		_ = json.NewDecoder(res.Body).Decode(&out)
		return res.StatusCode, out
	}
	status, first := ask("")
	if status != http.StatusAccepted || first.Progress == nil || first.Progress.String() != "3 of 9: copying" {
		t.Errorf("%d %+v", status, first.Progress)
	}
	close(free)
	if status, _ := ask(first.Operation); status != http.StatusOK {
		t.Errorf("%d", status)
	}
}
