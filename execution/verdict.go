package execution

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/runmetrics"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/execution/verdict"
)

// verdictJudge is the opinion of a model on the whole run. It is not stored: a new owner that takes
// the run before its verdict is committed asks again.
type verdictJudge struct {
	cancel  context.CancelFunc // ends the call in flight
	opinion *contracts.Opinion // nil until the call has ended
}

func (j *verdictJudge) cutOff() {
	if j.cancel != nil {
		j.cancel()
	}
}

// finishOrPark finishes the run or parks it. It reports false if there is more to do. It commits.
func (o *owner) finishOrPark() bool {
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
	o.take(runstate.RunFinished{Verdict: v})
	_, ok := o.commit(ending{over: true, verdict: withMetrics(o, v)})
	return ok || o.lost
}

// withMetrics adds the figures of a run to its verdict, so that lists and metrics need not read the
// whole run. If the gates cannot be read, the figures are omitted.
func withMetrics(o *owner, v *contracts.Verdict) *contracts.Verdict {
	if v == nil {
		return nil
	}
	var gates []contracts.Interrupt
	if slices.ContainsFunc(o.run.Nodes(), func(n *runstate.Node) bool { return n.Row.GateID != "" }) {
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

// readAgain repeats the reads that may succeed now according to the verdict, with the nodes that
// depend on them, unless a write does. It is done once per run.
func readAgain(k *deps, v *contracts.Verdict) bool {
	if v == nil || v.Shadow || v.Status != contracts.VerdictRetry || k.run.Cancelling() {
		return false
	}
	again := runstate.RetryReads(k.run)
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

// ask asks a model for its opinion on a run, if the site has enabled that.
func (j *verdictJudge) ask(k *deps, v *contracts.Verdict) bool {
	r := k.calls.r
	switch {
	case v == nil || metrics.Effective(k.run.Run.Plan.Flags).Verifier == metrics.FlagOff:
		return false
	case r.languageModel == nil || r.cfg.JudgeMode != JudgeRuns || j.opinion != nil:
		return false
	case v.Status == contracts.VerdictBlocked || k.run.Run.Plan.DryRun || k.run.Cancelling():
		return false
	}
	th := ModelRequest{Purpose: contracts.PurposeJudge, Size: contracts.SizeSmall, Inputs: verdict.CaseOf(k.run, *v)}
	needs := r.languageModel.EstimateTokens(th)
	if b := runstate.TokenBudget(k.run); b.Bound && float64(needs) > b.Limit-b.Used {
		j.opinion = &contracts.Opinion{Fault: "the tokens that a model may use are used up"}
		return false
	}
	j.cancel = k.calls.startModelCall(nil, th, needs)
	return true
}

// take stores the opinion of a model. A call without an opinion changes nothing in the verdict.
func (j *verdictJudge) take(d completion) {
	got := d.thinking
	if got.Opinion == nil {
		why := cmp.Or(got.Fault, d.reply.Message, "the model gave an answer that does not fit")
		got.Opinion = &contracts.Opinion{Fault: contracts.CleanSummary(why)}
	}
	j.opinion = got.Opinion
	j.opinion.Calls = got.Calls
}
