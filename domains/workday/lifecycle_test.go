package workday_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// wired is a bench whose tenant has an MCP server.
func wired(t *testing.T) *bench {
	t.Helper()
	b := setup(t, sandbox.Config{ToolPrefix: "acme_"})
	b.config.MCP = &workday.MCP{URL: b.config.Tenant.URL + "/mcp"}
	b.config.Access.People = map[string]string{"ana": b.id("Ana Souza")}
	b.restart()
	return b
}

// TestEachStepOfTheLifecycleIsARole that the domains of a plan share.
func TestEachStepOfTheLifecycleIsARole(t *testing.T) {
	t.Parallel()
	m := setup(t, sandbox.Config{}).manifest()
	for _, role := range []string{"discover", "compile_ops", "validate", "generate_tests", "evaluate"} {
		if c := find(t, m, role); len(c.Metadata.Plays) != 1 || c.Metadata.Plays[0].Role != role {
			t.Errorf("%s plays %v", role, c.Metadata.Plays)
		}
	}
}

func TestWhatAFlowCanHaveOfWorkday(t *testing.T) {
	t.Parallel()
	bare := setup(t, sandbox.Config{})
	if got := bare.facts("discover", object{}, ""); !strings.Contains(fmt.Sprint(got["missing"]), "--mcp-url") {
		t.Errorf("without a server: %v", got)
	}
	if got := bare.facts("generate_tests", object{}, ""); len(got["integration_tests"].([]any)) != 0 {
		t.Errorf("tests without a server: %v", got)
	}
	got := wired(t).facts("discover", object{"goal": "look people up"}, "")
	if fmt.Sprint(got["tools"], got["missing"]) != "[acme_getMyInfo acme_searchForWorker acme_getWorkers] []" {
		t.Errorf("with one: %v", got)
	}
}

// TestAFlowIsHeldToTheToolsOfWorkday: the graph of the compiled ops is valid; faults made by hand
// are reported.
func TestAFlowIsHeldToTheToolsOfWorkday(t *testing.T) {
	t.Parallel()
	b := wired(t)
	tool := func(authorization, actions string) string {
		return fmt.Sprintf(`{"mcpServerConfig":"{\"url\":\"%s\",\"headers\":{\"Authorization\":\"%s\"}}","mcpActions":%s}`, b.config.MCP.URL, authorization, actions)
	}
	const token = "Bearer {{$vars.beartoken}}"
	graph := func(inputs string) string {
		return `{"nodes":[{"id":"x_0","data":{"inputs":` + inputs + `}}],"edges":[]}`
	}
	for name, tt := range map[string]struct{ flow, want string }{
		"a node of a chatflow":      {graph(tool(token, `"[\"acme_searchForWorker\"]"`)), ""},
		"an item of an agent":       {graph(`{"agentTools":[{"agentSelectedTool":"customMCP","agentSelectedToolConfig":` + tool(token, `["acme_getMyInfo"]`) + `}]}`), ""},
		"a tool that is not there":  {graph(tool(token, `["searchForWorker"]`)), `x_0: Workday's MCP server has no tool "searchForWorker"`},
		"no tool":                   {graph(tool(token, `[]`)), "x_0: none of Workday's tools is chosen"},
		"a token in the flow":       {graph(tool("Bearer abc", `["acme_getMyInfo"]`)), "x_0: a token stands in the flow itself"},
		"no token":                  {graph(tool("", `["acme_getMyInfo"]`)), "x_0: no token is sent to Workday"},
		"a flow without the server": {graph(`{"mcpServerConfig":"{\"url\":\"https://other.example.com/mcp\"}"}`), "no node of the flow uses"},
	} {
		got := b.execute("validate", object{"flow_data": tt.flow}, "")
		if got.Facts["ok"] != (tt.want == "") || !strings.Contains(got.Summary, tt.want) {
			t.Errorf("%s: %s", name, got.Summary)
		}
		if strings.Contains(fmt.Sprint(got.Facts), "abc") {
			t.Errorf("%s: the token is told: %v", name, got.Facts)
		}
	}
	if out := b.execute("validate", object{"flow_data": "no graph"}, ""); out.OK || out.Error.Type != contracts.ErrInvalidParameters {
		t.Errorf("no graph: %+v", out)
	}
}

// TestTheTestsOfWorkdaysToolsAreMadeAndJudged: the questions are about the requester only; a
// verdict reports a rejected token first.
func TestTheTestsOfWorkdaysToolsAreMadeAndJudged(t *testing.T) {
	t.Parallel()
	b := wired(t)
	made := func(who string) []any {
		_, out := domaintest.Execute(b, b.url, "generate_tests", object{"actions": []string{"searchForWorker"}},
			object{"run_id": "r", "node_id": "n", "attempt": 1, "principal": object{"id": who, "roles": []string{}}})
		tests, _ := out.Facts["integration_tests"].([]any)
		if !out.OK || len(tests) != 1 || fmt.Sprint(out.Facts["domain_scopes"]) != "[workday]" {
			t.Fatalf("%s: %+v", who, out)
		}
		return tests
	}
	if got := b.facts("generate_tests", object{}, "")["integration_tests"].([]any); len(got) != 2 { // getMyInfo has no parameters
		t.Errorf("of all tools: %v", got)
	}
	title := b.people["Ana Souza"].Title
	of := made("ana")
	if got := fmt.Sprint(of...); !strings.Contains(got, "Ana Souza") || !strings.Contains(got, title) || !strings.Contains(got, "acme_searchForWorker") {
		t.Errorf("about ana: %s", got)
	}
	if got := fmt.Sprint(made("a stranger")...); strings.Contains(got, "contains") {
		t.Errorf("a stranger is told of somebody: %s", got)
	}
	foreign := object{"name": "greeting", "kind": "happy", "question": "Hello", "assertions": []object{{"type": "answered"}}}
	judge := func(answers ...object) object {
		report := []object{{"case": foreign, "outcomes": []object{{"text": "", "latency_ms": 5}}}}
		for _, a := range answers {
			report = append(report, object{"case": of[0], "outcomes": []object{a}})
		}
		return b.facts("evaluate", object{"report": report}, "")
	}
	used := []string{"acme_searchForWorker"}
	for want, answers := range map[string][]object{
		"1 0 DONE":               {{"text": "She is " + title, "tools": used}},
		"0 1 ITERATE LOGIC":      {{"text": "She is " + title}},
		"1 1 ITERATE LOGIC":      {{"text": "I do not know", "tools": used}, {"text": title, "tools": used}},
		"0 2 ITERATE CREDENTIAL": {{"text": "I do not know", "tools": used}, {"error": "HTTP 401: invalid_token"}},
		"0 0 ITERATE INCOMPLETE": {},
	} {
		got := judge(answers...)
		verdict, _ := got["verdict"].(object)
		category, _ := verdict["category"].(string)
		if said := strings.TrimSpace(fmt.Sprint(got["passed"], " ", got["failed"], " ", verdict["status"], " ", category)); said != want {
			t.Errorf("%s, not %s: %v", said, want, got)
		}
	}
}
