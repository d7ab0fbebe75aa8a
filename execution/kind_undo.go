package execution

import (
	"fmt"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// undo compensates what was written before a review, because a person answered so. It appends one
// call for each write that took effect, in any round, the last write first. Each call is a write
// with its own gate. It starts when the previous one has succeeded, so that nothing is undone
// before what depends on it.
type undo struct{ local }

func (u undo) start(t *activation) {
	if t.n.Row.Expanded {
		u.conclude(t)
		return
	}
	calls, err := runstate.UndoCalls(t.run, t.n.Node)
	if err != nil {
		t.fail(contracts.ErrBadExpression, err.Error(), contracts.EffectNone)
		return
	}
	if limit := nodeLimit(t.run); t.run.Len()+len(calls) > limit {
		t.fail(contracts.ErrBudget, fmt.Sprintf("to take back %d writes would make more than %d nodes", len(calls), limit), contracts.EffectNone)
		return
	}
	t.take(runstate.NodeExpanded{Row: t.row, Copies: calls})
}

// conclude ends the node with the result of its calls: completed only if all succeeded.
func (undo) conclude(t *activation) {
	done, of, rejected := runstate.Undone(t.n.Node)
	t.row.Begin(t.now())
	t.row.Result = &Result{Summary: fmt.Sprintf("taken back: %d of %d", done, of)}
	switch {
	case done == of:
		t.end(contracts.NodeCompleted)
	case rejected:
		t.end(contracts.NodeRejected)
	default:
		t.fail(contracts.ErrUpstream, fmt.Sprintf("only %d of %d writes were taken back", done, of), contracts.EffectNone)
	}
}
