package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// chatflow initializes every node that leads to the last ending, then runs the ending.
func (r *run) chatflow(ends []*node) (map[string]any, error) {
	end := ends[len(ends)-1]
	for _, e := range ends {
		nodes, err := r.graph.needed(e)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			if err := r.make(n); err != nil {
				return nil, said("Error: %s", err)
			}
		}
	}
	if end.ends() {
		return r.function(end)
	}
	return r.chain(end)
}

// make initializes a node, and fails if the real node would.
func (r *run) make(n *node) error {
	def, known := r.server.known.Node(n.Data.Name)
	switch {
	case !known:
		return typeError("filePath")
	case n.Data.Inputs == nil:
		return typeError("text")
	case n.Data.Params == nil:
		return typeError("find")
	}
	if def.Credential != nil && !def.Credential.Optional && !r.server.hasCredential(n.Data.Credential) {
		return errMissingCredential
	}
	if n.Data.Name == "customMCP" {
		return mcpServer(n.Data.Inputs["mcpServerConfig"])
	}
	return nil
}

var errMissingCredential = said("Missing credentials. Please pass an `apiKey`, or set the environment variable")

func (s *Server) hasCredential(id string) bool {
	return slices.ContainsFunc(s.credentials, func(c *credential) bool { return c.id == id })
}

// mcpServer validates the configuration of an MCP server, which must be a string.
func mcpServer(config any) error {
	text, is := config.(string)
	if !is {
		return said("mcpServerConfig.includes is not a function")
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil || (out["url"] == nil && out["command"] == nil) {
		return said("Invalid MCP Server Config: SyntaxError: Expected property name or '}' in JSON")
	}
	return nil
}

// function runs a custom function at the end of a chatflow, which must return text. A number is
// stored in the history before the server fails on it.
func (r *run) function(n *node) (map[string]any, error) {
	if n.Data.Name != "customFunction" {
		return nil, said("Error: the sandbox cannot end a flow with %s", n.Data.Name)
	}
	out, err := runScript(n.text("javascriptFunction"), r.variables(n.text("functionInputVariables"), nil))
	if err != nil {
		return nil, err
	}
	if number, is := out.(float64); is {
		r.server.remember(r.flow, r.q, r.server.ids.uuid(), map[string]any{"text": show(number)})
		return nil, said("TypeError: Cannot create property 'question' on number '%s'", show(number))
	}
	return map[string]any{"text": out, "isStreamValid": false}, nil
}

// variables resolves $flow, $vars and the function's own variables, given as JSON.
func (r *run) variables(own string, values map[string]string) func(string) (string, bool) {
	inputs := map[string]any{}
	if own != "" {
		_ = json.Unmarshal([]byte(own), &inputs) // invalid JSON defines no variables
	}
	return func(name string) (string, bool) {
		switch name {
		case "$flow.input":
			return r.q.Text, true
		case "$flow.chatId":
			return r.q.ChatID, true
		case "$flow.sessionId":
			return r.q.Override.SessionID, true
		}
		if v, known := values[strings.TrimPrefix(name, "$")]; known {
			return v, true
		}
		if v, known := inputs[strings.TrimPrefix(name, "$")]; known {
			return r.fill(fmt.Sprint(v), nil), true
		}
		if key, is := strings.CutPrefix(name, "$vars."); is {
			return r.server.variable(key)
		}
		return "", false
	}
}

func (s *Server) variable(name string) (string, bool) {
	for _, v := range s.variables {
		if v.name == name {
			return v.value, true
		}
	}
	return "", false
}

// chain answers for a chain or an agent: its model repeats the question.
func (r *run) chain(n *node) (map[string]any, error) {
	model := r.upstream(n, "Chat Models", "LLMs")
	if model == nil {
		return nil, said("Error: Expected a Runnable, function or object.\nInstead got an unsupported type.")
	}
	text, err := modelSays(modelName(model.Data.Inputs), r.q.Text)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"isStreamValid": r.q.Streaming && r.graph.streams([]*node{n})}
	if used := r.useTool(n); used != nil {
		out["usedTools"] = []any{used}
	}
	if docs := r.documents(n); len(docs) > 0 {
		out["sourceDocuments"] = docs
	}
	out["text"] = text
	if r.graph.streams([]*node{n}) {
		r.emit("start", "")
		r.tokens(text)
		for _, name := range []string{"usedTools", "sourceDocuments"} {
			if out[name] != nil {
				r.emit(name, out[name])
			}
		}
	}
	return out, nil
}

// upstream follows the references in inputs, not the edges, to the first node of a category.
func (r *run) upstream(n *node, categories ...string) *node {
	seen := map[string]bool{}
	var find func(n *node) *node
	find = func(n *node) *node {
		if seen[n.ID] {
			return nil
		}
		seen[n.ID] = true
		for _, next := range r.referred(n) {
			if slices.Contains(categories, next.Data.Category) {
				return next
			}
			if found := find(next); found != nil {
				return found
			}
		}
		return nil
	}
	return find(n)
}

func (r *run) referred(n *node) []*node {
	var out []*node
	for _, name := range sortedKeys(n.Data.Inputs) {
		out = append(out, r.graph.refs(n.Data.Inputs[name])...)
	}
	return out
}

func modelName(inputs map[string]any) string {
	name, _ := inputs["modelName"].(string)
	if name == "" {
		return "model"
	}
	return name
}

// modelSays returns a model's answer; two keywords make it fail.
func modelSays(model, asked string) (string, error) {
	switch {
	case strings.Contains(asked, "FAIL401"):
		return "", said("401 Unauthorized – check your API key and ensure it has access to the requested model.")
	case strings.Contains(asked, "FAIL500"):
		return "", said("500 fake upstream failure")
	}
	return fmt.Sprintf("FAKE[%s] reply to: %s", model, asked), nil
}

// useTool uses the first tool of an agent if the question asks for it.
func (r *run) useTool(n *node) map[string]any {
	if !strings.Contains(r.q.Text, "USE_TOOL") {
		return nil
	}
	for _, tool := range r.graph.refs(n.Data.Inputs["tools"]) {
		switch tool.Data.Name {
		case "calculator":
			return map[string]any{"tool": "calculator", "toolInput": map[string]any{"input": "2+3*4"}, "toolOutput": "14"}
		case "customMCP":
			if actions := mcpActions(tool.Data.Inputs["mcpActions"]); len(actions) > 0 {
				return map[string]any{
					"tool": actions[0], "toolInput": map[string]any{"a": 2, "b": 3}, "toolOutput": `[{"type":"text","text":"5"}]`,
				}
			}
		}
	}
	return nil
}

// mcpActions decodes a list, or a string that contains one.
func mcpActions(v any) []string {
	if text, is := v.(string); is {
		var out []string
		_ = json.Unmarshal([]byte(text), &out) // an invalid list means no tools, silently, as in Flowise
		return out
	}
	var out []string
	items, _ := v.([]any)
	for _, item := range items {
		out = append(out, fmt.Sprint(item))
	}
	return out
}

// documents returns the content of the plain-text loaders that a node uses.
func (r *run) documents(n *node) []any {
	if n.Data.Inputs["returnSourceDocuments"] != true && n.text("returnSourceDocuments") != "true" {
		return nil
	}
	loader := r.upstream(n, "Document Loaders")
	if loader == nil {
		return nil
	}
	return []any{map[string]any{"pageContent": loader.text("text"), "metadata": map[string]any{}}}
}
