package ask

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Inquiry are the parameters of a question to a chatflow.
type Inquiry struct {
	site.FlowRef
	Question  string         `json:"question,omitempty" min:"1" max:"20000" description:"What to ask it"`
	Form      map[string]any `json:"form,omitempty" description:"Values for a flow that begins with a form, by their names; such a flow is asked no question"`
	SessionID string         `json:"session_id,omitempty" max:"200" description:"Conversation to continue"`
	Stream    bool           `json:"stream,omitempty" description:"Let the answer come in pieces, where the flow can"`
	Override  map[string]any `json:"override_config,omitempty" description:"Inputs of nodes to replace, where the flow permits it"`
}

// questionOrForm requires one of the two.
func questionOrForm() json.RawMessage {
	return json.RawMessage(`{"anyOf":[{"required":["question"]},{"required":["form"]}]}`)
}

// fits refuses an inquiry that the flow would answer with nonsense. A flow that starts with a form
// takes a question only in a conversation whose form was filled in; Flowise itself answers anyway,
// with placeholders in the text.
func (q Inquiry) fits(f api.Flow, g *flow.Graph) error {
	name := present.Clip(f.Name, 80)
	fields, begins := flow.FormOf(g)
	if f.Type != api.Agentflow {
		begins = false
	}
	var problems []string
	switch {
	case q.Question != "" && q.Form != nil:
		return domainkit.Refusef(contracts.ErrInvalidParameters, "a flow takes a question or a form, not both")
	case !begins && q.Form != nil:
		return domainkit.Refusef(contracts.ErrInvalidParameters, "%s begins with a question, not with a form; give question", name)
	case begins && q.Form == nil && q.SessionID == "":
		problems = []string{"give them as form, or the session_id of a conversation that has had them"}
	case begins && q.Form != nil:
		problems = flow.CheckForm(fields, q.Form)
	}
	if len(problems) == 0 {
		return nil
	}
	texts := make([]string, len(fields))
	for i, field := range fields {
		texts[i] = field.String()
	}
	refusal := domainkit.Refusef(site.ErrFormNeeded, "%s begins with a form, and needs the values %s: %s", name, strings.Join(texts, ", "), strings.Join(problems, "; "))
	refusal.Message = present.Clip(refusal.Message, 1000)
	refusal.Detail = map[string]any{"form": fields[:min(50, len(fields))]}
	return refusal
}

// Answer is the answer of a chatflow.
type Answer struct {
	ChatflowID string `json:"chatflow_id"`
	Answer     string `json:"answer"`
	SessionID  string `json:"session_id"`
	// MessageID is the id of the answer in the flow's history.
	MessageID string   `json:"message_id"`
	Tools     []string `json:"tools"`
	Streamed  bool     `json:"streamed"`
	Pieces    int      `json:"pieces"`
	LatencyMS int64    `json:"latency_ms"`
}

// Summary returns the shortened answer.
func (a Answer) Summary() string { return present.Clip(a.Answer, 280) }

// maxAnswer bounds the answer in the facts; the artifact has all of it.
const maxAnswer = 8000

func (k *Asker) predictChatflow(ctx context.Context, call domainkit.Call, in Inquiry) (domainkit.Result[Answer], error) {
	none := domainkit.Result[Answer]{}
	client, err := k.site.Pool.Client(call.Instance)
	if err != nil {
		return none, site.Failure(err)
	}
	f, g, err := k.site.GraphOf(ctx, call, in.ChatflowID)
	if err != nil {
		return none, err
	}
	if err := in.fits(f, g); err != nil {
		return none, err
	}
	if err := k.rules.Harmless(ctx, call, f, g); err != nil {
		return none, err
	}
	out, err := ask(ctx, client, in, api.Question{Question: in.Question, Form: in.Form, ChatID: in.SessionID, Override: in.Override})
	if err != nil {
		return none, notAnswered(err)
	}
	return out, nil
}

// ask sends a question once and reads the answer, complete or streamed as requested.
func ask(ctx context.Context, client *api.Client, in Inquiry, q api.Question) (domainkit.Result[Answer], error) {
	begun, pieces := time.Now(), 0
	var got api.Answer
	var err error
	if in.Stream {
		got, err = client.Stream(ctx, in.ChatflowID, q, func(e api.Event) error {
			if e.Name == "token" {
				pieces++
			}
			return nil
		})
	} else {
		got, err = client.Predict(ctx, in.ChatflowID, q)
	}
	if err != nil {
		return domainkit.Result[Answer]{}, err
	}
	out := Answer{
		ChatflowID: in.ChatflowID, Answer: present.ClipLong(got.Text, maxAnswer), SessionID: got.SessionID, MessageID: got.ChatMessageID,
		Tools: toolsOf(got), Streamed: got.Streamed, Pieces: pieces, LatencyMS: time.Since(begun).Milliseconds(),
	}
	return domainkit.Result[Answer]{Facts: out, Artifacts: map[string]any{"answer": got}}, nil
}

// notAnswered returns an error that is not retryable: the flow may have had effects before it
// failed.
func notAnswered(err error) error {
	e, is := api.AsError(err)
	if !is {
		return site.Failure(err)
	}
	refusal, said := errors.AsType[*contracts.ToolError](site.Failure(err))
	if !said {
		return site.Failure(err)
	}
	refusal.Retryable = e.Kind == api.KindBusy
	if e.Kind == api.KindFailed {
		reason := flow.Hide(e.Reason())
		verdict := Conclude([]Judged{{Name: "prediction", Trials: 1, Problems: []string{reason}}})
		refusal.Message = "the flow failed: " + reason + "; " + Advice(verdict.Category, reason)
		refusal.Detail = map[string]any{"category": verdict.Category, "fix": verdict.Fix}
	}
	return refusal
}

// toolsOf returns the tools that the answer used.
func toolsOf(a api.Answer) []string {
	out := []string{}
	for _, t := range a.UsedTools {
		out = append(out, t.Tool)
	}
	return out
}
