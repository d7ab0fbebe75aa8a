package flow_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

type object = map[string]any

// document decodes flowData for a test to break it.
func document(tb testing.TB, data []byte) object {
	tb.Helper()
	var doc object
	if err := json.Unmarshal(data, &doc); err != nil {
		tb.Fatal(err)
	}
	return doc
}

func encoded(tb testing.TB, v any) []byte {
	tb.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// dig returns the value at a path of keys and indexes.
func dig(tb testing.TB, v any, path ...any) any {
	tb.Helper()
	for _, at := range path {
		switch at := at.(type) {
		case string:
			m, ok := v.(object)
			if !ok {
				tb.Fatalf("no object to look for %q in", at)
			}
			v = m[at]
		case int:
			l, ok := v.([]any)
			if !ok || at >= len(l) {
				tb.Fatalf("no list with item %d", at)
			}
			v = l[at]
		}
	}
	return v
}

func put(tb testing.TB, v, value any, path ...any) {
	tb.Helper()
	last, ok := path[len(path)-1].(string)
	m, isObject := dig(tb, v, path[:len(path)-1]...).(object)
	if !ok || !isObject {
		tb.Fatalf("cannot set %v", path)
	}
	if value == nil {
		delete(m, last)
		return
	}
	m[last] = value
}

// malformed is one way to break a flow. An empty want means that Flowise still runs it, so that
// only warnings are allowed.
type malformed struct {
	flow   string
	kind   flow.Kind
	damage func(tb testing.TB, doc object)
	want   []string
	// useless means that Flowise runs the flow although it makes no sense.
	useless bool
}

func without(path ...any) func(testing.TB, object) {
	return func(tb testing.TB, doc object) { tb.Helper(); put(tb, doc, nil, path...) }
}

func with(value any, path ...any) func(testing.TB, object) {
	return func(tb testing.TB, doc object) { tb.Helper(); put(tb, doc, value, path...) }
}

// dropParam removes a parameter from the first node's description.
func dropParam(tb testing.TB, doc object, name string) {
	tb.Helper()
	params, _ := dig(tb, doc, "nodes", 0, "data", "inputParams").([]any)
	put(tb, doc, slices.DeleteFunc(params, func(p any) bool {
		m, _ := p.(object)
		return m["name"] == name
	}), "nodes", 0, "data", "inputParams")
}

// addParam adds a value to the first node's description.
func addParam(what any) func(testing.TB, object) {
	return func(tb testing.TB, doc object) {
		tb.Helper()
		params, _ := dig(tb, doc, "nodes", 0, "data", "inputParams").([]any)
		put(tb, doc, append(params, what), "nodes", 0, "data", "inputParams")
	}
}

// addTo adds a null to a list of a node.
func addTo(list string, node int) func(testing.TB, object) {
	return func(tb testing.TB, doc object) {
		tb.Helper()
		items, _ := dig(tb, doc, "nodes", node, "data", list).([]any)
		put(tb, doc, append(items, nil), "nodes", node, "data", list)
	}
}

// called changes the id of a node everywhere.
func called(from, to string) func(testing.TB, object) {
	return func(tb testing.TB, doc object) {
		tb.Helper()
		again := document(tb, []byte(strings.ReplaceAll(string(encoded(tb, doc)), from, to)))
		clear(doc)
		maps.Copy(doc, again)
	}
}

func malformedFlows() map[string]malformed {
	echo, chat, agent := "custom function", "conversation", "agent with a model and a tool"
	return map[string]malformed{
		"no edges":           {flow: echo, damage: without("edges"), want: []string{"STRUCTURE not_a_flow /edges"}},
		"no nodes":           {flow: echo, damage: without("nodes"), want: []string{"STRUCTURE not_a_flow /nodes"}},
		"nodes are no list":  {flow: echo, damage: with("x", "nodes"), want: []string{"STRUCTURE not_a_flow /nodes"}},
		"nothing in it":      {flow: echo, damage: with([]any{}, "nodes"), want: []string{"INCOMPLETE ending_missing /nodes"}},
		"a node has no data": {flow: echo, damage: without("nodes", 0, "data"), want: []string{"STRUCTURE data_missing /nodes/0/data", "INCOMPLETE ending_missing /nodes"}},
		"no inputAnchors":    {flow: chat, damage: without("nodes", 2, "data", "inputAnchors")},
		"no outputAnchors":   {flow: echo, damage: without("nodes", 0, "data", "outputAnchors")},
		"no position":        {flow: echo, damage: without("nodes", 0, "position")},
		"no type":            {flow: echo, damage: without("nodes", 0, "type")},
		"no category":        {flow: echo, damage: without("nodes", 0, "data", "category")},
		"no inputParams":     {flow: echo, damage: without("nodes", 0, "data", "inputParams"), want: []string{"STRUCTURE inputParams_missing /nodes/0/data/inputParams"}},
		"no inputs": {
			flow: echo, damage: without("nodes", 0, "data", "inputs"),
			want: []string{"STRUCTURE inputs_missing /nodes/0/data/inputs", "INCOMPLETE param_missing /nodes/0/data/inputs/javascriptFunction"},
		},
		"no outputs":           {flow: echo, damage: without("nodes", 0, "data", "outputs"), want: []string{"INCOMPLETE ending_kind /nodes/0"}},
		"an unknown kind":      {flow: echo, damage: with("customFunktion", "nodes", 0, "data", "name"), want: []string{"STRUCTURE node_unknown /nodes/0/data/name"}},
		"an edge from nowhere": {flow: chat, damage: with("ghost_0", "edges", 0, "source"), want: []string{"STRUCTURE edge_source /edges/0/source", "LOGIC edge_missing /nodes/2/data/inputs/model"}},
		"an edge to nowhere": {flow: chat, damage: func(tb testing.TB, doc object) {
			tb.Helper()
			edges, _ := dig(tb, doc, "edges").([]any)
			doc["edges"] = append(edges, object{"source": "bufferMemory_0", "sourceHandle": "a", "target": "ghost_0", "targetHandle": "b", "id": "c"})
		}},
		"edges are gone": {flow: chat, damage: with([]any{}, "edges"), want: []string{"INCOMPLETE ending_missing /nodes"}},
		"a circle": {
			flow: chat, want: []string{"INCOMPLETE ending_missing /nodes"},
			damage: func(tb testing.TB, doc object) {
				tb.Helper()
				edges, _ := dig(tb, doc, "edges").([]any)
				doc["edges"] = append(edges, object{"source": "conversationChain_0", "sourceHandle": "a", "target": "chatOpenAI_0", "targetHandle": "b", "id": "c"})
			},
		},
		"references are gone":     {flow: chat, damage: with("", "nodes", 2, "data", "inputs", "model"), want: []string{"LOGIC reference_missing /nodes/2/data/inputs/model"}},
		"handles are wrong":       {flow: chat, damage: with("bogus", "edges", 0, "sourceHandle")},
		"handles are missing":     {flow: chat, damage: without("edges", 0, "targetHandle")},
		"an id with dashes":       {flow: chat, damage: called("chatOpenAI_0", "chat-model-1")},
		"an id of another script": {flow: chat, damage: called("chatOpenAI_0", "モデル")},
		"an id with a space":      {flow: chat, damage: called("chatOpenAI_0", "chat model")},
		"an id stands twice": {
			flow: chat, damage: func(tb testing.TB, doc object) {
				tb.Helper()
				nodes, _ := dig(tb, doc, "nodes").([]any)
				doc["nodes"] = append(nodes, nodes[1])
			},
		},
		"an AGENTFLOW stored as CHATFLOW": {
			flow: "condition", kind: flow.Chatflow, damage: func(testing.TB, object) {},
			want: []string{"INCOMPLETE ending_kind /nodes/2"},
		},
		"a CHATFLOW stored as AGENTFLOW": {
			flow: echo, kind: flow.Agentflow, damage: func(testing.TB, object) {},
			want: []string{"INCOMPLETE isolated /nodes/0", "STRUCTURE kind_mismatch /nodes/0", "INCOMPLETE start_missing /nodes"},
		},
		"an agent without agentTools":         {flow: agent, damage: without("nodes", 1, "data", "inputs", "agentTools"), want: []string{"STRUCTURE tools_missing /nodes/1/data/inputs/agentTools"}},
		"an agent whose agentTools are empty": {flow: agent, damage: with("", "nodes", 1, "data", "inputs", "agentTools")},
		"the configuration of MCP is an object": {
			flow: "tool agent", damage: with(object{"url": "x"}, "nodes", 1, "data", "inputs", "mcpServerConfig"),
			want: []string{"LOGIC value_invalid /nodes/1/data/inputs/mcpServerConfig"},
		},
		"the configuration of MCP is no JSON": {
			flow: "tool agent", damage: with("{url", "nodes", 1, "data", "inputs", "mcpServerConfig"),
			want: []string{"LOGIC mcp_config /nodes/1/data/inputs/mcpServerConfig"},
		},
		"an agent without memory and messages": {
			flow: agent, damage: with(false, "nodes", 1, "data", "inputs", "agentEnableMemory"),
			want: []string{"LOGIC messages_missing /nodes/1/data/inputs/agentMessages"},
		},
		"an agent without memory, and no messages in a list": {flow: agent, damage: func(tb testing.TB, doc object) {
			tb.Helper()
			put(tb, doc, "", "nodes", 1, "data", "inputs", "agentEnableMemory")
			put(tb, doc, []any{}, "nodes", 1, "data", "inputs", "agentMessages")
		}},
		"a label that is a number":      {flow: agent, damage: with(7, "nodes", 1, "data", "label"), want: []string{"STRUCTURE label_invalid /nodes/1/data/label"}},
		"a label of a number elsewhere": {flow: "condition", damage: with(7, "nodes", 1, "data", "label")},
		"variables of a function are no JSON": {
			flow: echo, damage: with("a, b", "nodes", 0, "data", "inputs", "functionInputVariables"),
			want: []string{"LOGIC value_invalid /nodes/0/data/inputs/functionInputVariables"},
		},
		"a model at no address":       {flow: chat, damage: with("another value", "nodes", 0, "data", "inputs", "basepath"), want: []string{"LOGIC url_invalid /nodes/0/data/inputs/basepath"}},
		"a list where one value goes": {flow: chat, damage: with([]any{}, "nodes", 2, "data", "inputs", "memory"), want: []string{"LOGIC value_invalid /nodes/2/data/inputs/memory"}},
		"headers that are no JSON":    {flow: "tool agent", damage: with("Accept: text/plain", "nodes", 2, "data", "inputs", "requestsGetHeaders"), want: []string{"LOGIC value_invalid /nodes/2/data/inputs/requestsGetHeaders"}},
		"headers in JSON":             {flow: "tool agent", damage: with(`{"Accept":"text/plain"}`, "nodes", 2, "data", "inputs", "requestsGetHeaders")},
		"a repetition of a text":      {flow: "iteration", damage: with("a, b", "nodes", 1, "data", "inputs", "iterationInput"), want: []string{"LOGIC value_invalid /nodes/1/data/inputs/iterationInput"}},
		"a repetition of a list":      {flow: "iteration", damage: with(`['a','b']`, "nodes", 1, "data", "inputs", "iterationInput")},
		"a loop to a node that is not there": {
			flow: "sequence", damage: with("nobody", "nodes", 3, "data", "inputs", "loopToName"),
			want: []string{"LOGIC reference_unknown /nodes/3/data/inputs/loopToName"},
		},
		"no category where it matters for streams": {
			flow: chat, want: []string{"STRUCTURE category_missing /nodes/1/data/category"},
			damage: func(tb testing.TB, doc object) {
				tb.Helper()
				put(tb, doc, true, "nodes", 0, "data", "inputs", "streaming")
				put(tb, doc, nil, "nodes", 1, "data", "category")
			},
		},
		"no category where nothing streams": {flow: chat, damage: without("nodes", 1, "data", "category")},
		"the tools of MCP are an object": {
			flow: "tool agent", damage: with(object{"add": true}, "nodes", 1, "data", "inputs", "mcpActions"),
			want: []string{"LOGIC value_invalid /nodes/1/data/inputs/mcpActions"},
		},
		"the tools of MCP are a text with a list": {flow: "tool agent", damage: with(`["add"]`, "nodes", 1, "data", "inputs", "mcpActions")},
		"the configuration of MCP is written as people do": {
			flow: "tool agent", damage: with(`{url: "`+someMCP+`", headers: {"a": "b",},}`, "nodes", 1, "data", "inputs", "mcpServerConfig"),
		},
		"a credential at the wrong place": {
			flow: chat, want: []string{"CREDENTIAL credential_missing /nodes/0/data/credential"},
			damage: func(tb testing.TB, doc object) {
				tb.Helper()
				put(tb, doc, nil, "nodes", 0, "data", "credential")
				put(tb, doc, "x", "nodes", 0, "data", "inputs", "FLOWISE_CREDENTIAL_ID")
			},
		},
		"a credential that the node does not describe is missing": {
			flow: chat, want: []string{"CREDENTIAL credential_missing /nodes/0/data/credential"},
			damage: func(tb testing.TB, doc object) {
				tb.Helper()
				put(tb, doc, nil, "nodes", 0, "data", "credential")
				dropParam(tb, doc, "credential")
			},
		},
		"a credential that the node does not describe": {
			flow: chat, damage: func(tb testing.TB, doc object) { tb.Helper(); dropParam(tb, doc, "credential") },
		},
		"a reference without an edge of its own, to a node that runs before": {
			flow: chat, damage: func(tb testing.TB, doc object) {
				tb.Helper()
				edges, _ := dig(tb, doc, "edges").([]any)
				for _, e := range edges {
					if edge, _ := e.(object); edge["source"] == "bufferMemory_0" {
						edge["target"], edge["targetHandle"] = "chatOpenAI_0", "chatOpenAI_0-input-cache-BaseCache"
					}
				}
			},
		},
		"a parameter is null":      {flow: chat, damage: addParam(nil), want: []string{"STRUCTURE param_invalid /nodes/0/data/inputParams/"}},
		"a parameter is a text":    {flow: chat, damage: addParam("x")},
		"a parameter has no name":  {flow: chat, damage: addParam(object{})},
		"an input anchor is null":  {flow: chat, damage: addTo("inputAnchors", 2)},
		"an output anchor is null": {flow: chat, damage: addTo("outputAnchors", 0)},
		"a nested credential is missing": {
			flow: agent, damage: without("nodes", 1, "data", "inputs", "agentModelConfig", "FLOWISE_CREDENTIAL_ID"),
			want: []string{"CREDENTIAL credential_missing /nodes/1/data/inputs/agentModelConfig/FLOWISE_CREDENTIAL_ID"},
		},
		"a store without documents": {
			flow: "retrieval", want: []string{"INCOMPLETE document_missing /nodes/2/data/inputs/document"}, useless: true,
			damage: func(tb testing.TB, doc object) {
				tb.Helper()
				edges, _ := dig(tb, doc, "edges").([]any)
				doc["edges"] = edges[1:]
				put(tb, doc, "", "nodes", 2, "data", "inputs", "document")
			},
		},
		"an output that is not chosen": {
			flow: "retrieval", damage: with("vectorStore", "nodes", 2, "data", "outputs", "output"),
			want: []string{"LOGIC output_mismatch /edges/2/sourceHandle"},
		},
		"types that do not fit": {
			flow: chat, want: []string{"LOGIC edge_types /edges/1"},
			damage: func(tb testing.TB, doc object) {
				tb.Helper()
				put(tb, doc, "conversationChain_0-input-model-BaseChatModel", "edges", 1, "targetHandle")
				put(tb, doc, "{{bufferMemory_0.data.instance}}", "nodes", 2, "data", "inputs", "model")
			},
		},
		"a handle of another anchor": {flow: chat, damage: with("conversationChain_0-input-memory-BaseMemory", "edges", 0, "targetHandle")},
		"two starts": {
			flow: "condition", damage: func(tb testing.TB, doc object) {
				tb.Helper()
				edges, _ := dig(tb, doc, "edges").([]any)
				doc["edges"] = edges[:3]
			},
			want: []string{"INCOMPLETE isolated /nodes/4"},
		},
	}
}

// errorsOf formats the errors as category, code and pointer.
func errorsOf(r flow.Report) []string {
	var out []string
	for _, f := range r.Errors() {
		out = append(out, string(f.Category)+" "+f.Code+" "+f.Pointer)
	}
	return out
}

func TestValidateMalformed(t *testing.T) {
	t.Parallel()
	for name, tt := range malformedFlows() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := build(t, tt.flow)
			doc := document(t, r.FlowData)
			tt.damage(t, doc)
			kind := r.Kind
			if tt.kind != "" {
				kind = tt.kind
			}
			report := flow.Validate(encoded(t, doc), definitions(t), flow.Check{Kind: kind})
			got := errorsOf(report)
			if len(tt.want) == 0 {
				if len(got) > 0 {
					t.Fatalf("errors in what runs: %v", got)
				}
				return
			}
			for _, want := range tt.want {
				if !strings.Contains(strings.Join(got, "\n"), want) {
					t.Errorf("errors %q lack %q", got, want)
				}
			}
			for _, f := range report.Findings {
				if f.Message == "" || f.Fix == "" {
					t.Errorf("finding without words: %+v", f)
				}
			}
		})
	}
}

