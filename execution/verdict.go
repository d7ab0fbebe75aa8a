package execution

import (
	"cmp"
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/model"
)

// judging is the opinion of a whole run that its owner asks for. It is not stored:
// who takes the run up before its verdict is committed asks anew.
type judging struct {
	cancel  context.CancelFunc // ends the call under way
	opinion *contracts.Opinion // nil until it has come, or will not
}

func (j *judging) cutOff() {
	if j.cancel != nil {
		j.cancel()
	}
}

// rest finishes the run or parks it; false means that there is more to do. It
// commits.
func (o *owner) rest() bool {
	if !o.run.Ended() {
		return o.park()
	}
	verdict := o.run.Verdict()
	if o.readAgain(verdict) || o.askJudge(verdict) {
		return false
	}
	if o.judge.opinion != nil {
		verdict = o.run.WithOpinion(verdict, *o.judge.opinion)
	}
	o.take(model.Judged{Verdict: verdict})
	_, ok := o.commit(ending{verdict: &verdict})
	return ok || o.lost
}

// readAgain makes the reads once more that a verdict says may succeed by now, with
// what rests on them, unless a write does. It is done once in a run.
func (o *owner) readAgain(v contracts.Verdict) bool {
	if v.Status != contracts.VerdictRetry || o.run.Cancelling() {
		return false
	}
	again := model.ReadAgain(o.run)
	if len(again.Nodes) == 0 || o.run.Len()+len(again.Nodes) > nodeLimit(o.run) {
		return false
	}
	if limit := o.run.Run.Plan.Budgets.MaxRetries; limit > 0 {
		if _, retries := o.run.Calls(); retries >= limit {
			return false
		}
	}
	o.take(again)
	return true
}

// askJudge asks a model for its opinion of a run, where the site wants that.
func (o *owner) askJudge(v contracts.Verdict) bool {
	switch {
	case o.r.mind == nil || o.r.cfg.Judging != JudgeRuns || o.judge.opinion != nil:
		return false
	case v.Status == contracts.VerdictBlocked || o.run.Run.Plan.DryRun || o.run.Cancelling():
		return false
	}
	th := Thought{Purpose: contracts.PurposeJudge, Size: contracts.SizeSmall, Inputs: caseOf(o.run, v)}
	needs := o.r.mind.Needs(th)
	if b := model.TokenBudget(o.run); b.Bound && float64(needs) > b.Limit-b.Used {
		o.judge.opinion = &contracts.Opinion{Fault: "the tokens that a model may use are used up"}
		return false
	}
	o.judge.cancel = o.calls.think(nil, th, needs)
	return true
}

// judged takes the opinion of the run; a model that gives none changes nothing.
func (o *owner) judged(d done) {
	got := d.thinking
	if o.stopping || o.lost {
		return // whoever takes the run asks anew
	}
	if got.Opinion == nil {
		why := cmp.Or(got.Fault, d.reply.Message, "the model gave an answer that does not fit")
		got.Opinion = &contracts.Opinion{Fault: contracts.CleanSummary(why)}
	}
	o.judge.opinion = got.Opinion
	o.judge.opinion.Calls = got.Calls
}
