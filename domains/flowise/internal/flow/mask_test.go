package flow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// secretive is an agent flow as people build it, with the secrets where they
// put them; %s is what they end with.
func secretive(t *testing.T, end string) []byte {
	t.Helper()
	text := func(v any) json.RawMessage {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	server := `{"url":"http://user:hush1` + end + `@mcp.example/mcp","headers":{"Authorization":"Bearer hush2` + end + `","x-api-key":"hush3` + end + `","x-tenant":"{{$vars.token}}"}}`
	tools := []any{map[string]any{"agentSelectedTool": "customMCP", "agentSelectedToolConfig": map[string]any{"mcpServerConfig": server, "mcpActions": `["add"]`}}}
	edits := []any{
		map[string]any{"op_type": "AddNode", "node_name": "startAgentflow"},
		map[string]any{"op_type": "AddNode", "node_name": "agentAgentflow", "params": map[string]any{"agentModel": "chatOpenAI", "agentTools": tools}},
		map[string]any{"op_type": "SetParam", "node_id": "agentAgentflow_0", "param_name": "agentModelConfig", "value": map[string]any{"modelName": "gpt-4o", "baseOptions": `{"Authorization":"Bearer hush4` + end + `"}`}},
		map[string]any{"op_type": "BindCredential", "node_id": "agentAgentflow_0", "credential_id": "hush5" + end},
		map[string]any{"op_type": "AddNode", "node_name": "httpAgentflow", "params": map[string]any{"url": "http://example.com", "headers": []any{map[string]any{"key": "Authorization", "value": "Basic hush6" + end}}}},
		map[string]any{"op_type": "AddNode", "node_name": "customFunctionAgentflow", "params": map[string]any{"customFunctionJavascriptFunction": `const apiKey = "hush7` + end + `"; return 1`}},
		map[string]any{"op_type": "Connect", "source_node_id": "startAgentflow_0", "target_node_id": "agentAgentflow_0"},
	}
	return compile(t, nil, string(text(edits))).FlowData
}

// TestSecretsAreNotShown: neither a summary nor a diff tells a secret, wherever
// in a flow it stands; the rest stays readable.
func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	before, after := decompile(t, secretive(t, "old")), decompile(t, secretive(t, "new"))
	if n := strings.Count(string(after.FlowData()), "hush"); n < 7 {
		t.Fatalf("the flow holds %d secrets", n)
	}
	summary, diff := flow.Summarize(after, "", definitions(t)), flow.Compare(before, after, definitions(t))
	all, err := json.Marshal([]any{summary, diff, summary.String(), diff.String()})
	if err != nil {
		t.Fatal(err)
	}
	if at := strings.Index(string(all), "hush"); at >= 0 {
		t.Errorf("a secret is shown: …%s", all[max(0, at-60):at+20])
	}
	if len(diff.Params) < 4 || !strings.Contains(string(all), "(hidden)") || !strings.Contains(string(all), "example.com") {
		t.Errorf("too little is shown: %s", all)
	}
}

func TestPasswordsBySchemaAreHiddenAndReferencesAreNot(t *testing.T) {
	t.Parallel()
	node := func(inputs string) string {
		return `{"nodes":[{"id":"a","data":{"id":"a","name":"custom","inputParams":[
			{"name":"pin","type":"password"},{"name":"maxTokens","type":"number"},{"name":"rows","type":"array","array":[{"name":"code","type":"password"}]},
			{"name":"header","type":"string"}],"inputAnchors":[],"inputs":` + inputs + `}}],"edges":[]}`
	}
	tests := map[string]struct{ inputs, shown, never string }{
		"a password":                   {`{"pin":"1234"}`, "pin=(hidden)", "1234"},
		"a password in rows":           {`{"rows":[{"code":"1234","x":"y"}]}`, `"x":"y"`, "1234"},
		"a number that sounds like it": {`{"maxTokens":"77"}`, "maxTokens=77", "hidden"},
		"a password by its name":       {`{"dbPassword":"1234"}`, "dbPassword=(hidden)", "1234"},
		"an object with one":           {`{"more":{"client_secret":"1234","on":true}}`, `"on":true`, "1234"},
		"a name of one":                {`{"pin":"{{$vars.pin}}"}`, "pin={{$vars.pin}}", "hidden"},
		"a header in a text":           {`{"header":"Authorization: Bearer abcd1234"}`, "(hidden)", "abcd1234"},
		"a query in an address":        {`{"header":"http://x/y?api_key=abcd1234&q=rain"}`, "q=rain", "abcd1234"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := flow.Summarize(decompile(t, []byte(node(tt.inputs))), flow.Chatflow, definitions(t)).String()
			if !strings.Contains(got, tt.shown) || strings.Contains(got, tt.never) {
				t.Errorf("shown as %s", got)
			}
		})
	}
}

func decompile(t *testing.T, data []byte) *flow.Graph {
	t.Helper()
	g, err := flow.Decompile(data)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
