package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/internal/bridge"
)

// ErrAskedMidway is the error type of a write that asked a question while it was running, and may
// have had an effect before.
const ErrAskedMidway = "domain.asked_midway"

// The answers to a question that links to a page.
const (
	answerDone    = "done"
	answerDecline = "decline"
)

// memory is the state that a call returns with its questions and receives with their answers, possibly
// in another process.
type memory struct {
	Tool string `json:"tool"`
	// Key is the idempotency key of the first call: all calls with the same key are one to the server,
	// however often it asks.
	Key string `json:"key,omitempty"`
	// State is the server's own state, which it gets back.
	State string `json:"state,omitempty"`
	// Asked are the last questions, Answered the earlier answers by the digest of their question.
	Asked    []question                   `json:"asked"`
	Answered map[string]*sdk.ElicitResult `json:"answered,omitempty"`
}

// question is an elicitation of a server; ID is the server's name for it, "" if it has none.
type question struct {
	ID     string            `json:"id,omitempty"`
	Params *sdk.ElicitParams `json:"params"`
}

// digest identifies a question by its content.
func digest(p *sdk.ElicitParams) string {
	hash, err := contracts.Hash(map[string]any{"message": p.Message, "schema": p.RequestedSchema, "url": p.URL})
	if err != nil {
		return ""
	}
	return hash
}

// remembered returns the memory that came with a call, with the answers to the last questions.
func remembered(c bridge.Call) (memory, sdk.InputResponseMap, error) {
	m := memory{Tool: c.Name, Key: c.Context.IdempotencyKey}
	in := c.Context.Input
	if in == nil {
		return m, nil, nil
	}
	if err := contracts.DecodeStrict([]byte(in.State), &m); err != nil || m.Tool != c.Name {
		return m, nil, domainkit.Refusef(contracts.ErrInvalidParameters, "the answers are not those to what %s asked", c.Name)
	}
	all, responses := map[string]*sdk.ElicitResult{}, sdk.InputResponseMap{}
	maps.Copy(all, m.Answered)
	for n, q := range m.Asked {
		answer := answerTo(n, q.Params, in.Answers)
		all[digest(q.Params)] = answer
		if q.ID != "" {
			responses[q.ID] = answer
		}
	}
	m.Answered, m.Asked = all, nil
	return m, responses, nil
}

// ask returns the error that puts the server's questions to a person.
func (m memory) ask(asked []question, state string) error {
	m.Asked, m.State = asked, state
	needs := contracts.InputRequest{}
	for n, q := range asked {
		these, err := questionsOf(n, q.Params)
		if err != nil {
			return domainkit.Refusef(contracts.ErrUpstream, "%s asks what cannot be asked: %s", m.Tool, contracts.CleanSummary(err.Error()))
		}
		needs.Questions = append(needs.Questions, these...)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("what %s asks: %w", m.Tool, err)
	}
	needs.State = string(raw)
	return domainkit.Ask(needs, "%s asks: %s", m.Tool, contracts.CleanSummary(asked[0].Params.Message))
}

// inAnswer handles questions in the result of a tool. The protocol repeats the call with the
// answers, so it has had no effect yet.
func (m memory) inAnswer(answer *sdk.CallToolResult) error {
	if len(answer.InputRequests) == 0 {
		return domainkit.Retryf(contracts.ErrUpstream, "the MCP server has too much to do for %s just now", m.Tool)
	}
	var asked []question
	for _, id := range slices.Sorted(maps.Keys(answer.InputRequests)) {
		p, ok := answer.InputRequests[id].(*sdk.ElicitParams)
		if !ok {
			return domainkit.Refusef("domain.needs_input", "%s asks for a model or for folders, which Manifold gives to no server", m.Tool)
		}
		asked = append(asked, question{id, p})
	}
	return m.ask(asked, answer.RequestState)
}

// meanwhile handles questions that were asked during a call. A write may have had an effect before: it
// is repeated only if the overlay says that it has not.
func (m memory) meanwhile(c bridge.Call, params []*sdk.ElicitParams) error {
	if c.Writes && c.Tool.AskEffect != contracts.EffectNone {
		return domainkit.Failf(ErrAskedMidway, contracts.EffectUnknown,
			"%s asked %q in the middle of a write, when nobody could answer; what it has done is not known (\"ask_effect: none\" in the overlay says that it asks first)",
			c.Name, contracts.CleanSummary(params[0].Message))
	}
	asked := make([]question, len(params))
	for n, p := range params {
		asked[n].Params = p
	}
	return m.ask(asked, "")
}

// pages handles an error that requires pages to be opened first; it returns nil for other errors.
func (m memory) pages(refused *jsonrpc.Error) error {
	var data struct {
		Elicitations []*sdk.ElicitParams `json:"elicitations"`
	}
	if refused.Code != sdk.CodeURLElicitationRequired || json.Unmarshal(refused.Data, &data) != nil || len(data.Elicitations) == 0 {
		return nil //nolint:nilerr // it is another refusal
	}
	asked := make([]question, len(data.Elicitations))
	for n, p := range data.Elicitations {
		asked[n].Params = p
	}
	return m.ask(asked, "")
}

// form is the schema of a form, which the protocol requires to be flat.
type form struct {
	Properties map[string]field `json:"properties"`
	Required   []string         `json:"required"`
}

// field is one property of a form, and its original schema.
type field struct {
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Type        string   `json:"type"`
	Enum        []any    `json:"enum"`
	EnumNames   []string `json:"enumNames"`
	OneOf       []choice `json:"oneOf"`
	Items       *struct {
		Enum  []any    `json:"enum"`
		AnyOf []choice `json:"anyOf"`
	} `json:"items"`
	Default any `json:"default"`

	schema map[string]any
}

