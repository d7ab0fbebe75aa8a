package sandbox

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// maxSteps bounds an agent flow with a loop.
const maxSteps = 100

// agentflow runs an agent flow from the node without incoming edges, one node at a time.
func (r *run) agentflow() (map[string]any, error) {
	start, err := r.graph.start()
	if err != nil {
		return nil, err
	}
	if err := r.takeForm(); err != nil {
		return nil, err
	}
	r.emit("agentFlowEvent", "INPROGRESS")
	outputs := map[string]string{}
	queue, last := start, ""
	for step := 0; len(queue) > 0; step++ {
		if step == maxSteps {
			return nil, said("Maximum iteration limit reached")
		}
		n := queue[0]
		queue = queue[1:]
		text, branch, err := r.step(n, outputs)
		if err != nil {
			r.emit("agentFlowEvent", "ERROR")
			return map[string]any{"agentFlowExecutedData": r.steps}, err
		}
		last, outputs[n.ID] = text, text
		queue = append(queue, r.after(n, branch)...)
	}
	r.emit("agentFlowEvent", "FINISHED")
	return map[string]any{
		"text": last, "executionId": r.server.ids.uuid(), "agentFlowExecutedData": r.steps,
	}, nil
}

// takeForm stores the values of a form for the whole conversation.
func (r *run) takeForm() error {
	if r.q.Text != "" && len(r.q.Form) > 0 {
		return said("Question and form cannot be provided at the same time")
	}
	session := r.q.Override.SessionID
	if len(r.q.form) > 0 {
		if r.flow.forms == nil {
			r.flow.forms = map[string]map[string]any{}
		}
		r.flow.forms[session] = r.q.form
	}
	if r.graph.inputType() == "formInput" {
		r.form = r.flow.forms[session]
	} else {
		r.form = r.q.form
	}
	return nil
}

// inputType returns the input type of an agent flow.
func (g *graph) inputType() (kind string) {
	for _, n := range g.nodes {
		if n.Data.Name == "startAgentflow" {
			kind = n.text("startInputType")
		}
	}
	return kind
}

// start returns the nodes at which an agent flow starts, without notes.
func (g *graph) start() ([]*node, error) {
	if !g.hasEdges {
		return nil, typeError("length")
	}
	led := map[string]bool{}
	for _, e := range g.edges {
		led[e.Target] = true
	}
	var first []*node
	for _, n := range g.nodes {
		if !led[n.ID] && n.Data.Name != "stickyNoteAgentflow" {
			first = append(first, n)
		}
	}
	switch {
	case g.inputType() == "":
		return nil, said("Start input type not found")
	case len(first) > 1:
		return nil, said("Multiple starting nodes are not allowed")
	}
	return first, nil
}

// step runs one node and returns the output that continues, or -1 for all.
func (r *run) step(n *node, outputs map[string]string) (text string, branch int, err error) {
	progress := func(status string) {
		r.emit("nextAgentFlow", map[string]any{"nodeId": n.ID, "nodeLabel": n.Data.Label, "status": status})
	}
	progress("INPROGRESS")
	if err = r.checkAgent(n); err == nil {
		text, branch, err = r.act(n, outputs)
	}
	status := "FINISHED"
	if err != nil {
		status = "ERROR"
	}
	progress(status)
	r.steps = append(r.steps, map[string]any{
		"nodeId": n.ID, "nodeLabel": n.Data.Label, "previousNodeIds": r.graph.before(n), "status": status,
		"data": map[string]any{"id": n.ID, "name": n.Data.Name, "input": map[string]any{}, "output": map[string]any{"content": text}, "state": map[string]any{}},
	})
	r.emit("agentFlowExecutedData", slices.Clone(r.steps))
	return text, branch, err
}

// before returns the nodes that lead to a node.
func (g *graph) before(n *node) []string {
	out := []string{}
	for _, e := range g.edges {
		if e.Target == n.ID {
			out = append(out, e.Source)
		}
	}
	return out
}

func (r *run) checkAgent(n *node) error {
	if _, known := r.server.known.Node(n.Data.Name); !known {
		return typeError("filePath")
	}
	if n.Data.Inputs == nil {
		return typeError("text")
	}
	return nil
}

func (r *run) act(n *node, outputs map[string]string) (string, int, error) {
	read := func(input string) string { return plainText(r.filled(n, input, outputs)) }
	switch n.Data.Name {
	case "startAgentflow":
		return r.q.Text, -1, nil
	case "directReplyAgentflow":
		text := read("directReplyMessage")
		r.tokens(text)
		return text, -1, nil
	case "customFunctionAgentflow":
		values := map[string]string{}
		for _, item := range items(n.Data.Inputs["customFunctionInputVariables"]) {
			values[fmt.Sprint(item["variableName"])] = plainText(r.fill(fmt.Sprint(item["variableValue"]), outputs))
		}
		out, err := runScript(n.text("customFunctionJavascriptFunction"), r.variables("", values))
		if err != nil {
			return "", 0, err
		}
		return show(out), -1, nil
	case "conditionAgentflow":
		return "", r.choose(n, outputs), nil
	case "llmAgentflow":
		return r.model(n, "llm")
	case "agentAgentflow":
		if _, has := n.Data.Inputs["agentTools"]; !has {
			return "", 0, said("tools is not iterable")
		}
		return r.model(n, "agent")
	}
	return "", 0, said("the sandbox cannot run %s", n.Data.Name)
}

