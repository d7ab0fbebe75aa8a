package workflow

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// StaleLookupRules returns one rule per Flow.StaleOn error that repeats the look-ups and the
// write.
func StaleLookupRules(flow *contracts.Flow, lookUps []string, write string) []contracts.Rule {
	if flow == nil || len(lookUps) == 0 {
		return nil
	}
	var rules []contracts.Rule
	for _, kind := range flow.StaleOn {
		rules = append(rules, contracts.Rule{
			Error: kind, Goto: lookUps[0], Max: contracts.MaxLookupRepeats, Region: append(slices.Clone(lookUps), write),
		})
	}
	return rules
}
