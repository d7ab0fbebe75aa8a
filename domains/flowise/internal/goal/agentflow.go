package goal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// byAgentflow builds an agent flow: a start, with a form if wanted; API calls as steps; and an
// agent, or a plain LLM if there are no tools, after the cases of a condition. Documents would need
// a store that an agent-flow node can reach itself, so they are left to byNodes.
func (t Tools) byAgentflow(f Features) (Approach, error) {
	if len(f.Branches) > 0 && (len(f.Documents) > 0 || f.Moderation != "") {
		return Approach{}, refuse("a condition needs an agent flow, and documents and moderation a flow of connected nodes; leave one of them out")
	}
	if f.Reply != "" || len(f.Documents) > 0 || f.Moderation != "" {
		return Approach{}, nil
	}
	b := t.builder(f)
	last := b.start()
	for _, url := range f.APIs {
		method := "GET"
		if f.Post {
			method = "POST"
		}
		call := b.add("httpAgentflow", map[string]json.RawMessage{"method": raw(method), "url": raw(url)})
		b.connect(last, call, "")
		last = call
	}
	output := ""
	if len(f.Branches) > 0 {
		var err error
		if last, output, err = b.branches(last); err != nil {
			return Approach{}, err
		}
	}
	if f.Otherwise != "" {
		b.join(last, output, b.add(replyNode, map[string]json.RawMessage{replyParam: raw(f.Otherwise)}))
		return Approach{Value: ByAgentflow, Label: "Agent flow: Condition with fixed answers", Kind: flow.Agentflow, Ops: b.ops, Open: b.open}, nil
	}
	kind := "llmAgentflow"
	if f.Agent {
		kind = "agentAgentflow"
	}
	def, known := t.Defs.Node(kind)
	if !known {
		return Approach{}, refuse("this Flowise has no agent flows")
	}
	answers, err := b.thinker(def, last)
	if err != nil {
		return Approach{}, err
	}
	b.join(last, output, answers)
	label := fmt.Sprintf("Agent flow: %s", def.Label)
	if len(f.Branches) > 0 {
		label += " behind a condition"
	}
	if len(f.APIs) > 0 {
		label += " after HTTP calls"
	}
	if len(f.Form) > 0 {
		label += ", begun by a form"
	}
	return Approach{Value: ByAgentflow, Label: label, Kind: flow.Agentflow, Ops: b.ops, Open: b.open}, nil
}

var notName = regexp.MustCompile(`[^a-z0-9]+`)

// fieldName converts a label to the name of a form field.
func fieldName(label string) string {
	label = strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(label), "the "), "a ")
	return cmp.Or(strings.Trim(notName.ReplaceAllString(label, "_"), "_"), "field")
}

// start adds the start node, with a message or a form.
func (b *builder) start() string {
	if len(b.f.Form) == 0 {
		return b.add("startAgentflow", nil)
	}
	var fields []map[string]any
	for _, label := range b.f.Form {
		fields = append(fields, map[string]any{"type": "string", "label": label, "name": fieldName(label), "addOptions": ""})
	}
	return b.add("startAgentflow", map[string]json.RawMessage{
		"startInputType": raw("formInput"), "formTitle": raw("Please fill in"), "formDescription": raw("What is needed to begin"), "formInputTypes": raw(fields),
	})
}

// thinker adds the node that answers, with its model, tools and instructions.
func (b *builder) thinker(def *knowledge.Definition, after string) (string, error) {
	prefix := strings.TrimSuffix(def.Name, "Agentflow")
	model, err := b.one(&knowledge.Param{Label: "Model", Type: "BaseChatModel"})
	if err != nil {
		return "", err
	}
	chosen, _ := b.Defs.Node(model[0].kind)
	params := map[string]json.RawMessage{prefix + "Model": raw(chosen.Name)}
	if b.f.ModelName != "" && chosen.Name == b.f.Model {
		if name := modelParam(chosen); name != "" {
			params[prefix+"ModelConfig"] = raw(map[string]any{name: b.f.ModelName})
		}
	}
	system := instructions(cmp.Or(b.f.Instructions, "answer what you are asked"))
	if strings.HasPrefix(after, "httpAgentflow") {
		system += "\nWhat the service said: {{ " + after + " }}"
	}
	var form strings.Builder
	for _, field := range b.f.Form {
		fmt.Fprintf(&form, "\n%s: {{ $form.%s }}", field, fieldName(field))
	}
	system += form.String()
	params[prefix+"Messages"] = raw([]map[string]string{{"role": "system", "content": system}})
	if b.f.Memory != nil && !*b.f.Memory {
		params[prefix+"EnableMemory"] = raw(false)
	}
	tools := b.f.Tools
	if _, has := def.Input(prefix + "Tools"); has && len(tools) > 0 {
		var items []map[string]any
		for _, tool := range tools {
			items = append(items, map[string]any{prefix + "SelectedTool": tool})
		}
		params[prefix+"Tools"] = raw(items)
	}
	id := b.add(def.Name, params)
	b.bind(chosen, id, prefix+"Model")
	for i, tool := range tools {
		if d, known := b.Defs.Node(tool); known && def.Name == "agentAgentflow" {
			b.bind(d, id, fmt.Sprintf("%sTools[%d].%sSelectedTool", prefix, i, prefix))
		}
	}
	return id, nil
}
