package execution

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/model"
	"github.com/manifold-run/manifold/execution/runmetrics"
	"github.com/manifold-run/manifold/execution/verdict"
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
	v := verdict.Of(o.run)
	if readAgain(&o.kit, v) || beginAnswer(&o.kit) || o.judge.ask(&o.kit, v) {
		return false
	}
	if o.judge.opinion != nil {
		lowered := verdict.WithOpinion(o.run, *v, *o.judge.opinion)
		v = &lowered
	}
	o.take(model.Judged{Verdict: v})
	_, ok := o.commit(ending{over: true, verdict: summedUp(o, v)})
	return ok || o.lost
}

// summedUp adds the figures that lists and metrics have of a run, so that they need not
// read it whole; what cannot be read is left out, and counted by whoever asks.
func summedUp(o *owner, v *contracts.Verdict) *contracts.Verdict {
	if v == nil {
		return nil
	}
	var gates []contracts.Interrupt
	if slices.ContainsFunc(o.run.Nodes(), func(n *model.Node) bool { return n.Row.GateID != "" }) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), 10*time.Second)
		defer cancel()
		s, err := o.r.store.ReadSignals(ctx, o.run.Run.ID)
		if err != nil {
			return v
		}
		gates = s.Gates
	}
	out := *v
	runmetrics.SumUp(&out, o.run, gates, o.now())
	return &out
}

// readAgain makes the reads once more that a verdict says may succeed by now, with
// what rests on them, unless a write does. It is done once in a run.
func readAgain(k *kit, v *contracts.Verdict) bool {
	if v == nil || v.Shadow || v.Status != contracts.VerdictRetry || k.run.Cancelling() {
		return false
	}
	again := model.ReadAgain(k.run)
	if len(again.Nodes) == 0 || k.run.Len()+len(again.Nodes) > nodeLimit(k.run) {
		return false
	}
	if limit := k.run.Run.Plan.Budgets.MaxRetries; limit > 0 {
		if _, retries := k.run.Calls(); retries >= limit {
			return false
		}
	}
	k.take(again)
	return true
}

// ask asks a model for its opinion of a run, where the site wants that.
func (j *judging) ask(k *kit, v *contracts.Verdict) bool {
	r := k.calls.r
	switch {
	case v == nil || metrics.Effective(k.run.Run.Plan.Flags).Verifier == metrics.FlagOff:
		return false
	case r.mind == nil || r.cfg.Judging != JudgeRuns || j.opinion != nil:
		return false
	case v.Status == contracts.VerdictBlocked || k.run.Run.Plan.DryRun || k.run.Cancelling():
		return false
	}
	th := Thought{Purpose: contracts.PurposeJudge, Size: contracts.SizeSmall, Inputs: verdict.CaseOf(k.run, *v)}
	needs := r.mind.Needs(th)
	if b := model.TokenBudget(k.run); b.Bound && float64(needs) > b.Limit-b.Used {
		j.opinion = &contracts.Opinion{Fault: "the tokens that a model may use are used up"}
		return false
	}
	j.cancel = k.calls.think(nil, th, needs)
	return true
}

// take takes the opinion of the run; a model that gives none changes nothing.
func (j *judging) take(d done) {
	got := d.thinking
	if got.Opinion == nil {
		why := cmp.Or(got.Fault, d.reply.Message, "the model gave an answer that does not fit")
		got.Opinion = &contracts.Opinion{Fault: contracts.CleanSummary(why)}
	}
	j.opinion = got.Opinion
	j.opinion.Calls = got.Calls
}
