package flow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// refusal returns "pointer: message" of each fault.
func refusal(tb testing.TB, err error) string {
	tb.Helper()
	if contracts.CodeOf(err) != contracts.CodeInvalid {
		tb.Fatalf("error %v, want one of code invalid", err)
	}
	return err.Error()
}

func TestDecodeOps(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ ops, want string }{
		"a list is read":                       {`[{"op_type":"RemoveNode","node_id":"a"}]`, ""},
		"a fence of a language model is taken": {"```json\n[{\"op_type\":\"RemoveNode\",\"node_id\":\"a\"}]\n```", ""},
		"an empty list changes nothing":        {`[]`, ""},
		"null is a value to set":               {`[{"op_type":"SetParam","node_id":"a","param_name":"b","value":null}]`, ""},
		"one op without a list":                {`{"op_type":"RemoveNode"}`, "must be a list of ops"},
		"no JSON":                              {`[{`, "is no JSON"},
		"an unknown op":                        {`[{"op_type":"Conect"}]`, "/0/op_type: there is no op \"Conect\"; did you mean Connect?"},
		"an unknown key":                       {`[{"op_type":"RemoveNode","node_id":"a","nodeid":"b"}]`, "/0/nodeid: the key is unknown"},
		"a wrong type":                         {`[{"op_type":"RemoveNode","node_id":1}]`, "/0/node_id: must be a string"},
		"a key that stands twice":              {`[{"op_type":"RemoveNode","node_id":"a","node_id":"b"}]`, "/0/node_id: the key stands here twice"},
		"the second op lacks something":        {`[{"op_type":"RemoveNode","node_id":"a"},{"op_type":"SetParam","node_id":"a","param_name":"b"}]`, "/1/value: is required"},
		"no object":                            {`[1]`, "/0: must be an object"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := flow.DecodeOps([]byte(tt.ops))
			if tt.want == "" && err != nil {
				t.Fatal(err)
			}
			if tt.want != "" && !strings.Contains(refusal(t, err), tt.want) {
				t.Errorf("got %q, want %q", err, tt.want)
			}
		})
	}
}

