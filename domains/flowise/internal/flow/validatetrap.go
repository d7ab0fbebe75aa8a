package flow

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// These rules are about values that Flowise saves but that crash the flow at run time. Each was
// found by random mutation of flows.

const nodeLLM = "llmAgentflow"

// checkMessages rejects an agent or LLM node with neither memory nor a list of messages: the first
// such node in a flow reads the question from the list.
func (c *checker) checkMessages(n *checkedNode) {
	prefix := strings.TrimSuffix(n.name, "Agentflow")
	name := prefix + "Messages"
	remembers, _ := n.Input(prefix + "EnableMemory")
	value, ok := n.Input(name)
	if !ok || firstByte(value) != '"' || !falsy(remembers) || c.afterModel(n) {
		return
	}
	c.at(n, Logic, "messages_missing", "/data/inputs/"+name,
		fmt.Sprintf("%s has no memory, and its %s are no list; the server says \"%s.some is not a function\"", n.id, name, name),
		"set "+name+" to a list, which may be empty, or "+prefix+"EnableMemory to true")
}

// afterModel reports whether an agent or LLM node runs before.
func (c *checker) afterModel(n *checkedNode) bool {
	if c.modelled == nil {
		c.modelled = map[string]bool{}
		next := c.graph().next
		var queue []string
		for _, prior := range c.order {
			if prior.name == nodeAgent || prior.name == nodeLLM {
				queue = append(queue, next[prior.id]...)
			}
		}
		for ; len(queue) > 0; queue = queue[1:] {
			if id := queue[0]; !c.modelled[id] {
				c.modelled[id] = true
				queue = append(queue, next[id]...)
			}
		}
	}
	return c.modelled[n.id]
}

// checkLabel rejects a label that is not text if the server derives a name from it.
func (c *checker) checkLabel(n *checkedNode) {
	if label, ok := get(n.raw, "data", "label"); ok && firstByte(label) != '"' && !falsy(label) {
		c.at(n, Structure, "label_invalid", "/data/label", n.id+" has a label that is no text; the server makes a name of it", "rename it with RenameNode")
	}
}

// checkCategories rejects nodes without a category if the server reads the category of all nodes to
// decide whether the answer can be streamed. It does not do so if a function ends the flow or the
// model does not stream.
func (c *checker) checkCategories(endings []*checkedNode) {
	if !slices.ContainsFunc(endings, func(n *checkedNode) bool { return n.output() != "EndingNode" }) {
		return
	}
	for _, n := range c.order {
		streaming, ok := n.Input("streaming")
		if ok && (n.category == "Chat Models" || n.category == "LLMs") && (string(streaming) == "false" || unquoteText(streaming) == "false") {
			return
		}
	}
	for _, n := range c.order {
		if category, _ := get(n.raw, "data", "category"); firstByte(category) != '"' {
			c.add(SeverityError, Structure, "category_missing", n.at+"/data/category", n.id,
				n.id+" has no category; the server reads it without asking", "add the node again with AddNode")
		}
	}
}

// checkBound compares a bound credential with those of the server. With an unknown credential, or
// one of another type, the node runs without a credential.
func (c *checker) checkBound(n *checkedNode, id string, kinds []string, optional bool, place string) {
	if c.credentials == nil || id == "" {
		return
	}
	kind, known := c.credentials[id]
	if known && (len(kinds) == 0 || slices.Contains(kinds, kind)) {
		return
	}
	message := n.id + " is bound to a credential that the server does not have"
	if known {
		message = fmt.Sprintf("%s is bound to a credential of type %s, but takes %s", n.id, kind, strings.Join(kinds, " or "))
	}
	const fix = "bind a credential that there is"
	if optional {
		c.warn(n, Credential, "credential_unknown", place, message, fix)
		return
	}
	c.at(n, Credential, "credential_unknown", place, message, fix)
}

var markup = regexp.MustCompile(`<[^>]*>`)

// checkIterated rejects an iteration over a value that is not a list. The canvas wraps the list in
// markup, and the server parses it leniently.
func (c *checker) checkIterated(n *checkedNode) {
	raw, _ := n.Input("iterationInput")
	text := strings.TrimSpace(markup.ReplaceAllString(unquoteText(raw), ""))
	if text == "" || strings.Contains(text, "{{") || strings.HasPrefix(text, "[") {
		return
	}
	c.at(n, Logic, "value_invalid", "/data/inputs/iterationInput", n.id+" repeats over a text that is no JSON list", `write a list such as ["a","b"], or a variable in {{ }}`)
}

// checkSequentialLoop checks the target of a loop in a MULTIAGENT, which is given by its display
// name.
func (c *checker) checkSequentialLoop(n *checkedNode) {
	raw, _ := n.Input("loopToName")
	target := unquoteText(raw)
	if target == "" {
		return // checkParams reports the absence
	}
	if c.sequential == nil {
		c.sequential = c.sequentialNames()
	}
	if !c.sequential.known[sequentialName(target)] {
		c.at(n, Logic, "reference_unknown", "/data/inputs/loopToName", unknown("node for "+n.id+" to go back to", told(target), c.sequential.names), "set loopToName to the name of a node")
	}
}

// sequentialNames are the display names of nodes and the server's forms of them.
type sequentialNames struct {
	names []string
	known map[string]bool
}

func (c *checker) sequentialNames() *sequentialNames {
	out := &sequentialNames{known: map[string]bool{}}
	for _, n := range c.order {
		for _, key := range []string{"agentName", "llmNodeName", "toolNodeName", "functionName", "seqExecuteFlowName"} {
			value, _ := n.Input(key)
			if name := unquoteText(value); name != "" {
				out.names, out.known[sequentialName(name)] = append(out.names, name), true
			}
		}
	}
	return out
}

// sequentialName returns the server's form of a name.
func sequentialName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }), "_")
}

// checkText rejects texts without the required form: the URL of a model, and headers, which are
// parsed as JSON.
func (c *checker) checkText(n *checkedNode, param, text, place string) {
	text = strings.TrimSpace(text)
	if text == "" || strings.Contains(text, "{{") {
		return
	}
	switch {
	case param == "basepath":
		if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			c.at(n, Logic, "url_invalid", place, fmt.Sprintf("%s has %q for an address", n.id, told(text)), "write an address such as https://host/v1")
		}
	case strings.HasPrefix(param, "requests") && strings.HasSuffix(param, "Headers"):
		if !strings.HasPrefix(markup.ReplaceAllString(text, ""), "{") {
			c.at(n, Logic, "value_invalid", place, fmt.Sprintf("%s.%s is no JSON object", n.id, param), `write headers such as {"Accept":"text/plain"}`)
		}
	}
}
