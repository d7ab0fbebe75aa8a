package scripted

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// completions is OpenAI's format:
// https://platform.openai.com/docs/api-reference/chat/create.
type completions struct{}

type completionRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ResponseFormat struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	MaxTokens           int     `json:"max_tokens"`
	MaxCompletionTokens int     `json:"max_completion_tokens"`
	Temperature         float64 `json:"temperature"`
	Stream              bool    `json:"stream"`
}

func (completions) read(body []byte) (Asked, error) {
	var r completionRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return Asked{}, fmt.Errorf("the body is no request: %w", err)
	}
	if r.Stream {
		return Asked{}, errors.New("streams are not served here; leave stream out")
	}
	a := Asked{Model: r.Model, Schema: r.ResponseFormat.JSONSchema.Schema, MaxTokens: max(r.MaxTokens, r.MaxCompletionTokens), Temperature: r.Temperature}
	for _, m := range r.Messages {
		if text := textOf(m.Content); m.Role == "system" || m.Role == "developer" {
			a.System += text
		} else {
			a.Turns = append(a.Turns, Turn{m.Role, text})
		}
	}
	for _, t := range r.Tools {
		a.Tools = append(a.Tools, Tool{t.Function.Name, t.Function.Description, t.Function.Parameters})
	}
	return a, nil
}

func (completions) answer(asked Asked, a Answer) any {
	message := map[string]any{"role": "assistant", "content": a.text()}
	finish := "stop"
	if calls := a.named(asked); len(calls) > 0 {
		message["tool_calls"], finish = functionCalls(calls), "tool_calls"
	}
	switch a.Fault {
	case FaultRefusal:
		message["content"], message["refusal"] = nil, cmp.Or(a.Text, "I cannot help with that.")
	case FaultLength:
		finish = "length"
	default:
	}
	out := map[string]any{
		"id": "chatcmpl-scripted", "object": "chat.completion", "created": time.Now().Unix(), "model": asked.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
	}
	if !a.NoUsage {
		used := a.tokens(asked)
		out["usage"] = map[string]any{"prompt_tokens": used.In, "completion_tokens": used.Out, "total_tokens": used.In + used.Out}
	}
	return out
}

func functionCalls(calls []Call) []any {
	var out []any
	for i, c := range calls {
		arguments, err := json.Marshal(c.Arguments)
		if err != nil {
			arguments = []byte("{}")
		}
		out = append(out, map[string]any{"id": fmt.Sprintf("call_%d", i+1), "type": "function", "function": map[string]any{"name": c.Name, "arguments": string(arguments)}})
	}
	return out
}

func (completions) problem(_ int, message string) any {
	return map[string]any{"error": map[string]any{"message": message, "type": "scripted", "param": nil, "code": nil}}
}

// textOf returns the text of a content, which is a string or a list of parts.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) == nil {
		for _, p := range parts {
			text += p.Text
		}
	}
	return text
}
