package execution

import (
	"fmt"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// repeat is a call for each item of a list that is only known during the run. It appends its copies
// by a ledger entry (the plan itself never changes) and ends as their join.
type repeat struct{ local }

func (repeat) start(t *activation) {
	if t.n.Row.Expanded {
		join{}.start(t)
		return
	}
	items, err := itemsOf(t)
	if err != nil {
		t.fail(expressionFault(t.n), err.Error(), contracts.EffectNone)
		return
	}
	limit := nodeLimit(t.run)
	if t.run.Len()+len(items) > limit {
		t.fail(contracts.ErrBudget, fmt.Sprintf("%d items would make more than %d nodes", len(items), limit), contracts.EffectNone)
		return
	}
	copies := make([]contracts.Node, len(items))
	for i, item := range items {
		copies[i] = copyOf(t.n, i, item)
	}
	t.take(runstate.NodeExpanded{Row: t.row, Copies: copies})
}

func itemsOf(t *activation) ([]any, error) {
	items := t.n.Spec.ForEach.Items
	value, _, err := evaluate(t, items)
	if err != nil {
		return nil, err
	}
	list, ok := value.([]any)
	if !ok {
		return nil, contracts.Errorf(contracts.CodeInvalid, "%s is no list", items)
	}
	return list, nil
}

func copyOf(n *node, i int, item any) contracts.Node {
	c := n.Spec
	c.NodeID = fmt.Sprintf("%s[%d]", n.ID(), i)
	c.ForEach, c.ForNode, c.Item, c.Required = nil, n.ID(), item, n.Writes() && !n.Spec.ContinueOnError
	c.BranchID, c.Group, c.GroupLimit = c.NodeID, n.ID(), n.Spec.ForEach.MaxConcurrency
	c.Role, c.When, c.Round, c.AddedBy = "", nil, nil, ""
	c.On, c.Spend, c.ContinueOnError = nil, nil, false // they apply to the step as a whole
	return c
}
