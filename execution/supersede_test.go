package execution_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// balky is a store that cannot save interrupts for a while.
type balky struct {
	execution.Store

	fails atomic.Int64
}

// SaveInterrupt fails a given number of times.
func (b *balky) SaveInterrupt(ctx context.Context, i execution.InterruptAt) (contracts.Interrupt, error) {
	if b.fails.Add(-1) >= 0 {
		return contracts.Interrupt{}, unavailable()
	}
	return b.Store.SaveInterrupt(ctx, i)
}

func TestARunThatHasEndedAsksNobody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		store := &balky{Store: w.store}
		r := w.runnerOn(store)
		id := w.submit(r, w.node("n1", "order", nil), w.node("n2", "order", nil))
		w.gates(r, id, 2)
		store.fails.Store(3)
		if err := r.Cancel(t.Context(), id, "ana"); err != nil {
			t.Fatal(err)
		}
		if v := w.ended(r, id); v.State != contracts.RunCancelled || len(v.Interrupts) != 0 {
			t.Errorf("the run is %s, and %d questions are open", v.State, len(v.Interrupts))
		}
	})
}
