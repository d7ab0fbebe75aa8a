package flow_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// secretive is a realistic agent flow with secrets in typical places; %s is their suffix.
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

// TestSecretsAreNotShown: no summary or diff contains a secret from anywhere in a flow; other text
// stays readable.
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

// TestSecretsInFormsThatPeopleGiveThem: by name, by place and by form.
func TestSecretsInFormsThatPeopleGiveThem(t *testing.T) {
	t.Parallel()
	inputs := func(name string, value any) []byte {
		raw, err := json.Marshal(map[string]any{"nodes": []any{map[string]any{"id": "a", "data": map[string]any{
			"id": "a", "name": "custom", "inputParams": []any{}, "inputAnchors": []any{}, "inputs": map[string]any{name: value},
		}}}, "edges": []any{}})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for name, value := range map[string]any{
		"a flag and its value":         `{"command":"npx","args":["-y","server","--api-key","hush1234"]}`,
		"a flag and its value in code": `spawn("npx", ["--token", "hush1234"])`,
		"a flag with its value":        `{"command":"npx","args":["--token=hush1234"]}`,
		"a text within a text":         `const body = "{\"password\":\"hush1234\"}"`,
		"a text within a text in code": `const body = '{\\"client_secret\\": \\"hush1234\\"}'`,
		"a number":                     map[string]any{"password": 12345678, "x": "hush"[:0]},
		"a list of them":               map[string]any{"token": []any{"hush1234"}},
		"a key of OpenAI":              `const k = "sk-proj-hush1234hush1234hush1234"`,
		"a token of GitHub":            `git clone https://x-access-token:ghp_hush1234hush1234hush1234hush12@github.com`,
		"a token of GitHub, alone":     `use ghp_hush1234hush1234hush1234hush12`,
		"a token of Slack":             `xoxb-1234567890-hush1234hush`,
		"a key of Google":              `AIzahush1234hush1234hush1234hush1234hus`,
		"a key of Amazon":              `AKIAHUSH1234HUSH1234`,
		"a signed token":               `eyJhbGciOiJIUzI1NiJ9.eyJodXNoIjoiMTIzNCJ9.hush1234hush1234`,
		"a private key":                "-----BEGIN RSA PRIVATE KEY-----\nhush1234\nmorehush\n-----END RSA PRIVATE KEY-----",
		"a private key on one line":    `"-----BEGIN PRIVATE KEY-----\nhush1234\n-----END PRIVATE KEY-----\n"`,
		"a name in small letters":      map[string]any{"headers": []any{map[string]any{"name": "X-Auth-Token", "value": "hush1234"}}},
	} {
		g := decompile(t, inputs("setting", value))
		excerpt, _ := flow.ExcerptOf(g, "a", definitions(t))
		diff := flow.Compare(decompile(t, inputs("setting", "before")), g, definitions(t))
		got := strings.ToLower(flow.Summarize(g, flow.Chatflow, definitions(t)).String() + strings.Join(excerpt.Params, " ") + diff.String())
		if strings.Contains(got, "hush") || strings.Contains(got, "12345678") || strings.Contains(got, "ehvzacI6") {
			t.Errorf("%s: shown as %s", name, got)
		}
	}
	for _, harmless := range []string{"the token of the day", "ask for a password, please", "task-list-of-everyone-in-the-house", "tokens: 5 at most? no", "https://example.com/a-b_c?page=2"} {
		if got := flow.Summarize(decompile(t, inputs("setting", harmless)), flow.Chatflow, definitions(t)).String(); !strings.Contains(got, harmless) {
			t.Errorf("%q is shown as %s", harmless, got)
		}
	}
}

// TestFindingsShowNoSecrets: findings are shown to the requester and stored in reports.
func TestFindingsShowNoSecrets(t *testing.T) {
	t.Parallel()
	base := string(build(t, "conversation").FlowData)
	for name, data := range map[string]string{
		"a key for a credential's id": strings.Replace(base, someCredential, "hush1234hush1234", 1),
		"an address with a password":  strings.Replace(base, someModel, "ftp://user:hush1234@host/v1", 1),
		"a key in an anchor":          strings.Replace(base, `"{{bufferMemory_0.data.instance}}"`, `"sk-hush1234hush1234hush1234"`, 1),
		"a key for a number":          strings.Replace(base, `"temperature":0.2`, `"temperature":"sk-hush1234hush1234hush1234"`, 1),
		"a key for an option":         strings.Replace(base, `"reasoningEffort":""`, `"reasoningEffort":"sk-hush1234hush1234hush1234","reasoning":true`, 1),
	} {
		if data == base {
			t.Errorf("%s: nothing changed", name)
		}
		report := flow.Validate([]byte(data), definitions(t), flow.Check{Kind: flow.Chatflow, Credentials: map[string]string{}})
		if got := fmt.Sprint(report.Findings); len(report.Findings) == 0 || strings.Contains(got, "hush") {
			t.Errorf("%s: %s", name, got)
		}
	}
	_, err := flow.Compile(build(t, "conversation").Graph, ops(t, `[{"op_type":"SetParam","node_id":"chatOpenAI_0","param_name":"temperature","value":"sk-hush1234hush1234hush1234"}]`), definitions(t), flow.Options{})
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("an op that does not fit says %v", err)
	}
}
