package execution

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// GetInterrupt returns one interrupt.
func GetInterrupt(ctx context.Context, store Gates, id string) (contracts.Interrupt, error) {
	at, err := store.InterruptAt(ctx, id)
	return at.Interrupt, err
}

// maxUpdates limits how often a change is computed again after a conflict. One competing change
// succeeds each time, so this is how many may decide one gate at the same time.
const maxUpdates = 64

// UpdateInterrupt changes an open interrupt. change gets the current interrupt and the store's
// time; its result is committed. If the interrupt was changed in the meantime, change is called
// again. For an interrupt that is not open, it returns conflict with the interrupt as Detail. It
// wakes the run.
func UpdateInterrupt(ctx context.Context, store Gates, id string, change func(*contracts.Interrupt, time.Time) error) (contracts.Interrupt, error) {
	for try := 1; ; try++ {
		at, err := store.InterruptAt(ctx, id)
		if err != nil {
			return contracts.Interrupt{}, err
		}
		if at.Status != contracts.InterruptOpen {
			refusal := contracts.Errorf(contracts.CodeConflict, "interrupt %s was settled already: %s", id, at.Status)
			refusal.Detail = at.Interrupt
			return contracts.Interrupt{}, refusal
		}
		if err := change(&at.Interrupt, at.Now); err != nil {
			return contracts.Interrupt{}, err
		}
		at.InterruptID = id
		saved, err := store.SaveInterrupt(ctx, at)
		if contracts.CodeOf(err) != contracts.CodeConflict || try == maxUpdates {
			return saved, err
		}
	}
}
