package stored

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// Taken records the numbers of deleted rows that have no chain of their own, unless the sweep
// failed with err. It must be called in the transaction that deletes them.
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