func TestValidateKnownCredentials(t *testing.T) {
	t.Parallel()
	at := map[string]string{"conversation": "/nodes/0/data/credential", "agent with a model and a tool": "/nodes/1/data/inputs/agentModelConfig/FLOWISE_CREDENTIAL_ID"}
	for name, place := range at {
		r := build(t, name)
		tests := map[string]struct {
			known map[string]string
			want  []string
		}{
			"nobody knows which there are": {nil, nil},
			"it is there":                  {map[string]string{someCredential: "openAIApi"}, nil},
			"there is none":                {map[string]string{}, []string{"CREDENTIAL credential_unknown " + place}},
			"it is of another type":        {map[string]string{someCredential: "serpApi"}, []string{"CREDENTIAL credential_unknown " + place}},
		}
		for what, tt := range tests {
			got := errorsOf(flow.Validate(r.FlowData, definitions(t), flow.Check{Kind: r.Kind, Credentials: tt.known}))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, what, diff)
			}
		}
	}
}

func TestValidateNoFlow(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"": "not_json", "{bad": "not_json", "null": "not_a_flow", "[]": "not_a_flow", "{}": "not_a_flow",
		`"[object Object]"`: "not_a_flow", `{"nodes":[],"edges":{}}`: "not_a_flow", `{"nodes":[1],"edges":[]}`: "node_not_object",
		`{"nodes":[],"edges":[1]}`: "edge_not_object", "{\"nodes\":[],\"edges\":[],\"a\":\"\xff\"}": "not_json",
	}
	for data, want := range tests {
		r := flow.Validate([]byte(data), definitions(t), flow.Check{Kind: flow.Chatflow})
		found := false
		for _, f := range r.Errors() {
			found = found || f.Code == want
		}
		if !found {
			t.Errorf("%q: errors %v, want %s", data, r.Errors(), want)
		}
	}
}

