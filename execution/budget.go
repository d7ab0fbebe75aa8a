package execution

import "github.com/manifold-run/manifold/contracts"

// mayTryAgain tells whether the node has machine time and the run retries left.
func (l *loop) mayTryAgain(n *node) bool {
	if n.rec.MachineMS >= int64(n.policy.NodeTimeoutMS) {
		return false
	}
	limit := l.stored.Plan.Budgets.MaxRetries
	return limit <= 0 || l.spent(func(rec NodeRecord) int { return max(rec.Attempts-1, 0) }) < limit
}

// mayCall tells whether the run may make one more call; a call that was begun
// is always brought to its end.
func (l *loop) mayCall(n *node) bool {
	limit := l.stored.Plan.Budgets.MaxToolCalls
	if limit <= 0 || n.rec.Attempts > 0 || n.rec.Operation != "" {
		return true
	}
	if l.spent(func(rec NodeRecord) int { return rec.Attempts }) < limit {
		return true
	}
	l.fail(n, contracts.ErrBudget, "the run may make no more calls: max_tool_calls is used up", contracts.EffectNone)
	return false
}

// spent adds up what the nodes have used. It looks at all of them, which only
// runs with a budget pay for.
func (l *loop) spent(of func(NodeRecord) int) int {
	sum := 0
	for _, n := range l.nodes {
		sum += of(n.rec)
	}
	return sum
}
