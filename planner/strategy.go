package planner

import (
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// strategy classifies a plan by its calls; searches, joins and posts do not count.
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
				calls++ // it represents several calls
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

// goal returns the request in one line, or the titles of its intents.
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
