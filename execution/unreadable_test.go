package execution_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// TestARunThatCannotBeReadIsPutOffAndThenAskedAbout checks that it is tried at growing intervals,
// and then a person is asked; it resumes by itself when it can be read again, or ends when it is
// abandoned.
func TestARunThatCannotBeReadIsPutOffAndThenAskedAbout(t *testing.T) {
	t.Parallel()
	for name, mended := range map[string]bool{"mended by somebody": true, "given up": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.read("get", answering(nil))
				id := w.submit(w.runner(func(c *execution.Config) { c.MaxActiveRuns = -1 }), w.node("n1", "get", nil))
				var loads atomic.Int64
				var sound atomic.Bool
				r := w.runnerOn(&hooked{Store: w.store, load: func() error {
					if sound.Load() {
						return nil
					}
					loads.Add(1)
					return contracts.Errorf(contracts.CodeInternal, "run %s is damaged", id)
				}})
				time.Sleep(time.Hour) // bubble time
				if got := loads.Load(); got > 8 {
					t.Errorf("loaded %d times in an hour", got)
				}
				open, err := w.store.Interrupts(t.Context(), execution.InterruptFilter{RunID: id, Status: contracts.InterruptOpen})
				if err != nil || len(open) != 1 || open[0].Type != contracts.InterruptRunUnreadable || open[0].SessionID != "s1" {
					t.Fatalf("asked %+v, %v", open, err)
				}
				want := contracts.RunCompleted
				if mended {
					sound.Store(true)
					time.Sleep(2 * time.Hour) // bubble time
				} else {
					want = contracts.RunFailed
					w.decide(r, open[0], contracts.Resume{Response: contracts.AnswerGiveUp})
					time.Sleep(time.Minute) // bubble time
				}
				snap, err := w.store.LoadRun(t.Context(), id)
				if err != nil || snap.Run.State != want {
					t.Errorf("the run is %s, want %s (%v)", snap.Run.State, want, err)
				}
				open, err = w.store.Interrupts(t.Context(), execution.InterruptFilter{RunID: id, Status: contracts.InterruptOpen})
				if err != nil || len(open) > 0 {
					t.Errorf("still asked %+v, %v", open, err)
				}
			})
		})
	}
}
