package planner

import (
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// strategy names the shape of a plan by its calls; searches, joins and posts
// are details of a call.
func strategy(nodes []contracts.Node, frames map[string]contracts.Frame) contracts.Strategy {
	if whole, ok := frames[""]; ok {
		return contracts.StrategyWorkflow + contracts.Strategy(whole.Workflow)
	}
	calls, writes, followups := 0, 0, 0
	for _, n := range nodes {
		switch {
		case n.Role == contracts.RoleFollowup:
			followups++
		case n.Kind == contracts.KindTool && n.Role == "" && n.Policy != nil:
			calls++
			if n.Policy.SideEffectClass.Writes() {
				writes++
			}
			if n.ForEach != nil {
				calls++ // it stands for several
			}
		}
	}
	switch {
	case followups > 0:
		return contracts.StrategyComposed
	case calls == 1:
		return contracts.StrategySingle
	case writes > 0:
		return contracts.StrategyReadWrite
	default:
		return contracts.StrategyParallelRead
	}
}

// goal is the request in one line, or what its intents do.
func goal(text string, asks []*plannedIntent) string {
	if said := contracts.CleanSummary(text); said != "" {
		return said
	}
	parts := make([]string, len(asks))
	for i, a := range asks {
		parts[i] = a.target.title()
	}
	return contracts.CleanSummary(strings.Join(parts, "; "))
}
