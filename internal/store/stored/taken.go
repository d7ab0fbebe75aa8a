package stored

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// Taken has recorded, unless the sweep failed with err, what retention took that has
// no chain of its own to end: how many of what. It is called in the transaction that
// deletes them.
func Taken(err error, record func(execution.AdminAction) error, taken map[string]int) error {
	for _, what := range slices.Sorted(maps.Keys(taken)) {
		if err == nil && taken[what] > 0 {
			err = record(execution.AdminAction{
				Kind: contracts.ActSwept, Actor: "system", Subject: what, Detail: map[string]any{"count": taken[what]},
			})
		}
	}
	return err
}