func TestBuiltFlowsAreValid(t *testing.T) {
	t.Parallel()
	for name := range built() {
		r := build(t, name)
		if diff := cmp.Diff([]string(nil), errorsOf(flow.Validate(r.FlowData, definitions(t), flow.Check{Kind: r.Kind}))); diff != "" {
			t.Errorf("%s: errors (-want +got):\n%s", name, diff)
		}
		if again := build(t, name); !bytes.Equal(again.FlowData, r.FlowData) || again.SHA256 != r.SHA256 {
			t.Errorf("%s: the same ops gave other bytes", name)
		}
	}
}

// TestLiveMalformed compares the table with a real server.
func TestLiveMalformed(t *testing.T) {
	s := live(t)
	local := s.local(t)
	for name, tt := range malformedFlows() {
		t.Run(name, func(t *testing.T) {
			r := build(t, tt.flow)
			doc := document(t, r.FlowData)
			tt.damage(t, doc)
			kind := r.Kind
			if tt.kind != "" {
				kind = tt.kind
			}
			status, text := s.run(t, kind, local.Replace(string(encoded(t, doc))), "hi")
			if works := status == http.StatusOK; works != (len(tt.want) == 0 || tt.useless) {
				t.Errorf("the server says %d %q, the table says %v", status, text, tt.want)
			}
		})
	}
}
