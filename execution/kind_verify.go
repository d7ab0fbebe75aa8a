package execution

import (
	"cmp"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/verdict"
)

// verify checks what was reached so far by its assertions, and by the opinion of a model if the
// step asks for one. An opinion can only lower the verdict.
//
// If the flag verifier is off it checks nothing; in shadow mode its verdict has no consequences. In
// both cases the run continues as if all assertions held, and the result says so.
type verify struct{ local }

func (v verify) start(t *activation) {
	t.row.Begin(t.now())
	if verifierOf(t) == metrics.FlagOff {
		passUnverified(t, nil)
		return
	}
	failed, err := v.check(t)
	if err != nil {
		t.fail(contracts.ErrBadExpression, err.Error(), contracts.EffectNone)
		return
	}
	status := verdict.Grade(failed, len(t.n.Spec.Verify.Assertions))
	if t.n.Spec.Verify.Judge == nil || status == contracts.VerdictBlocked {
		v.conclude(t, status, nil)
		return
	}
	v.judge(t, status)
}

// check evaluates the assertions and stores the checks in the row.
func (verify) check(t *activation) (failed int, err error) {
	t.row.Checks = nil // the node may be started again after waiting, and after a crash
	for i, assertion := range t.n.Spec.Verify.Assertions {
		ok, _, err := holds(t, assertion, nil)
		detail := verdict.AssertionText(assertion)
		if err != nil && verifierOf(t) == metrics.FlagShadow {
			detail, err = contracts.CleanSummary(detail+": "+err.Error()), nil
		}
		if err != nil {
			return 0, fmt.Errorf("assertion %d: %w", i+1, err)
		}
		if !ok {
			failed++
		}
		t.row.Checks = append(t.row.Checks, contracts.Check{Name: verdict.CheckAssertion, OK: ok, Detail: detail})
	}
	return failed, nil
}

// judge asks a model for its opinion. If there is none, the step continues without it and records
// why.
func (v verify) judge(t *activation, status contracts.VerdictStatus) {
	spec := t.n.Spec.Verify.Judge
	without := func(why string) {
		v.conclude(t, status, &contracts.Opinion{Fault: contracts.CleanSummary(why)})
	}
	skill, err := skillOf(t, spec.Skill, spec.SkillSHA256)
	switch {
	case t.calls.r.languageModel == nil:
		without("no model is configured")
		return
	case t.calls.r.cfg.JudgeMode == JudgeNever:
		without("judging is switched off")
		return
	case err != nil:
		without(err.Error())
		return
	}
	inputs, err := compactInputs(t, spec.Inputs)
	switch {
	case err != nil && verifierOf(t) == metrics.FlagShadow:
		without(err.Error())
		return
	case err != nil:
		t.fail(contracts.ErrBadExpression, "judge: "+err.Error(), contracts.EffectNone)
		return
	}
	if requestModel(t, ModelRequest{Purpose: contracts.PurposeJudge, Skill: skill, SkillSHA256: spec.SkillSHA256, Inputs: inputs, Size: contracts.SizeSmall}) == modelCallOverBudget {
		without("the tokens that a model may use are used up")
	}
}

func (v verify) reply(t *activation, d completion) {
	got := d.thinking
	failed := 0
	for _, c := range t.row.Checks {
		if !c.OK {
			failed++
		}
	}
	status := verdict.Grade(failed, len(t.n.Spec.Verify.Assertions))
	switch {
	case d.reply.Kind == ReplyNotSent:
		t.queue("room in this run", t.now().Add(firstBackoff))
	case got.Opinion != nil:
		v.conclude(t, status, got.Opinion)
	case got.Rejected != nil && t.row.Wrong == nil:
		t.row.Wrong = got.Rejected
		t.again()
	default:
		why := cmp.Or(got.Fault, "the model twice gave an answer that does not fit")
		v.conclude(t, status, &contracts.Opinion{Fault: contracts.CleanSummary(why)})
	}
}

// conclude ends the step with its verdict, lowered by the opinion if that is worse.
func (verify) conclude(t *activation, status contracts.VerdictStatus, o *contracts.Opinion) {
	if o != nil && verdict.Graver(o.Status, status) {
		t.row.Checks = append(t.row.Checks, contracts.Check{Name: verdict.CheckJudge, Detail: verdict.Reason(o)})
	}
	facts, why := verdict.Facts(status, t.row.Checks, o)
	if verifierOf(t) == metrics.FlagShadow {
		passUnverified(t, facts)
		return
	}
	t.row.Result = &Result{Summary: asText(facts[verdict.FactVerdict]), Facts: facts}
	if t.row.Result.Summary == string(contracts.VerdictBlocked) {
		t.fail(contracts.ErrPrecondition, why, contracts.EffectNone)
		return
	}
	t.end(contracts.NodeCompleted)
}

func verifierOf(t *activation) metrics.FlagMode {
	return metrics.Effective(t.run.Run.Plan.Flags).Verifier
}

// passUnverified ends the step as if all checks held; found is nil if nothing was checked.
// Dependent nodes may start; approvers are told that the result was not judged.
func passUnverified(t *activation, found map[string]any) {
	t.row.Result = &Result{Facts: verdict.Passed(found), Summary: verdict.WhyPassed(found)}
	t.end(contracts.NodeCompleted)
}
