package flow

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// checkSpecial checks the rules of individual kinds of nodes.
func (c *checker) checkSpecial(n *checkedNode) {
	switch n.name {
	case nodeLLM:
		c.checkMessages(n)
		c.checkLabel(n)
	case nodeAgent:
		c.checkMessages(n)
		c.checkLabel(n)
		if value, ok := n.Input("agentTools"); !ok || string(value) == "null" {
			c.at(n, Structure, "tools_missing", "/data/inputs/agentTools",
				n.id+" has no agentTools; the server says \"tools is not iterable\"", `set agentTools to a list, or to ""`)
		}
	case nodeMCP:
		inputs := n.part(partInputs)
		c.checkMCP(n, inputs, "/data/inputs")
	case "loopAgentflow":
		target, _, _ := strings.Cut(textAt(n.part(partInputs), "loopBackToNode"), "-")
		if target != "" && c.nodes[target] == nil {
			c.at(n, Logic, "reference_unknown", "/data/inputs/loopBackToNode", fmt.Sprintf("%s goes back to %q, which does not exist", n.id, target), "set it to an existing node")
		}
	case "seqLoop":
		c.checkSequentialLoop(n)
	case nodeIteration:
		c.checkIterated(n)
		if c.holders[n.id] {
			return
		}
		c.warn(n, Incomplete, "iteration_empty", "", n.id+" repeats nothing", "add nodes with it as their parent")
	}
}

// checkMCP validates the configuration of a custom MCP server, a text that contains JSON. Flowise
// also accepts unquoted keys and trailing commas.
func (c *checker) checkMCP(n *checkedNode, inputs []byte, place string) {
	raw, ok := get(inputs, "mcpServerConfig")
	if !ok || firstByte(raw) != '"' || falsy(raw) {
		return // checkParams reports the type and absence
	}
	place += "/mcpServerConfig"
	text := unquote(raw)
	var config map[string]any
	if json.Unmarshal([]byte(text), &config) != nil && json.Unmarshal([]byte(lenient(text)), &config) != nil {
		c.at(n, Logic, "mcp_config", place, n.id+": the configuration of the MCP server is no JSON object", `write {"url":"…"} or {"command":"…","args":[…]}`)
		return
	}
	_, url := config["url"].(string)
	_, command := config["command"].(string)
	if !url && !command {
		c.at(n, Logic, "mcp_config", place, n.id+": the configuration of the MCP server has neither url nor command", `write {"url":"…"} or {"command":"…","args":[…]}`)
	}
}

var (
	bareKey       = regexp.MustCompile(`([{,]\s*)([A-Za-z_$][A-Za-z0-9_$-]*)\s*:`)
	trailingComma = regexp.MustCompile(`,(\s*[}\]])`)
)

// lenient converts JSON-like text to JSON.
func lenient(text string) string {
	if !strings.Contains(text, `"`) {
		text = strings.ReplaceAll(text, `'`, `"`)
	}
	text = bareKey.ReplaceAllString(text, `$1"$2":`)
	return trailingComma.ReplaceAllString(text, "$1")
}
