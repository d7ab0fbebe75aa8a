package flow

import (
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Acting returns the nodes by which a question to the flow may change something outside Flowise:
// tools, calls of other services and flows, and code with I/O. Nodes that only look up or compute
// do not act; unknown nodes do.
func Acting(g *Graph, defs Definitions) []string {
	var out []string
	for i := range g.Nodes() {
		if n := &g.Nodes()[i]; !isNote(n.name) && n.acts(defs) {
			out = append(out, n.id)
		}
	}
	return out
}

func (n Node) acts(defs Definitions) bool {
	if kindActs(n.name, defs) || n.callsOut() {
		return true
	}
	acts := func(name string) bool { return kindActs(name, defs) }
	if def, known := defs.Node(n.name); known && slices.ContainsFunc(picked(def.Inputs, n.part(partInputs)), acts) {
		return true
	}
	return slices.ContainsFunc(chosen(n, defs), func(c choice) bool { return acts(c.name) })
}

// picked returns the components that values select according to the parameters of the kind. A
// node's own description of its parameters may be wrong.
func picked(params []knowledge.Param, values []byte) []string {
	var out []string
	for i := range params {
		p := &params[i]
		if name := textAt(values, p.Name); p.LoadConfig && name != "" {
			out = append(out, name)
		}
		if rows, _ := get(values, p.Name); p.Type == "array" {
			for _, row := range elements(rows) {
				out = append(out, picked(p.Array, row)...)
			}
		}
	}
	return out
}

// kindActs reports whether a kind of node acts: tools do, unless they are known to only look up or
// compute.
func kindActs(name string, defs Definitions) bool {
	def, known := defs.Node(name)
	switch {
	case !known, slices.Contains(actors(), name):
		return true
	case strings.HasPrefix(def.Category, "Tools"):
		return !slices.Contains(lookups(), name)
	}
	return false
}

// actors returns the kinds that act and are not tools.
func actors() []string {
	return []string{
		"executeFlowAgentflow", "seqExecuteFlow", "openApiChain", "postApiChain", "sqlDatabaseChain", "graphCypherQAChain", "openAIAssistant",
	}
}

// lookups returns the tools that only look up or compute, or whose content is checked separately.
func lookups() []string {
	return []string{
		"arxiv", "braveSearchAPI", "calculator", "currentDateTime", "exaSearch", "googleCustomSearch", "jsonPathExtractor",
		"queryEngineToolLlamaIndex", "requestsGet", "retrieverTool", "searXNG", "searchAPI", "sequentialThinkingMCP", "serpAPI", "serper",
		"tavilyAPI", "webBrowser", "webScraperTool", "wolframAlpha",
	}
}

// outward matches identifiers by which code leaves its sandbox.
var outward = regexp.MustCompile(`\b(fetch|axios|require|import|XMLHttpRequest|WebSocket|process|https?)\b`)

// callsOut reports whether the content of a node acts: code with I/O, or HTTP requests other than
// GET.
func (n Node) callsOut() bool {
	switch n.name {
	case "httpAgentflow":
		method := textAt(n.part(partInputs), "method")
		return method != "" && method != "GET"
	case "customFunction", nodeIfElse, "customFunctionAgentflow", "seqCustomFunction":
		return outward.Match(unescaped(n.part(partInputs)))
	}
	return false
}
