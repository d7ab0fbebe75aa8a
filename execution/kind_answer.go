package execution

import (
	"cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/execution/verdict"
)

// answer lets a model word the results of the run. Each sentence is checked against the results
// before it is recorded; if none passes, the tables are the answer.
type answer struct{ local }

// beginAnswer appends the answer node if a model is configured, answers are enabled and the run has
// results to word. It reports whether it did.
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
