package execution

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

const (
	// maxInputs limits how often one call may ask before it fails.
	maxInputs = 10
	// skipAnswer skips a question, skipRest all questions that are left.
	skipAnswer = "skip"
	skipRest   = "skip rest"
)

// needsInput asks a person for input that a call requires. Only a call without an effect may ask:
// it is made again with the answers, possibly days later. The answers to a write are part of a new
// action that needs approval.
func needsInput(t *activation, e *contracts.ToolError) bool {
	if e == nil || e.Type != contracts.ErrNeedsInput || e.Needs == nil || e.EffectOf() != contracts.EffectNone || t.run.Cancelling() {
		return false
	}
	fault := e.Needs.Fault()
	switch {
	case fault != "":
		t.fail(contracts.ErrUpstream, t.n.Spec.Tool+" asks what cannot be asked: "+fault, contracts.EffectNone)
	case t.row.Input != nil && t.row.Input.Times >= maxInputs:
		t.fail(contracts.ErrUpstream, t.n.Spec.Tool+" asks again and again: "+t.masked(e.Message), contracts.EffectNone)
	case t.run.Run.Plan.Unattended:
		t.fail(contracts.ErrNeedsPerson, "this needs a person: "+t.masked(e.Message), contracts.EffectNone)
	default:
		t.abortWrite()
		t.row.Input = t.row.Input.Asking(t.n.ID(), *e.Needs)
		t.row.Operation, t.row.AttemptAt, t.row.Error, t.row.Doubtful, t.row.ApprovedSHA256 = "", noTime, nil, false, ""
		askNext(t)
	}
	return true
}

// askNext asks the next open question.
func askNext(t *activation) {
	q := t.row.Input.Open()
	i := contracts.Interrupt{
		Type: contracts.InterruptClarification, Prompt: t.masked(t.n.Spec.Tool + " asks: " + q.Prompt),
		Options: q.Options, ResponseSchema: q.Schema, Reason: "a call needs an answer to go on",
		Requesters: requesters(t.run.Run.Plan.Owner, nil), Warning: answerWarning(t),
	}
	if q.Link != "" {
		i.Show = map[string]any{"link": q.Link}
	}
	if i.ResponseSchema == nil && len(i.Options) == 0 {
		i.ResponseSchema = map[string]any{"type": "string", "minLength": 1}
	}
	if q.Optional {
		i.Options = append(slices.Clip(i.Options), contracts.InterruptOption{ID: skipAnswer, Label: "Leave it open"})
		if t.row.Input.With(q.ID, nil).Open() != nil && t.row.Input.Rest() {
			i.Options = append(i.Options, contracts.InterruptOption{ID: skipRest, Label: "Leave the rest open"})
		}
	}
	t.row.Step = runstate.StepInput
	t.ask(i, contracts.NodeAwaitingInput)
}

// takeInput handles the answer to a question of a call. After the last answer the call is made
// again.
func takeInput(t *activation, last contracts.InterruptDecided) {
	q, answer := t.row.Input.Open(), t.n.Gate.Response
	rest := q.Optional && answer == skipRest
	if rest || q.Optional && answer == skipAnswer {
		answer = nil
	}
	if answer != nil && q.Link == "" {
		noteContributor(t, last)
	}
	t.row.Input = t.row.Input.With(q.ID, answer)
	for rest && t.row.Input.Open() != nil {
		t.row.Input = t.row.Input.With(t.row.Input.Open().ID, nil)
	}
	if t.row.Input.Open() != nil {
		askNext(t)
		return
	}
	t.row.Step = runstate.StepNone
	t.again()
}
