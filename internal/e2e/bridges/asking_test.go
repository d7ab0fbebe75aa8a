package bridges_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// conversation says something, and answers what is asked by words that its prompt has;
// gates are approved. It returns the run, and what was asked.
func conversation(t *testing.T, c *client.Client, message string, answers ...[2]string) (contracts.RunView, []string) {
	t.Helper()
	said, err := c.StartSession(t.Context(), contracts.StartSession{Message: message}, wait)
	var asked []string
	for err == nil && len(said.Interrupts) > 0 && len(asked) < 20 {
		i := said.Interrupts[0]
		asked = append(asked, i.Prompt)
		if i.Type.IsGate() {
			if raw, _ := json.Marshal(i.Action.Evidence); len(asked) > 1 {
				asked = append(asked, string(raw))
			}
			if _, err = c.Approve(t.Context(), i, "", wait); err == nil {
				said, err = c.AwaitSession(t.Context(), said.SessionID)
			}
			continue
		}
		reply := ""
		for _, answer := range answers { // the first that fits
			if reply == "" && strings.Contains(i.Prompt, answer[0]) {
				reply = answer[1]
			}
		}
		if reply == "" {
			t.Fatalf("nothing is to be said to %q", i.Prompt)
		}
		said, err = c.Say(t.Context(), said.SessionID, reply, wait)
	}
	if err != nil || len(said.RunIDs) == 0 {
		t.Fatalf("%v: %+v, asked %q", err, said, asked)
	}
	run, err := c.Run(t.Context(), said.RunIDs[len(said.RunIDs)-1], wait)
	if err != nil || run.State != contracts.RunCompleted {
		t.Fatalf("%v: %+v, asked %q", err, run, asked)
	}
	return run, asked
}

// TestAServerThatAsksIsAnsweredInAChat: a write asks by its answer, the person answers in
// words, and approves the result of it.
func TestAServerThatAsksIsAnsweredInAChat(t *testing.T) {
	t.Parallel()
	server := sdk.NewServer(&sdk.Implementation{Name: "kitchen", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	effects := make(chan string, 9)
	server.AddTool(&sdk.Tool{Name: "order_pizza", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		answer, _ := req.Params.InputResponses["how"].(*sdk.ElicitResult)
		if answer == nil {
			return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"how": &sdk.ElicitParams{Message: "How do you want it?", RequestedSchema: json.RawMessage(
				`{"type":"object","required":["slices","size","hot"],"properties":{"slices":{"type":"integer","minimum":1},"hot":{"type":"boolean"},
				"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]}}}`)}}}, nil
		}
		text := fmt.Sprintf("%v slices, %v, hot %v", answer.Content["slices"], answer.Content["size"], answer.Content["hot"])
		effects <- text
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	})
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	t.Cleanup(h.Close)
	_, c := serve(t, `{"domain":"kitchen","mcp":{"url":"`+h.URL+`","overlay":{"tools":{"order_pizza":{"metadata":{"side_effect_class":"write_irreversible",
		"intent_hints":{"examples":["order a pizza","get me a pizza"]}}}}}}}`)
	run, asked := conversation(t, c, "order a pizza", [2]string{"slices", "3"}, [2]string{"size", "Large"}, [2]string{"hot", "yes"})
	if len(effects) != 1 || <-effects != "3 slices, l, hot true" {
		t.Errorf("asked %q, done %+v", asked, run.Nodes)
	}
	if len(asked) != 6 || !strings.HasPrefix(asked[1], "kitchen.order_pizza asks: How do you want it? – slices") || !strings.Contains(asked[5], `"value":"l"`) {
		t.Errorf("%q", asked)
	}
}

// TestThePublicServerThatAsks is the reference server "everything", by standard input and
// output: it asks while a call is under way, by a form of thirteen fields, and it tells
// how far it has come.
func TestThePublicServerThatAsks(t *testing.T) {
	dir := packages(t)
	_, c := serve(t, domain(t, dir, "everything", contracts.BridgeOverlay{Overlay: json.RawMessage(`{"select":{"names":["trigger-elicitation-request","trigger-long-running-operation"]},"tools":{
		"trigger-elicitation-request":{"name":"fill_form","ask_effect":"none","metadata":{"side_effect_class":"write_irreversible","intent_hints":{"examples":["fill in the form","show me the form to fill in"]}}},
		"trigger-long-running-operation":{"name":"long_operation","metadata":{"side_effect_class":"read","timeout_ms":60000,"intent_hints":{"examples":["run the long operation","start the long running operation"]}}}}}`)}, "mcp-server-everything"))
	run, asked := conversation(t, c, "fill in the form", [2]string{"legal name", "Ana Souza"}, [2]string{"terms and conditions", "yes"}, [2]string{"", "skip"})
	raw, err := json.Marshal(run.Nodes)
	if err != nil || !strings.Contains(string(raw), "Ana Souza") {
		t.Errorf("%v: %s\nasked %q", err, raw, asked)
	}
	run, _ = conversation(t, c, "run the long operation")
	events, err := c.Events(t.Context(), run.SessionID, 0, 1000)
	told := 0
	for _, e := range events {
		if e.Type == contracts.EventProgress {
			told++
		}
	}
	if err != nil || told < 2 {
		t.Errorf("%v: %d events of progress", err, told)
	}
}
