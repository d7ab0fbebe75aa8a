package execution

import (
	"fmt"
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/model"
)

// set gives facts that are computed from those of other steps: where branches
// meet, and where a loop begins.
type set struct{ local }

func (set) start(t *turn) {
	t.row.Begin(t.now())
	facts, err := members(t, t.reader(), t.n.Spec.Set)
	if err == nil {
		err = smallEnough(facts)
	}
	if err != nil {
		t.fail(contracts.ErrBadExpression, err.Error(), contracts.EffectNone)
		return
	}
	t.row.Result = &Result{Facts: facts}
	t.end(contracts.NodeCompleted)
}

func smallEnough(facts map[string]any) error {
	raw, err := contracts.Canonical(facts)
	if err == nil && len(raw) > contracts.MaxFactsBytes {
		err = contracts.Errorf(contracts.CodeTooLarge, "the facts have %d bytes; %d are allowed", len(raw), contracts.MaxFactsBytes)
	}
	return err
}

// result gives what a workflow comes to. A member that reads what is not there is
// left out.
type result struct{ local }

func (result) start(t *turn) {
	t.row.Begin(t.now())
	spec := t.n.Spec.Result
	out := &Result{Facts: map[string]any{}}
	if summary, _, err := evaluate(t, spec.Summary); err == nil {
		out.Summary = contracts.CleanSummary(asText(summary))
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Facts)) {
		if v, _, err := evaluate(t, spec.Facts[name]); err == nil && v != nil {
			out.Facts[name] = v
		}
	}
	if err := smallEnough(out.Facts); err != nil {
		t.fail(contracts.ErrBadExpression, err.Error(), contracts.EffectNone)
		return
	}
	t.row.Result = out
	if t.n.Spec.ContinueOnError && model.FailedBefore(t.run, t.n.Node) {
		t.fail(contracts.ErrUpstream, "a step of the workflow has failed", contracts.EffectNone)
		return
	}
	t.end(contracts.NodeCompleted)
}

// verify judges what was reached so far by its assertions.
type verify struct{ local }

func (verify) start(t *turn) {
	t.row.Begin(t.now())
	failed := 0
	var checks []any
	for i, assertion := range t.n.Spec.Verify.Assertions {
		ok, _, err := holds(t, assertion, nil)
		if err != nil {
			t.fail(contracts.ErrBadExpression, fmt.Sprintf("assertion %d: %s", i+1, err), contracts.EffectNone)
			return
		}
		check := contracts.Check{Name: checkAssertion, OK: ok, Detail: assertionText(assertion)}
		if !ok {
			failed++
		}
		t.row.Checks = append(t.row.Checks, check)
		checks = append(checks, map[string]any{"name": check.Name, "ok": ok, "detail": check.Detail})
	}
	status := verdictOf(failed, len(t.n.Spec.Verify.Assertions))
	t.row.Result = &Result{
		Summary: string(status),
		Facts:   map[string]any{"verdict": string(status), "score": model.Score(status), "checks": checks},
	}
	if status == contracts.VerdictBlocked {
		t.fail(contracts.ErrPrecondition, "none of what was expected holds", contracts.EffectNone)
		return
	}
	t.end(contracts.NodeCompleted)
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
