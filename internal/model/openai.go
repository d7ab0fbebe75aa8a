package model

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/reasoning"
)

// OpenAIBaseURL is the URL of the vendor's API.
const OpenAIBaseURL = "https://api.openai.com/v1/"

// OpenAIConfig configures an OpenAI engine. Model is required.
type OpenAIConfig struct {
	Model string
	// BaseURL includes the version, such as http://127.0.0.1:11434/v1.
	BaseURL string
	// Key is sent as a bearer token; self-hosted servers often need none.
	Key string
	// Retries is how often 408, 409, 429, 5xx and lost connections are retried; negative means never, 0
	// takes 2.
	Retries int
	// MaxDelay bounds the wait that a server requests by Retry-After; 0 takes 20 s.
	MaxDelay time.Duration
	HTTP     *http.Client
}

// OpenAI is an Engine for one model. It remembers which parameters the server rejects, so that each is
// tried once. It is safe for concurrent use.
type OpenAI struct {
	name    string
	service sdk.ChatCompletionService
	vendor  bool // the vendor's own server, which no longer accepts max_tokens

	noSchema      atomic.Bool // the server rejects response_format
	noTemperature atomic.Bool // the model rejects a temperature
}

var _ reasoning.Engine = (*OpenAI)(nil)

// NewOpenAI returns an Engine.
func NewOpenAI(c OpenAIConfig) (*OpenAI, error) {
	if c.Model == "" {
		return nil, errors.New("openai: no model is named")
	}
	base := cmp.Or(c.BaseURL, OpenAIBaseURL)
	at, err := url.Parse(base)
	if err != nil || at.Host == "" || (at.Scheme != "http" && at.Scheme != "https") {
		return nil, errors.New("openai: the base URL must be absolute, such as http://127.0.0.1:11434/v1")
	}
	options := []option.RequestOption{
		option.WithBaseURL(base), option.WithMaxRetries(max(0, cmp.Or(c.Retries, 2))),
		option.WithMaxRetryDelay(cmp.Or(c.MaxDelay, 20*time.Second)),
		option.WithAPIKey(cmp.Or(c.Key, "none")),
	}
	if c.HTTP != nil {
		options = append(options, option.WithHTTPClient(c.HTTP))
	}
	return &OpenAI{name: c.Model, service: sdk.NewChatCompletionService(options...), vendor: at.Host == "api.openai.com"}, nil
}

// Name returns the model's name.
func (e *OpenAI) Name() string { return e.name }

// Complete calls the model. If the server rejects the schema constraint or the temperature, it repeats
// the call without.
func (e *OpenAI) Complete(ctx context.Context, r reasoning.Request) (reasoning.Reply, error) {
	for {
		params := e.params(r)
		answer, err := e.service.New(ctx, params)
		if err == nil {
			return e.reply(answer)
		}
		if !e.learns(err, params) {
			return reasoning.Reply{}, e.fault(ctx, err)
		}
	}
}

// learns records a rejected parameter and reports whether to repeat the call. Each parameter is
// recorded once, so this terminates.
func (e *OpenAI) learns(err error, sent sdk.ChatCompletionNewParams) bool {
	var refused *sdk.Error
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusBadRequest {
		return false
	}
	if refused.Param == "temperature" && sent.Temperature.Valid() {
		return e.noTemperature.CompareAndSwap(false, true)
	}
	if sent.ResponseFormat.OfJSONSchema != nil {
		return e.noSchema.CompareAndSwap(false, true)
	}
	return false
}

func (e *OpenAI) params(r reasoning.Request) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{Model: e.name}
	if text := r.Instructions().String(); text != "" {
		p.Messages = append(p.Messages, sdk.SystemMessage(e.withSchema(text, r.Schema)))
	}
	for _, t := range r.Turns {
		if t.Role == reasoning.RoleAssistant {
			p.Messages = append(p.Messages, sdk.AssistantMessage(t.Text.String()))
		} else {
			p.Messages = append(p.Messages, sdk.UserMessage(t.Text.String()))
		}
	}
	if e.vendor {
		p.MaxCompletionTokens = sdk.Int(int64(r.MaxOutputTokens))
	} else {
		p.MaxTokens = sdk.Int(int64(r.MaxOutputTokens))
	}
	if !e.noTemperature.Load() {
		p.Temperature = sdk.Float(r.Temperature)
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: t.Name, Description: sdk.String(t.Description), Parameters: t.Schema}))
	}
	if r.Schema != nil && !e.noSchema.Load() {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Schema: r.Schema}}
	}
	return p
}

// withSchema adds the schema to the instructions: servers that do not constrain the answer by it need
// it there.
func (e *OpenAI) withSchema(text string, schema map[string]any) string {
	if schema == nil {
		return text
	}
	raw, err := contracts.Canonical(schema)
	if err != nil {
		return text
	}
	return text + "\n\n# Schema of the answer\n\n" + string(raw)
}

func (e *OpenAI) reply(answer *sdk.ChatCompletion) (reasoning.Reply, error) {
	if answer == nil || len(answer.Choices) == 0 {
		return reasoning.Reply{}, reasoning.GarbledError(e.name, errors.New("no choices in the answer"))
	}
	choice := answer.Choices[0]
	if choice.Message.Refusal != "" || choice.FinishReason == "content_filter" {
		return reasoning.Reply{}, reasoning.Refusal(e.name, cmp.Or(choice.Message.Refusal, "its content filter"))
	}
	out := reasoning.Reply{
		Text: choice.Message.Content, Cut: choice.FinishReason == "length",
		Usage: contracts.Tokens{In: int(answer.Usage.PromptTokens), Out: int(answer.Usage.CompletionTokens)},
	}
	for _, c := range choice.Message.ToolCalls {
		out.Calls = append(out.Calls, reasoning.ToolCall{Name: c.Function.Name, Arguments: []byte(c.Function.Arguments)})
	}
	return out, nil
}

func (e *OpenAI) fault(ctx context.Context, err error) error {
	var answered *sdk.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &answered):
		return reasoning.StatusFault(e.name, answered.StatusCode, retryAfter(answered.Response), answered.Message, err)
	default:
		return err
	}
}