// model answers for a node with its own model.
func (r *run) model(n *node, prefix string) (string, int, error) {
	name := n.text(prefix + "Model")
	def, known := r.server.known.Node(name)
	if !known {
		return "", 0, typeError("filePath")
	}
	config, _ := n.Data.Inputs[prefix+"ModelConfig"].(map[string]any)
	id, _ := config["FLOWISE_CREDENTIAL_ID"].(string)
	if def.Credential != nil && !def.Credential.Optional && !r.server.hasCredential(id) {
		return "", 0, errMissingCredential
	}
	text, err := modelSays(modelName(config), r.q.Text)
	if err == nil {
		r.tokens(text)
	}
	return text, -1, err
}

// choose returns the index of the first condition that holds, or the number of conditions if none
// does.
func (r *run) choose(n *node, outputs map[string]string) int {
	conditions := items(n.Data.Inputs["conditions"])
	for i, c := range conditions {
		left := plainText(r.fill(fmt.Sprint(c["value1"]), outputs))
		right := plainText(r.fill(fmt.Sprint(c["value2"]), outputs))
		if holds(fmt.Sprint(c["operation"]), left, right) {
			return i
		}
	}
	return len(conditions)
}

func holds(operation, left, right string) bool {
	switch operation {
	case "equal":
		return left == right
	case "notEqual":
		return left != right
	case "contains":
		return strings.Contains(left, right)
	case "notContains":
		return !strings.Contains(left, right)
	case "startsWith":
		return strings.HasPrefix(left, right)
	case "endsWith":
		return strings.HasSuffix(left, right)
	case "isEmpty":
		return left == ""
	case "notEmpty":
		return left != ""
	case "regex":
		ok, err := regexp.MatchString(right, left)
		return ok && err == nil
	}
	return compares(operation, number(left), number(right))
}

func compares(operation string, x, y float64) bool {
	switch operation {
	case "larger":
		return x > y
	case "largerEqual":
		return x >= y
	case "smaller":
		return x < y
	case "smallerEqual":
		return x <= y
	}
	return false
}

// number parses a number, or returns 0.
func number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return n
}

func items(v any) []map[string]any {
	var out []map[string]any
	list, _ := v.([]any)
	for _, item := range list {
		if m, is := item.(map[string]any); is {
			out = append(out, m)
		}
	}
	return out
}

// after returns the targets of an output. Handles of nodes with several outputs end with the number
// of the output.
func (r *run) after(n *node, branch int) []*node {
	var out []*node
	for _, e := range r.graph.edges {
		if e.Source != n.ID {
			continue
		}
		if branch >= 0 && e.SourceHandle != fmt.Sprintf("%s-output-%d", n.ID, branch) {
			continue
		}
		if next := r.graph.node(e.Target); next != nil {
			out = append(out, next)
		}
	}
	return out
}

// filled fills in the variables of an input, if the node lists it as accepting variables; otherwise
// it returns the text unchanged.
func (r *run) filled(n *node, input string, outputs map[string]string) string {
	for _, p := range n.Data.Params {
		if p.Name == input && p.AcceptVariable {
			return r.fill(n.text(input), outputs)
		}
	}
	return n.text(input)
}

// fill replaces {{ question }}, {{ node_0 }}, {{ $form.name }} and {{$vars.name}}.
func (r *run) fill(text string, outputs map[string]string) string {
	var out strings.Builder
	for {
		head, rest, open := strings.Cut(text, "{{")
		name, tail, closed := strings.Cut(rest, "}}")
		out.WriteString(head)
		if !open || !closed {
			if open {
				out.WriteString("{{" + rest)
			}
			return out.String()
		}
		if value, known := r.value(strings.TrimSpace(name), outputs); known {
			out.WriteString(value)
		} else {
			out.WriteString("{{" + name + "}}")
		}
		text = tail
	}
}

func (r *run) value(name string, outputs map[string]string) (string, bool) {
	if name == "question" {
		return r.q.Text, true
	}
	if key, is := strings.CutPrefix(name, "$form."); is {
		value, known := r.form[key]
		return fmt.Sprint(value), known
	}
	if key, is := strings.CutPrefix(name, "$vars."); is {
		return r.server.variable(key)
	}
	value, known := outputs[name]
	return value, known
}

// plainText removes the tags that the agent-flow editor writes.
func plainText(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var out strings.Builder
	for text != "" {
		head, rest, open := strings.Cut(text, "<")
		out.WriteString(head)
		_, tail, closed := strings.Cut(rest, ">")
		if !open || !closed {
			break
		}
		text = tail
	}
	return strings.TrimSpace(out.String())
}
