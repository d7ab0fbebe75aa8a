package execution

import (
	"github.com/manifold-run/manifold/contracts"
)

// reason asks a model. Without a model or a valid answer it uses its fallback: a read or a
// proposal, whose facts must match the output schema of the step.
type reason struct{ read }

func (r reason) start(t *activation) {
	if t.row.Fallback != "" {
		r.read.start(t)
		return
	}
	if t.calls.r.languageModel == nil {
		r.fallBack(t, contracts.ErrNeedsModel, "no model is configured")
		return
	}
	th, err := modelRequestOf(t)
	if err != nil {
		r.fallBack(t, contracts.ErrReasoningFailed, err.Error())
		return
	}
	if requestModel(t, th) != modelCallOverBudget {
		return
	}
	if t.n.Spec.Tool == "" && t.n.InWorkflow() {
		overBudget(t, contracts.BudgetTokens)
		return
	}
	r.fallBack(t, contracts.ErrBudget, "the tokens that a model may use are used up")
}

// modelRequestOf returns the request of the step to a model.
func modelRequestOf(t *activation) (ModelRequest, error) {
	spec := t.n.Spec.Reason
	skill, err := skillOf(t, spec.Skill, spec.SkillSHA256)
	if err != nil {
		return ModelRequest{}, err
	}
	inputs, err := compactInputs(t, spec.Inputs)
	return ModelRequest{
		Purpose: contracts.PurposeReason, Skill: skill, SkillSHA256: spec.SkillSHA256, Inputs: inputs, Output: spec.OutputSchema,
		MaxOutputTokens: spec.MaxOutputTokens, Size: spec.Size,
	}, err
}

// fallBack uses the fallback, and records why; a step without one fails.
func (r reason) fallBack(t *activation, kind, why string) {
	why = contracts.CleanSummary(why)
	if t.n.Spec.Tool == "" {
		t.fail(kind, why+", and the step has no fallback", contracts.EffectNone)
		return
	}
	t.row.Fallback, t.row.Wrong = why, nil
	r.read.start(t)
}

func (r reason) reply(t *activation, d completion) {
	if d.task == taskModel {
		r.takeResponse(t, d)
		return
	}
	if d.task == taskCall && d.reply.Kind == ReplyResult && d.reply.Result.OK {
		if faults := promised(t, d.reply.Result.Facts); len(faults) > 0 {
			message := t.n.Spec.Tool + " did not give what the step promises: " + contracts.Invalid("", faults...).Error()
			t.fail(contracts.ErrReasoningFailed, message, contracts.EffectNone)
			return
		}
	}
	r.read.reply(t, d)
}

// takeResponse handles the answer of a model: valid facts, an answer that is repaired once, or
// none.
func (r reason) takeResponse(t *activation, d completion) {
	got := d.thinking
	switch {
	case d.reply.Kind == ReplyNotSent:
		t.queue("room in this run", t.now().Add(firstBackoff))
	case got.Facts != nil && len(promised(t, got.Facts)) == 0 && smallEnough(got.Facts) == nil:
		summary, _ := got.Facts["summary"].(string)
		t.row.Result = &Result{Summary: contracts.CleanSummary(summary), Facts: got.Facts}
		t.end(contracts.NodeCompleted)
	case got.Rejected != nil && t.row.Wrong == nil:
		t.row.Wrong = got.Rejected
		t.again()
	case got.Fault != "":
		r.fallBack(t, contracts.ErrReasoningFailed, got.Fault)
	default:
		r.fallBack(t, contracts.ErrReasoningFailed, "the model twice gave an answer that does not fit")
	}
}

// promised validates facts against the output schema of the step.
func promised(t *activation, facts map[string]any) []contracts.Fault {
	raw, err := contracts.Canonical(t.n.Spec.Reason.OutputSchema)
	if err != nil {
		return []contracts.Fault{{Message: err.Error()}}
	}
	schema, err := contracts.CompileSchema(raw)
	if err != nil {
		return []contracts.Fault{{Message: err.Error()}}
	}
	return schema.Validate(asAny(facts))
}
