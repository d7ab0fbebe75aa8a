package execution

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// set computes facts from those of other steps, where branches meet and where a loop begins.
type set struct{ local }

func (set) start(t *activation) {
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

// result computes the result of a workflow. Members whose expressions read missing values are
// omitted.
type result struct{ local }

func (result) start(t *activation) {
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
	if t.n.Spec.ContinueOnError && runstate.FailedBefore(t.run, t.n.Node) {
		t.fail(contracts.ErrUpstream, "a step of the workflow has failed", contracts.EffectNone)
		return
	}
	t.end(contracts.NodeCompleted)
}
