package execution

import (
	"cmp"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/model"
)

// verify judges what was reached so far by its assertions, and by the opinion of a
// model where the step asks for one, which can only lower.
type verify struct{ local }

func (v verify) start(t *turn) {
	t.row.Begin(t.now())
	failed, err := v.check(t)
	if err != nil {
		t.fail(contracts.ErrBadExpression, err.Error(), contracts.EffectNone)
		return
	}
	status := verdictOf(failed, len(t.n.Spec.Verify.Assertions))
	if t.n.Spec.Verify.Judge == nil || status == contracts.VerdictBlocked {
		v.conclude(t, status, nil)
		return
	}
	v.judge(t, status)
}

// check evaluates the assertions into the row.
func (verify) check(t *turn) (failed int, err error) {
	t.row.Checks = nil // it is started anew after waiting, and after a crash
	for i, assertion := range t.n.Spec.Verify.Assertions {
		ok, _, err := holds(t, assertion, nil)
		if err != nil {
			return 0, fmt.Errorf("assertion %d: %w", i+1, err)
		}
		if !ok {
			failed++
		}
		t.row.Checks = append(t.row.Checks, contracts.Check{Name: checkAssertion, OK: ok, Detail: assertionText(assertion)})
	}
	return failed, nil
}

// judge asks for the opinion; where there is none to be had, the step goes on
// without and says so.
func (v verify) judge(t *turn, status contracts.VerdictStatus) {
	spec := t.n.Spec.Verify.Judge
	without := func(why string) {
		v.conclude(t, status, &contracts.Opinion{Fault: contracts.CleanSummary(why)})
	}
	switch {
	case t.calls.r.mind == nil:
		without("no model is configured")
		return
	case t.calls.r.cfg.Judging == JudgeNever:
		without("judging is switched off")
		return
	}
	skill, err := skillOf(t, spec.Skill, spec.SkillSHA256)
	if err != nil {
		without(err.Error())
		return
	}
	inputs, err := compactInputs(t, spec.Inputs)
	if err != nil {
		t.fail(contracts.ErrBadExpression, "judge: "+err.Error(), contracts.EffectNone)
		return
	}
	if think(t, Thought{Purpose: contracts.PurposeJudge, Skill: skill, Inputs: inputs, Size: contracts.SizeSmall}) == thoughtTooDear {
		without("the tokens that a model may use are used up")
	}
}

func (v verify) reply(t *turn, d done) {
	got := d.thinking
	failed := 0
	for _, c := range t.row.Checks {
		if !c.OK {
			failed++
		}
	}
	status := verdictOf(failed, len(t.n.Spec.Verify.Assertions))
	switch {
	case d.reply.Kind == ReplyNotSent:
		t.queue("room in this run", t.now().Add(firstBackoff))
	case got.Opinion != nil:
		v.conclude(t, status, got.Opinion)
	case got.Wrong != nil && t.row.Wrong == nil:
		t.row.Wrong = got.Wrong
		t.again()
	default:
		why := cmp.Or(got.Fault, "the model twice gave an answer that does not fit")
		v.conclude(t, status, &contracts.Opinion{Fault: contracts.CleanSummary(why)})
	}
}

// conclude ends the step with its verdict, lowered by the opinion if that is
// graver.
func (verify) conclude(t *turn, status contracts.VerdictStatus, o *contracts.Opinion) {
	var checks []any
	for _, c := range t.row.Checks {
		checks = append(checks, map[string]any{"name": c.Name, "ok": c.OK, "detail": c.Detail})
	}
	facts := map[string]any{"checks": checks}
	why := "none of what was expected holds"
	if o != nil {
		facts["judge"] = opinionFacts(o)
		if model.Graver(o.Status, status) {
			status, why = o.Status, "the judge: "+reasonOf(o)
			t.row.Checks = append(t.row.Checks, contracts.Check{Name: model.CheckJudge, Detail: reasonOf(o)})
		}
	}
	facts["verdict"], facts["score"] = string(status), model.Score(status)
	t.row.Result = &Result{Summary: string(status), Facts: facts}
	if status == contracts.VerdictBlocked {
		t.fail(contracts.ErrPrecondition, why, contracts.EffectNone)
		return
	}
	t.end(contracts.NodeCompleted)
}

func reasonOf(o *contracts.Opinion) string {
	if len(o.Reasons) == 0 {
		return "it has doubts, and gave no reason"
	}
	return contracts.CleanSummary(o.Reasons[0])
}

func opinionFacts(o *contracts.Opinion) map[string]any {
	if o.Fault != "" {
		return map[string]any{"fault": o.Fault}
	}
	reasons := make([]any, len(o.Reasons))
	for i, r := range o.Reasons {
		reasons[i] = contracts.CleanSummary(r)
	}
	return map[string]any{"verdict": string(o.Status), "reasons": reasons}
}

const checkAssertion = "assertion"

// verdictOf grades assertions: all hold, some do, or none.
func verdictOf(failed, of int) contracts.VerdictStatus {
	switch failed {
	case 0:
		return contracts.VerdictVerified
	case of:
		return contracts.VerdictBlocked
	default:
		return contracts.VerdictDegraded
	}
}

func assertionText(c contracts.Condition) string {
	if c.Expr != "" {
		return contracts.CleanSummary(c.Expr)
	}
	raw, err := contracts.Canonical(c)
	if err != nil {
		return c.Path
	}
	return contracts.CleanSummary(string(raw))
}
