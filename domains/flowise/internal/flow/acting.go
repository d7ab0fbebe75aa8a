package flow

import (
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Acting lists the nodes by which a flow may change something outside of
// Flowise when it is asked: tools, calls of other services and flows, code that
// reaches out. Looking up and computing is not acting; what is not known is.
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

// picked lists the components that values choose by the parameters of the kind:
// what a node says of its own parameters need not be so.
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

// kindActs judges by the kind of node: tools act unless they are known to look
// up or compute only.
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

// actors are kinds that act and are no tools.
func actors() []string {
	return []string{
		"executeFlowAgentflow", "seqExecuteFlow", "openApiChain", "postApiChain", "sqlDatabaseChain", "graphCypherQAChain", "openAIAssistant",
	}
}

// lookups are tools that only look something up, compute, or hold what is
// judged by itself.
func lookups() []string {
	return []string{
		"arxiv", "braveSearchAPI", "calculator", "currentDateTime", "exaSearch", "googleCustomSearch", "jsonPathExtractor",
		"queryEngineToolLlamaIndex", "requestsGet", "retrieverTool", "searXNG", "searchAPI", "sequentialThinkingMCP", "serpAPI", "serper",
		"tavilyAPI", "webBrowser", "webScraperTool", "wolframAlpha",
	}
}

// outward are words by which code reaches out of its sandbox.
var outward = regexp.MustCompile(`\b(fetch|axios|require|import|XMLHttpRequest|WebSocket|process|https?)\b`)

// callsOut judges nodes by what they hold: code, and requests that are no GET.
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
