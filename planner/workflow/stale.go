package workflow

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// LookAgain are the rules of a write whose look-ups may be out of date when it is
// approved: for each error that says so, its region, the look-ups and then the
// write, becomes a new round.
func LookAgain(flow *contracts.Flow, lookUps []string, write string) []contracts.Rule {
	if flow == nil || len(lookUps) == 0 {
		return nil
	}
	var rules []contracts.Rule
	for _, kind := range flow.StaleOn {
		rules = append(rules, contracts.Rule{
			Error: kind, Goto: lookUps[0], Max: contracts.MaxLooksAgain, Region: append(slices.Clone(lookUps), write),
		})
	}
	return rules
}
