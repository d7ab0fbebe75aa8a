package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
)

// messages is Anthropic's format: https://docs.anthropic.com/en/api/messages.
type messages struct{}

type messageRequest struct {
	Model    string          `json:"model"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice struct {
		Type, Name string
	} `json:"tool_choice"`
	MaxTokens   int     `json:"max_tokens"`
	Temperature float64 `json:"temperature"`
	Stream      bool    `json:"stream"`
}

func (messages) read(body []byte) (Asked, error) {
	var r messageRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return Asked{}, fmt.Errorf("the body is no request: %w", err)
	}
	if r.Stream {
		return Asked{}, errors.New("streams are not served here; leave stream out")
	}
	if r.MaxTokens <= 0 {
		return Asked{}, errors.New("max_tokens: field required")
	}
	a := Asked{Model: r.Model, System: textOf(r.System), Kept: keptOf(r.System), MaxTokens: r.MaxTokens, Temperature: r.Temperature}
	for _, m := range r.Messages {
		a.Turns = append(a.Turns, Turn{m.Role, textOf(m.Content)})
	}
	for _, t := range r.Tools {
		if r.ToolChoice.Type == "tool" && r.ToolChoice.Name == t.Name {
			a.Schema = t.InputSchema
			continue
		}
		a.Tools = append(a.Tools, Tool{t.Name, t.Description, t.InputSchema})
	}
	return a, nil
}

// keptOf returns the text of a content up to its last cache mark.
func keptOf(content json.RawMessage) string {
	var parts []struct {
		Text  string          `json:"text"`
		Cache json.RawMessage `json:"cache_control"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	text, kept := "", ""
	for _, p := range parts {
		if text += p.Text; len(p.Cache) > 0 {
			kept = text
		}
	}
	return kept
}

func (messages) answer(asked Asked, a Answer) any {
	stop := "end_turn"
	var content []any
	if asked.Schema != nil && json.Valid([]byte(a.text())) {
		content, stop = append(content, toolUse(0, "answer", json.RawMessage(a.text()))), "tool_use"
	} else if text := a.text(); text != "" {
		content = append(content, map[string]any{"type": "text", "text": text})
	}
	for i, c := range a.named(asked) {
		content, stop = append(content, toolUse(i+1, c.Name, c.Arguments)), "tool_use"
	}
	switch a.Fault {
	case FaultRefusal:
		stop = "refusal"
	case FaultLength:
		stop = "max_tokens"
	default:
	}
	if content == nil {
		content = []any{}
	}
	used := a.tokens(asked)
	if a.NoUsage {
		used.In, used.Out = 0, 0
	}
	return map[string]any{
		"id": "msg_scripted", "type": "message", "role": "assistant", "model": asked.Model, "content": content, "stop_reason": stop, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": used.In, "output_tokens": used.Out},
	}
}

func toolUse(n int, name string, input any) any {
	return map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", n), "name": name, "input": input}
}

func (messages) problem(_ int, message string) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": "scripted", "message": message}}
}