type choice struct {
	Const any    `json:"const"`
	Title string `json:"title"`
}

func formOf(p *sdk.ElicitParams) (form, error) {
	var f form
	var schemas struct {
		Properties map[string]map[string]any `json:"properties"`
	}
	raw, err := json.Marshal(p.RequestedSchema)
	if err == nil {
		err = json.Unmarshal(raw, &f)
	}
	if err == nil {
		err = json.Unmarshal(raw, &schemas)
	}
	for name, one := range f.Properties {
		one.schema = schemas.Properties[name]
		f.Properties[name] = one
	}
	return f, err
}

// names returns the fields: the required ones in their order, then the others.
func (f form) names() []string {
	names := slices.DeleteFunc(slices.Clone(f.Required), func(name string) bool { _, there := f.Properties[name]; return !there })
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// choices returns the values of a field that is chosen from a list.
func (f field) choices() []choice {
	list, from := slices.Clone(f.OneOf), f.Enum
	if f.Items != nil {
		list, from = slices.Clone(f.Items.AnyOf), f.Items.Enum
	}
	for n, value := range from {
		title := fmt.Sprint(value)
		if n < len(f.EnumNames) {
			title = f.EnumNames[n]
		}
		list = append(list, choice{value, title})
	}
	return list
}

// questionsOf converts an elicitation to questions: one for a page, one for each field of a form,
// one for a form without fields.
func questionsOf(n int, p *sdk.ElicitParams) ([]contracts.InputQuestion, error) {
	if p.URL != "" || p.Mode == "url" {
		return []contracts.InputQuestion{{
			ID: questionID(n, ""), Prompt: shortened(p.Message) + " Open the page, and say \"done\" when you are.", Link: p.URL,
			Options: []contracts.InterruptOption{{ID: answerDone, Label: "Done"}, {ID: answerDecline, Label: "Decline"}},
		}}, secure(p.URL)
	}
	f, err := formOf(p)
	if err != nil {
		return nil, err
	}
	if len(f.Properties) == 0 {
		return []contracts.InputQuestion{{ID: questionID(n, ""), Prompt: shortened(p.Message), Schema: map[string]any{"type": "boolean"}}}, nil
	}
	var out []contracts.InputQuestion
	for _, name := range f.names() {
		q := f.Properties[name].question(name)
		q.ID, q.Prompt = questionID(n, name), shortened(p.Message)+" – "+q.Prompt
		q.Optional = !slices.Contains(f.Required, name) && q.Schema["type"] != "boolean"
		out = append(out, q)
	}
	return out, nil
}

func questionID(n int, name string) string { return fmt.Sprintf("%d/%s", n, name) }

// shortened returns a server's text as a summary of at most 160 characters.
func shortened(text string) string {
	const most = 160
	runes := []rune(contracts.CleanSummary(text))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// question returns the question for a field.
func (f field) question(name string) contracts.InputQuestion {
	q := contracts.InputQuestion{Prompt: cmp.Or(f.Title, name)}
	if f.Description != "" {
		q.Prompt += ": " + f.Description
	}
	if f.Default != nil {
		q.Prompt += fmt.Sprintf(" (else %v)", f.Default)
	}
	choices := f.choices()
	if f.Type == "array" {
		words := make([]string, len(choices))
		for i, c := range choices {
			words[i] = fmt.Sprint(c.Const)
			q.Prompt += []string{"; one or more, with commas between: ", ", "}[min(i, 1)] + words[i]
		}
		one := "(" + strings.Join(quoted(words), "|") + ")"
		q.Schema = map[string]any{"type": "string", "pattern": "^" + one + "( *, *" + one + ")*$"}
	} else if len(choices) > 0 {
		var values []any
		for i, c := range choices {
			values = append(values, c.Const)
			q.Options = append(q.Options, contracts.InterruptOption{ID: fmt.Sprint(i + 1), Label: cmp.Or(c.Title, fmt.Sprint(c.Const)), Value: c.Const})
		}
		q.Schema = map[string]any{"enum": values}
	} else {
		q.Schema = map[string]any{}
		for _, key := range []string{"type", "format", "pattern", "minLength", "maxLength", "minimum", "maximum"} {
			if v, said := f.schema[key]; said {
				q.Schema[key] = v
			}
		}
	}
	q.Prompt = contracts.CleanSummary(q.Prompt)
	return q
}

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = regexp.QuoteMeta(w)
	}
	return out
}

// answerTo converts a person's answers to the result of an elicitation.
func answerTo(n int, p *sdk.ElicitParams, answers map[string]any) *sdk.ElicitResult {
	whole := answers[questionID(n, "")]
	f, err := formOf(p)
	switch {
	case p.URL != "" && whole == answerDone:
		return &sdk.ElicitResult{Action: "accept"}
	case p.URL != "" || err != nil || len(f.Properties) == 0 && whole != true:
		return &sdk.ElicitResult{Action: "decline"}
	}
	content := map[string]any{}
	for name, field := range f.Properties {
		answer, given := answers[questionID(n, name)]
		if text, ok := answer.(string); ok && field.Type == "array" {
			answer = field.several(text)
		}
		if given {
			content[name] = answer
		}
	}
	return &sdk.ElicitResult{Action: "accept", Content: content}
}

// several returns the values of a list that was answered with commas.
func (f field) several(text string) []any {
	out := []any{}
	for part := range strings.SplitSeq(text, ",") {
		for _, c := range f.choices() {
			if fmt.Sprint(c.Const) == strings.TrimSpace(part) {
				out = append(out, c.Const)
			}
		}
	}
	return out
}
