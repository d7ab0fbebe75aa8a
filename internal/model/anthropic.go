// Package model implements reasoning.Engine and embeddings: for servers that speak OpenAI's formats,
// and for Anthropic's messages API. It can keep a journal of requests and replies. It builds no
// prompts and judges no answers.
package model

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/reasoning"
)

// AnthropicBaseURL is the URL of the vendor's API.
const AnthropicBaseURL = "https://api.anthropic.com/"

// AnthropicConfig configures an Anthropic engine. Model and Key are required.
type AnthropicConfig struct {
	Model string
	// BaseURL is the URL without the version, such as https://api.anthropic.com/.
	BaseURL string
	Key     string
	// Retries is how often 408, 409, 429, 5xx and lost connections are retried; negative means never, 0
	// takes 2.
	Retries int
	HTTP    *http.Client
}

// Anthropic is an Engine for one model. It is safe for concurrent use.
type Anthropic struct {
	name    string
	service sdk.MessageService
}

var _ reasoning.Engine = (*Anthropic)(nil)

// NewAnthropic returns an Engine.
func NewAnthropic(c AnthropicConfig) (*Anthropic, error) {
	if c.Model == "" || c.Key == "" {
		return nil, errors.New("anthropic: a model and a key are needed")
	}
	base := cmp.Or(c.BaseURL, AnthropicBaseURL)
	if at, err := url.Parse(base); err != nil || at.Host == "" || (at.Scheme != "http" && at.Scheme != "https") {
		return nil, errors.New("anthropic: the base URL must be absolute, such as https://api.anthropic.com/")
	}
	options := []option.RequestOption{option.WithBaseURL(base), option.WithAPIKey(c.Key), option.WithMaxRetries(max(0, cmp.Or(c.Retries, 2)))}
	if c.HTTP != nil {
		options = append(options, option.WithHTTPClient(c.HTTP))
	}
	return &Anthropic{name: c.Model, service: sdk.NewMessageService(options...)}, nil
}

// Name returns the model's name.
func (e *Anthropic) Name() string { return e.name }

// anthropicAnswerTool constrains an answer to a schema: the model is forced to call this tool, and its
// arguments are the answer.
const anthropicAnswerTool = "answer"

// Complete calls the model.
func (e *Anthropic) Complete(ctx context.Context, r reasoning.Request) (reasoning.Reply, error) {
	answer, err := e.service.New(ctx, e.params(r))
	if err != nil {
		return reasoning.Reply{}, e.fault(ctx, err)
	}
	return e.reply(answer, r)
}

func (e *Anthropic) params(r reasoning.Request) sdk.MessageNewParams {
	p := sdk.MessageNewParams{Model: e.name, MaxTokens: int64(r.MaxOutputTokens), Temperature: sdk.Float(min(r.Temperature, 1))}
	if text := r.System.String(); text != "" {
		// The vendor caches the tools and the system text up to this mark.
		p.System = []sdk.TextBlockParam{{Text: text, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	if text := r.Context.String(); text != "" {
		p.System = append(p.System, sdk.TextBlockParam{Text: text})
	}
	if len(r.Turns) > 0 && r.Turns[0].Role == reasoning.RoleAssistant { // the format requires a user message first
		p.Messages = append(p.Messages, sdk.NewUserMessage(sdk.NewTextBlock("…")))
	}
	for _, t := range r.Turns {
		block := sdk.NewTextBlock(t.Text.String())
		if t.Role == reasoning.RoleAssistant {
			p.Messages = append(p.Messages, sdk.NewAssistantMessage(block))
		} else {
			p.Messages = append(p.Messages, sdk.NewUserMessage(block))
		}
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, anthropicTool(t))
	}
	if r.Schema != nil {
		p.Tools = append(p.Tools, anthropicTool(reasoning.Tool{Name: anthropicAnswerTool, Description: "Gives the answer.", Schema: r.Schema}))
		p.ToolChoice = sdk.ToolChoiceParamOfTool(anthropicAnswerTool)
	}
	return p
}

// anthropicTool passes the whole schema: keywords for which the library has no field are sent
// unchanged.
func anthropicTool(t reasoning.Tool) sdk.ToolUnionParam {
	schema := sdk.ToolInputSchemaParam{ExtraFields: map[string]any{}}
	for name, value := range t.Schema {
		switch name {
		case "type":
		case "properties":
			schema.Properties = value
		default:
			schema.ExtraFields[name] = value
		}
	}
	return sdk.ToolUnionParam{OfTool: &sdk.ToolParam{Name: t.Name, Description: sdk.String(t.Description), InputSchema: schema}}
}

func (e *Anthropic) reply(answer *sdk.Message, r reasoning.Request) (reasoning.Reply, error) {
	if answer == nil || answer.StopReason == "" {
		return reasoning.Reply{}, reasoning.GarbledError(e.name, errors.New("no stop reason in the answer"))
	}
	out := reasoning.Reply{
		Cut:   answer.StopReason == sdk.StopReasonMaxTokens,
		Usage: contracts.Tokens{In: int(answer.Usage.InputTokens + answer.Usage.CacheReadInputTokens + answer.Usage.CacheCreationInputTokens), Out: int(answer.Usage.OutputTokens)},
	}
	for _, block := range answer.Content {
		switch {
		case block.Type == "text":
			out.Text += block.Text
		case block.Type == "tool_use" && r.Schema != nil && block.Name == anthropicAnswerTool:
			out.Text = string(block.Input)
		case block.Type == "tool_use":
			out.Calls = append(out.Calls, reasoning.ToolCall{Name: block.Name, Arguments: block.Input})
		}
	}
	if answer.StopReason == sdk.StopReasonRefusal {
		return reasoning.Reply{}, reasoning.Refusal(e.name, cmp.Or(out.Text, "without a reason"))
	}
	return out, nil
}

func (e *Anthropic) fault(ctx context.Context, err error) error {
	var answered *sdk.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &answered):
		return reasoning.StatusFault(e.name, answered.StatusCode, retryAfter(answered.Response), answered.Error(), err)
	default:
		return err
	}
}

func retryAfter(r *http.Response) string {
	if r == nil {
		return ""
	}
	return r.Header.Get("Retry-After")
}
