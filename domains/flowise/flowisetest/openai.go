package flowisetest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
)

// OpenAI serves chat completions, streamed or not, and embeddings. It repeats the last message. In
// a message, USE_TOOL calls a tool: the one named after it, else the first one, with the JSON
// object after the name, if any. A requested JSON Schema is respected. FAIL401 and FAIL500 return
// that status.
type OpenAI struct {
	Log

	// Choose returns the tool that a question needs, with its arguments, like a model with tool
	// use; "" answers with text.
	Choose func(question string, tools []string) (tool string, arguments map[string]any)
}

type completion struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	Input    json.RawMessage `json:"input"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	ResponseFormat struct {
		JSONSchema struct {
			Schema shape `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	ToolChoice json.RawMessage `json:"tool_choice"`
	Tools      []struct {
		Function struct {
			Name       string `json:"name"`
			Parameters shape  `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

// shape is the part of a JSON Schema that structured answers use.
type shape struct {
	Type       string           `json:"type"`
	Enum       []any            `json:"enum"`
	Properties map[string]shape `json:"properties"`
	Items      *shape           `json:"items"`
}

// fill returns a value of the shape; all its strings are text.
func (s shape) fill(text string) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "object":
		out := map[string]any{}
		for name, p := range s.Properties {
			out[name] = p.fill(text)
		}
		return out
	case s.Type == "array" && s.Items != nil:
		return []any{s.Items.fill(text)}
	case s.Type == "number" || s.Type == "integer":
		return 1
	case s.Type == "boolean":
		return true
	}
	return text
}

// ServeHTTP implements http.Handler.
func (o *OpenAI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 10<<20))
	if err != nil {
		return
	}
	o.add(r, body)
	var ask completion
	if len(body) > 0 && json.Unmarshal(body, &ask) != nil {
		refuse(w, http.StatusBadRequest, "the body is no JSON")
		return
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": "fake-model", "object": "model"}}})
	case strings.HasSuffix(r.URL.Path, "/embeddings"):
		writeJSON(w, http.StatusOK, embeddings(ask))
	case strings.HasSuffix(r.URL.Path, "/chat/completions") && len(ask.Messages) > 0:
		o.chat(w, ask)
	default:
		refuse(w, http.StatusNotFound, "no such path "+r.URL.Path)
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error"}})
}

// embeddings returns equal vectors for texts with the same beginning.
func embeddings(ask completion) map[string]any {
	var texts []any
	if json.Unmarshal(ask.Input, &texts) != nil {
		texts = []any{string(ask.Input)}
	}
	data := []any{}
	for i, text := range texts {
		vector := make([]float64, 8)
		for k, b := range []byte(fmt.Sprint(text)) {
			vector[k%8] += float64(b%17) / 17
		}
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": vector})
	}
	return map[string]any{"object": "list", "model": ask.Model, "data": data, "usage": map[string]any{"prompt_tokens": 1, "total_tokens": 1}}
}

func (o *OpenAI) chat(w http.ResponseWriter, ask completion) {
	last := ask.Messages[len(ask.Messages)-1]
	var text string
	if json.Unmarshal(last.Content, &text) != nil {
		text = string(last.Content)
	}
	switch {
	case strings.Contains(text, "FAIL401"):
		refuse(w, http.StatusUnauthorized, "Incorrect API key provided")
		return
	case strings.Contains(text, "FAIL500"):
		refuse(w, http.StatusInternalServerError, "fake upstream failure")
		return
	}
	message, finish := map[string]any{"role": "assistant", "content": fmt.Sprintf("FAKE[%s] reply to: %s", ask.Model, text)}, "stop"
	if wished := ask.ResponseFormat.JSONSchema.Schema; wished.Type != "" {
		raw, err := json.Marshal(wished.fill(text))
		if err != nil {
			raw = []byte("{}")
		}
		message["content"] = string(raw)
	}
	if name := ask.forcedTool(); name != "" {
		message, finish = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{ask.call(name, text)}}, "tool_calls"
	} else if len(ask.Tools) > 0 && last.Role != "tool" && strings.Contains(text, "USE_TOOL") {
		message, finish = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{toolCall(ask, text)}}, "tool_calls"
	} else if name, arguments := o.chosen(ask, text); name != "" && last.Role != "tool" {
		message, finish = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{called(name, arguments)}}, "tool_calls"
	}
	if ask.Stream {
		streamChat(w, ask.Model, message, finish)
		return
	}
	out := frame(ask.Model, "chat.completion")
	out["choices"] = []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}
	out["usage"] = usage()
	writeJSON(w, http.StatusOK, out)
}

func usage() map[string]any {
	return map[string]any{"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
}

func frame(model, object string) map[string]any {
	return map[string]any{"id": "chatcmpl-fake", "created": 1700000000, "model": model, "object": object}
}

// forcedTool returns the tool that must be called, or "".
func (ask completion) forcedTool() string {
	var choice struct{ Function struct{ Name string } }
	if json.Unmarshal(ask.ToolChoice, &choice) != nil {
		return "" // a string such as "auto"
	}
	return choice.Function.Name
}

// toolCall calls the named tool, or the first one. An object after the name gives the arguments; by
// default a and b are 2 and 3, and input is a sum.
func toolCall(ask completion, text string) map[string]any {
	_, said, _ := strings.Cut(text, "USE_TOOL ")
	said, object, with := strings.Cut(said, " {")
	name := ask.Tools[0].Function.Name
	for _, tool := range ask.Tools {
		if len(tool.Function.Name) > 0 && strings.HasPrefix(said, tool.Function.Name) {
			name = tool.Function.Name
		}
	}
	call := ask.call(name, "x")
	if with {
		call["function"] = map[string]any{"name": name, "arguments": "{" + object}
	}
	return call
}

// chosen returns the tool that a question needs, or "".
func (o *OpenAI) chosen(ask completion, question string) (name string, arguments map[string]any) {
	if o.Choose == nil || len(ask.Tools) == 0 {
		return "", nil
	}
	names := make([]string, len(ask.Tools))
	for i, tool := range ask.Tools {
		names[i] = tool.Function.Name
	}
	return o.Choose(question, names)
}

func (ask completion) call(name, text string) map[string]any {
	args := map[string]any{}
	for _, tool := range ask.Tools {
		if tool.Function.Name == name {
			for p, s := range tool.Function.Parameters.Properties {
				args[p] = s.fill(text)
			}
		}
	}
	for p, v := range map[string]any{"a": 2, "b": 3, "input": "2+3*4"} {
		if _, taken := args[p]; taken {
			args[p] = v
		}
	}
	return called(name, args)
}

func called(name string, arguments map[string]any) map[string]any {
	encoded, err := json.Marshal(arguments)
	if err != nil {
		encoded = []byte("{}")
	}
	return map[string]any{"index": 0, "id": "call_1", "type": "function", "function": map[string]any{"name": name, "arguments": string(encoded)}}
}

func streamChat(w http.ResponseWriter, model string, message map[string]any, finish string) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta map[string]any, reason any, extra map[string]any) {
		out := frame(model, "chat.completion.chunk")
		out["choices"] = []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}}
		maps.Copy(out, extra)
		raw, err := json.Marshal(out)
		if err != nil {
			raw = []byte("{}")
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", raw)
	}
	send(map[string]any{"role": "assistant", "content": ""}, nil, nil)
	if calls := message["tool_calls"]; calls != nil {
		send(map[string]any{"tool_calls": calls}, nil, nil)
	}
	if text, is := message["content"].(string); is {
		for _, word := range words(text) {
			send(map[string]any{"content": word}, nil, nil)
		}
	}
	send(map[string]any{}, finish, nil)
	send(nil, nil, map[string]any{"choices": []any{}, "usage": usage()})
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
