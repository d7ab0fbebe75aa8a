package flow_test

import (
	"fmt"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

func TestActingNodesAreThoseThatReachOut(t *testing.T) {
	t.Parallel()
	agent := func(tool string) string {
		return `{"op_type":"AddNode","node_name":"agentAgentflow","node_id":"a","params":{"agentTools":[{"agentSelectedTool":"` + tool + `"}]}}`
	}
	code := func(js string) string {
		return fmt.Sprintf(`{"op_type":"AddNode","node_name":"customFunction","node_id":"a","params":{"javascriptFunction":%q}}`, js)
	}
	add := func(kind, params string) string {
		return `{"op_type":"AddNode","node_name":"` + kind + `","node_id":"a","params":{` + params + `}}`
	}
	tests := map[string]struct {
		op   string
		acts bool
	}{
		"a reply":                           {add("directReplyAgentflow", ""), false},
		"a model":                           {add("chatOpenAI", ""), false},
		"a calculator":                      {add("calculator", ""), false},
		"a search":                          {add("tavilyAPI", ""), false},
		"a tool of one's own":               {add("customTool", ""), true},
		"an MCP server":                     {add("customMCP", ""), true},
		"a mail account":                    {add("gmail", ""), true},
		"another flow":                      {add("executeFlowAgentflow", ""), true},
		"a database that is written to":     {add("sqlDatabaseChain", ""), true},
		"an agent with a calculator":        {agent("calculator"), false},
		"an agent with an MCP server":       {agent("customMCP"), true},
		"a request that reads":              {add("httpAgentflow", `"method":"GET"`), false},
		"a request that writes":             {add("httpAgentflow", `"method":"POST"`), true},
		"code that computes":                {code(`return "echo: " + $flow.input`), false},
		"code that calls a service":         {code(`const r = await fetch("http://x"); return r`), true},
		"a note, whatever is written on it": {add("stickyNote", `"note":"fetch"`), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := flow.Acting(compile(t, nil, "["+tt.op+"]").Graph, definitions(t))
			if (len(got) > 0) != tt.acts {
				t.Errorf("acting nodes: %v", got)
			}
		})
	}
	if got := flow.Acting(decompile(t, []byte(`{"nodes":[{"id":"u","data":{"name":"unheardOf"}}],"edges":[]}`)), definitions(t)); len(got) != 1 {
		t.Error("a node that nobody knows is trusted")
	}
}

// TestActingIsNotHiddenByHowItIsWritten: the same flow can be written in several ways, and need not
// describe its parameters.
func TestActingIsNotHiddenByHowItIsWritten(t *testing.T) {
	t.Parallel()
	node := func(name, rest string) string {
		return `{"nodes":[{"id":"n","data":{"id":"n","name":"` + name + `",` + rest + `}}],"edges":[]}`
	}
	tool := `"inputs":{"agentTools":[{"agentSelectedTool":"gmail","agentSelectedToolConfig":{}}]}`
	for name, data := range map[string]string{
		"code with escaped letters":            node("customFunction", `"inputs":{"javascriptFunction":"await \u0066etch(u)"}`),
		"code under an escaped name":           node("customFunction", `"\u0069nputs":{"javascriptFunction":"await fetch(u)"}`),
		"an agent that describes no choice":    node("agentAgentflow", `"inputParams":[],`+tool),
		"an agent without a description":       node("agentAgentflow", tool),
		"an agent with another description":    node("agentAgentflow", `"inputParams":[{"name":"agentTools","type":"string"}],`+tool),
		"a description with escaped letters":   node("agentAgentflow", `"inputParams":[{"name":"agentTools","type":"array","array":[{"name":"agentSelectedTool","\u006coadConfig":true}]}],`+tool),
		"a request whose way is a variable":    node("httpAgentflow", `"inputs":{"method":"{{ $vars.m }}"}`),
		"a request in small letters":           node("httpAgentflow", `"inputs":{"method":"post"}`),
		"a tool node that describes no choice": node("toolAgentflow", `"inputs":{"toolAgentflowSelectedTool":"gmail"}`),
	} {
		if got := flow.Acting(decompile(t, []byte(data)), definitions(t)); len(got) != 1 {
			t.Errorf("%s: acting nodes %v", name, got)
		}
	}
	for name, data := range map[string]string{
		"an agent with a calculator, undescribed": node("agentAgentflow", `"inputs":{"agentTools":[{"agentSelectedTool":"calculator"}]}`),
		"a text that is a tool's name":            node("llmAgentflow", `"inputs":{"llmMessages":[{"role":"user","content":"gmail"}]}`),
	} {
		if got := flow.Acting(decompile(t, []byte(data)), definitions(t)); len(got) != 0 {
			t.Errorf("%s: acting nodes %v", name, got)
		}
	}
}
