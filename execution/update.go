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

// maxUpdates is how often a change is computed again because somebody else was
// faster. Each time one of those who compete has been served, so that this is
// how many may decide one gate at the same moment.
const maxUpdates = 64

// UpdateInterrupt changes an open interrupt: change gets it as it is now, with
// the store's clock, and what it leaves is committed, unless somebody has
// changed the interrupt meanwhile; then change is asked again. One that is not
// open returns conflict with the interrupt as Detail. Its run is woken.
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