func TestOpsThatDoNotFit(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ base, ops, want string }{
		"an unknown kind":                  {"", `[{"op_type":"AddNode","node_name":"chatOpenAi"}]`, `/0/node_name: op 0 AddNode: there is no kind of node "chatOpenAi"; did you mean chatOpenAI?`},
		"an id that references split":      {"", `[{"op_type":"AddNode","node_name":"chatOpenAI","node_id":"a-b"}]`, `/0/node_id: op 0 AddNode: the id "a-b" must be letters`},
		"an id that is taken":              {"conversation", `[{"op_type":"AddNode","node_name":"chatOpenAI","node_id":"chatOpenAI_0"}]`, "chatOpenAI_1 is free"},
		"an unknown parameter":             {"conversation", `[{"op_type":"SetParam","node_id":"chatOpenAI_0","param_name":"temprature","value":1}]`, "did you mean temperature?"},
		"an anchor set as a parameter":     {"conversation", `[{"op_type":"SetParam","node_id":"conversationChain_0","param_name":"model","value":"x"}]`, "model is an anchor; use Connect"},
		"a credential set as a parameter":  {"conversation", `[{"op_type":"SetParam","node_id":"chatOpenAI_0","param_name":"credential","value":"x"}]`, "use BindCredential"},
		"a number that is none":            {"conversation", `[{"op_type":"SetParam","node_id":"chatOpenAI_0","param_name":"temperature","value":"hot"}]`, `/0/value: op 0 SetParam: temperature must be a number, but is "hot"`},
		"an unknown node":                  {"conversation", `[{"op_type":"RemoveNode","node_id":"chatOpenAI_1"}]`, "did you mean chatOpenAI_0?"},
		"an unknown anchor":                {"conversation", `[{"op_type":"Disconnect","source_node_id":"chatOpenAI_0","target_node_id":"conversationChain_0"},{"op_type":"Connect","source_node_id":"chatOpenAI_0","target_node_id":"conversationChain_0","target_anchor":"modell"}]`, `/1/target_anchor: op 1 Connect: there is no anchor of conversationChain_0 "modell"; did you mean model?`},
		"a connection to a parameter":      {"conversation", `[{"op_type":"Connect","source_node_id":"chatOpenAI_0","target_node_id":"conversationChain_0","target_anchor":"systemMessagePrompt"}]`, "is a parameter of conversationChain_0; use SetParam"},
		"types that do not fit":            {"conversation", `[{"op_type":"AddNode","node_name":"calculator"},{"op_type":"Connect","source_node_id":"calculator_0","target_node_id":"conversationChain_0","target_anchor":"inputModeration"}]`, "does not fit conversationChain_0.inputModeration, which takes Moderation"},
		"a taken anchor":                   {"conversation", `[{"op_type":"AddNode","node_name":"chatAnthropic"},{"op_type":"Connect","source_node_id":"chatAnthropic_0","target_node_id":"conversationChain_0","target_anchor":"model"}]`, "takes one connection and has chatOpenAI_0; Disconnect that first"},
		"a second output at once":          {"retrieval", `[{"op_type":"AddNode","node_name":"vectorStoreRetriever"},{"op_type":"Connect","source_node_id":"memoryVectorStore_0","source_anchor":"vectorStore","target_node_id":"vectorStoreRetriever_0"}]`, `gives one output at a time`},
		"a circle":                         {"condition", `[{"op_type":"AddNode","node_name":"llmAgentflow"},{"op_type":"AddNode","node_name":"llmAgentflow"},{"op_type":"Connect","source_node_id":"llmAgentflow_0","target_node_id":"llmAgentflow_1"},{"op_type":"Connect","source_node_id":"llmAgentflow_1","target_node_id":"llmAgentflow_0"}]`, "would close a circle"},
		"a second start":                   {"condition", `[{"op_type":"AddNode","node_name":"startAgentflow"}]`, "there is one already"},
		"a chat node in an agent flow":     {"condition", `[{"op_type":"AddNode","node_name":"chatOpenAI"}]`, "does not stand in an AGENTFLOW"},
		"something after a reply":          {"condition", `[{"op_type":"Connect","source_node_id":"yes","target_node_id":"no"}]`, "nothing can follow yes"},
		"an output that a condition lacks": {"condition", `[{"op_type":"Connect","source_node_id":"conditionAgentflow_0","source_anchor":"7","target_node_id":"no"}]`, "there are: 0, 1, else"},
		"a case that is connected":         {"condition", `[{"op_type":"SetParam","node_id":"conditionAgentflow_0","param_name":"conditions","value":[{"type":"string","value1":"a","operation":"equal","value2":"b"}]}]`, "output 1 of conditionAgentflow_0 leads to no"},
		"a credential of another type":     {"conversation", `[{"op_type":"BindCredential","node_id":"chatOpenAI_0","credential_id":"x","credential_type":"anthropicApi"}]`, "these do: openAIApi"},
		"a node without credentials":       {"conversation", `[{"op_type":"BindCredential","node_id":"bufferMemory_0","credential_id":"x"}]`, "takes no credential"},
		"an unknown component":             {"condition", `[{"op_type":"AddNode","node_name":"llmAgentflow","params":{"llmModel":"chatOpenAl"}}]`, "did you mean chatOpenAI?"},
		"no connection to remove":          {"conversation", `[{"op_type":"Disconnect","source_node_id":"chatOpenAI_0","target_node_id":"bufferMemory_0"}]`, "it leads to conversationChain_0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := flow.Empty()
			if tt.base != "" {
				base = build(t, tt.base).Graph
			}
			_, err := flow.Compile(base, ops(t, tt.ops), definitions(t), flow.Options{})
			if got := refusal(t, err); !strings.Contains(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestOneMistakeIsToldOnce(t *testing.T) {
	t.Parallel()
	_, err := flow.Compile(flow.Empty(), ops(t, `[
		{"op_type":"AddNode","node_name":"chatOpenAl"},
		{"op_type":"SetParam","node_id":"chatOpenAl_0","param_name":"temperature","value":1},
		{"op_type":"AddNode","node_name":"conversationChain"},
		{"op_type":"Connect","source_node_id":"chatOpenAl_0","target_node_id":"conversationChain_0"}]`), definitions(t), flow.Options{})
	if got := refusal(t, err); strings.Count(got, "op ") != 1 {
		t.Errorf("got %q, want only the first op to be blamed", got)
	}
}

// value returns an input of a node.
func value(tb testing.TB, g *flow.Graph, node, name string) string {
	tb.Helper()
	n, ok := g.Node(node)
	if !ok {
		tb.Fatalf("there is no node %s", node)
	}
	raw, _ := n.Input(name)
	return string(raw)
}

func TestOpsWrite(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ base, ops, node, input, want string }{
		"tools stand in the canvas's order":       {"tool agent", `[]`, "toolAgent_0", "tools", `["{{requestsGet_0.data.instance}}","{{customMCP_0.data.instance}}"]`},
		"an object for a text is written as text": {"tool agent", `[]`, "customMCP_0", "mcpServerConfig", `"{\"url\":\"http://127.0.0.1:18082/mcp\"}"`},
		"the text false becomes false":            {"tool agent", `[]`, "chatOpenAI_0", "streaming", `false`},
		"a disconnected tool leaves the list":     {"tool agent", `[{"op_type":"Disconnect","source_node_id":"requestsGet_0","target_node_id":"toolAgent_0"}]`, "toolAgent_0", "tools", `["{{customMCP_0.data.instance}}"]`},
		"a removed node leaves its target":        {"conversation", `[{"op_type":"RemoveNode","node_id":"chatOpenAI_0"}]`, "conversationChain_0", "model", `""`},
		"null brings the default back":            {"conversation", `[{"op_type":"SetParam","node_id":"chatOpenAI_0","param_name":"temperature","value":null}]`, "chatOpenAI_0", "temperature", `0.9`},
		"a path leads into an array":              {"condition", `[{"op_type":"SetParam","node_id":"conditionAgentflow_0","param_name":"conditions[1].value2","value":"nope"}]`, "conditionAgentflow_0", "conditions", `[{"type":"string","value1":"{{ question }}","operation":"equal","value2":"yes"},{"type":"string","value1":"{{ question }}","operation":"equal","value2":"nope"}]`},
		"a path leads behind the end of an array": {"condition", `[{"op_type":"SetParam","node_id":"conditionAgentflow_0","param_name":"conditions[-].value2","value":"nope"}]`, "conditionAgentflow_0", "conditions", `[{"type":"string","value1":"{{ question }}","operation":"equal","value2":"yes"},{"type":"string","value1":"{{ question }}","operation":"equal","value2":"no"},{"value2":"nope"}]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := compile(t, build(t, tt.base).Graph, tt.ops)
			if diff := cmp.Diff(tt.want, value(t, r.Graph, tt.node, tt.input)); diff != "" {
				t.Errorf("%s.%s (-want +got):\n%s", tt.node, tt.input, diff)
			}
		})
	}
}

func TestElseStaysElse(t *testing.T) {
	t.Parallel()
	r := compile(t, build(t, "condition").Graph, `[{"op_type":"SetParam","node_id":"conditionAgentflow_0","param_name":"conditions","value":[
		{"type":"string","value1":"a","operation":"equal","value2":"b"},{"type":"string","value1":"a","operation":"equal","value2":"b"},
		{"type":"string","value1":"a","operation":"equal","value2":"b"}]}]`)
	want := []string{"conditionAgentflow_0.3 -> other"}
	if diff := cmp.Diff(want, r.Diff.EdgesAdded); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
	if errs := flow.Validate(r.FlowData, definitions(t), flow.Check{}).Findings; len(errs) > 0 {
		t.Error(errs)
	}
}

// TestOnlyWhatChangesIsWritten: a pretty-printed flow with unknown keys keeps everything but the
// one value.
func TestOnlyWhatChangesIsWritten(t *testing.T) {
	t.Parallel()
	var doc object
	if err := json.Unmarshal(build(t, "conversation").FlowData, &doc); err != nil {
		t.Fatal(err)
	}
	doc["extra"] = object{"kept": []any{1.5, "ü\u2028<b>"}}
	pretty, err := json.MarshalIndent(doc, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	g, err := flow.Decompile(pretty)
	if err != nil {
		t.Fatal(err)
	}
	r := compile(t, g, `[{"op_type":"SetParam","node_id":"chatOpenAI_0","param_name":"temperature","value":0.7},
		{"op_type":"RenameNode","node_id":"bufferMemory_0","label":"What was said"}]`)
	want := strings.Replace(string(pretty), `"temperature": 0.2`, `"temperature": 0.7`, 1)
	want = strings.Replace(want, `"label": "Buffer Memory",
				"name": "bufferMemory"`, `"label": "What was said",
				"name": "bufferMemory"`, 1)
	if got := string(r.FlowData); len(got) != len(pretty)+len("What was said")-len("Buffer Memory") || !strings.Contains(got, `"temperature": 0.7`) {
		t.Errorf("the bytes changed elsewhere (-want +got):\n%s", cmp.Diff(want, got))
	}
	wantDiff := "~ label of bufferMemory_0: \"Buffer Memory\" -> \"What was said\"\n~ chatOpenAI_0.temperature: \"0.2\" -> \"0.7\"\n"
	if diff := cmp.Diff(wantDiff, r.Diff.String()); diff != "" {
		t.Errorf("diff (-want +got):\n%s", diff)
	}
}

func TestLayoutMovesNothing(t *testing.T) {
	t.Parallel()
	base := build(t, "conversation")
	r := compile(t, base.Graph, `[{"op_type":"AddNode","node_name":"stickyNote"},{"op_type":"AddNode","node_name":"chatAnthropic","position":{"x":7,"y":8}}]`)
	if len(r.Diff.NodesMoved) > 0 {
		t.Errorf("moved: %v", r.Diff.NodesMoved)
	}
	doc := document(t, r.FlowData)
	if x, _ := dig(t, doc, "nodes", 3, "position", "x").(float64); x < 900 {
		t.Errorf("the note stands at x=%v, within the others", x)
	}
	if x, _ := dig(t, doc, "nodes", 4, "position", "x").(float64); x != 7 {
		t.Errorf("a given place was not kept: x=%v", x)
	}
	moved := compile(t, r.Graph, `[{"op_type":"MoveNode","node_id":"chatOpenAI_0","position":{"x":1,"y":2}}]`)
	if diff := cmp.Diff([]string{"chatOpenAI_0"}, moved.Diff.NodesMoved); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
}

func TestIteration(t *testing.T) {
	t.Parallel()
	base := compile(t, nil, `[
		{"op_type":"AddNode","node_name":"startAgentflow"},
		{"op_type":"AddNode","node_name":"iterationAgentflow","params":{"iterationInput":"[1,2]"}},
		{"op_type":"AddNode","node_name":"customFunctionAgentflow","node_id":"one","parent":"iterationAgentflow_0","params":{"customFunctionJavascriptFunction":"return 1"}},
		{"op_type":"AddNode","node_name":"customFunctionAgentflow","node_id":"two","parent":"iterationAgentflow_0","params":{"customFunctionJavascriptFunction":"return 2"}},
		{"op_type":"Connect","source_node_id":"one","target_node_id":"two"},
		{"op_type":"Connect","source_node_id":"startAgentflow_0","target_node_id":"iterationAgentflow_0"}]`)
	if findings := flow.Validate(base.FlowData, definitions(t), flow.Check{}).Findings; len(findings) > 0 {
		t.Error(findings)
	}
	if !strings.Contains(string(base.FlowData), `"zIndex":9999`) {
		t.Error("the edge inside does not stand above the iteration")
	}
	_, err := flow.Compile(base.Graph, ops(t, `[{"op_type":"Connect","source_node_id":"startAgentflow_0","target_node_id":"two"}]`), definitions(t), flow.Options{})
	if got := refusal(t, err); !strings.Contains(got, "same iteration") {
		t.Error(got)
	}
	gone := compile(t, base.Graph, `[{"op_type":"RemoveNode","node_id":"iterationAgentflow_0"}]`)
	if len(gone.Graph.Nodes()) != 1 || len(gone.Graph.Edges()) != 0 {
		t.Errorf("left over: %s", gone.Diff)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	r := build(t, "conversation")
	want := `CHATFLOW with 3 nodes and 2 edges
chatOpenAI_0 (chatOpenAI) "OpenAI" credential=bound temperature=0.2 streaming=false basepath=http://127.0.0.1:18081/v1
bufferMemory_0 (bufferMemory) "Buffer Memory"
conversationChain_0 (conversationChain) "Conversation Chain"
chatOpenAI_0.chatOpenAI -> conversationChain_0.model
bufferMemory_0.bufferMemory -> conversationChain_0.memory
`
	if diff := cmp.Diff(want, flow.Summarize(r.Graph, "", definitions(t)).String()); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// TestACredentialIsBoundThatTheNodeDoesNotDescribe: nodes saved by another release do not list the
// credential of the current definition; the server still reads it from them.
func TestACredentialIsBoundThatTheNodeDoesNotDescribe(t *testing.T) {
	t.Parallel()
	doc := object{}
	if err := json.Unmarshal(build(t, "conversation").Graph.FlowData(), &doc); err != nil {
		t.Fatal(err)
	}
	put(t, doc, nil, "nodes", 0, "data", "credential")
	dropParam(t, doc, "credential")
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	old, err := flow.Decompile(raw)
	if err != nil {
		t.Fatal(err)
	}
	id := "7d4f0c1e-2b3a-4c5d-8e6f-0a1b2c3d4e5f"
	made := compile(t, old, `[{"op_type":"BindCredential","node_id":"chatOpenAI_0","credential_id":"`+id+`"}]`)
	if report := flow.Validate(made.Graph.FlowData(), definitions(t), flow.Check{}); !report.OK() {
		t.Errorf("after it was bound: %v", report.Findings)
	}
	bound := object{}
	if err := json.Unmarshal(made.Graph.FlowData(), &bound); err != nil {
		t.Fatal(err)
	}
	if got := dig(t, bound, "nodes", 0, "data", "credential"); got != id {
		t.Errorf("it is bound to %v", got)
	}
	// One of another type is still refused.
	_, err = flow.Compile(old, ops(t, `[{"op_type":"BindCredential","node_id":"chatOpenAI_0","credential_id":"`+id+`","credential_type":"anthropicApi"}]`), definitions(t), flow.Options{})
	if got := refusal(t, err); !strings.Contains(got, "these do: openAIApi") {
		t.Errorf("of another type: %v", got)
	}
}
