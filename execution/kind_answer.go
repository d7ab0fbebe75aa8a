package execution

import (
	"cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/execution/verdict"
)

// answer words what the run found, by a model. Each sentence is held to what was
// found before it is recorded; where none is left, the tables are the answer.
type answer struct{ local }

// beginAnswer appends the node that words the answer, where a model is to word it and
// there is something to word.
func beginAnswer(k *deps) bool {
	r := k.calls.r
	if r.languageModel == nil || !r.cfg.Answers || k.run.Run.Plan.DryRun || k.run.Cancelling() || k.run.Len() >= nodeLimit(k.run) {
		return false
	}
	by, node, ok := verdict.AnswerNode(k.run)
	if ok {
		k.take(runstate.AnswerNodeAdded{By: by, Node: node})
	}
	return ok
}

func (answer) start(t *activation) {
	if t.calls.r.languageModel == nil {
		t.fail(contracts.ErrNeedsModel, "no model is configured", contracts.EffectNone)
		return
	}
	th := ModelRequest{Purpose: contracts.PurposeAnswer, Inputs: verdict.WordingOf(t.run, t.env().catalog()).Inputs, Output: verdict.WordingSchema(), Size: contracts.SizeSmall}
	if requestModel(t, th) == modelCallOverBudget {
		t.fail(contracts.ErrBudget, "the tokens that a model may use are used up", contracts.EffectNone)
	}
}

func (answer) reply(t *activation, d completion) {
	got := d.thinking
	switch {
	case d.reply.Kind == ReplyNotSent:
		t.queue("room in this run", t.now().Add(firstBackoff))
	case got.Facts != nil:
		t.row.Result = verdict.WordingOf(t.run, t.env().catalog()).Result(got.Facts)
		t.end(contracts.NodeCompleted)
	case got.Rejected != nil && t.row.Wrong == nil:
		t.row.Wrong = got.Rejected
		t.again()
	default:
		t.fail(contracts.ErrReasoningFailed, cmp.Or(got.Fault, "the model twice gave an answer that does not fit"), contracts.EffectNone)
	}
}
