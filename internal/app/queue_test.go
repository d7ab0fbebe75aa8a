package app

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manifold-run/manifold/execution"
)

// runsDue is a store in which one run becomes due at a time.
type runsDue struct {
	execution.DueStore

	at time.Time
}

func (d *runsDue) DueRuns(context.Context, []int, int) ([]string, error) {
	if time.Now().Before(d.at) {
		return nil, nil
	}
	return []string{"r1"}, nil
}

// taking is a taker with limited capacity that records when it took runs.
type taking struct {
	room  int
	taken []time.Duration // since its creation
	made  time.Time
}

func (t *taking) Room() int { return t.room }

func (t *taking) Take(_ context.Context, _ string) bool {
	t.taken = append(t.taken, time.Since(t.made))
	return false // another owner has it by now
}

func dispatching(t *testing.T, due time.Time, to *taking) *wakeups {
	t.Helper()
	w := newWakeups(&runsDue{at: due}, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	go w.Run(ctx, to)
	t.Cleanup(stop)
	synctest.Wait()
	return w
}

// A server that parked a run for a short time checks it when its timer is due, not at the next
// sweep.
func TestANearTimerIsLookedAfterWhereTheRunRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &taking{room: 1, made: time.Now()}
		due := time.Now().Add(2100 * time.Millisecond)
		w := dispatching(t, due, to)
		w.RunParked(due)
		time.Sleep(2200 * time.Millisecond)
		synctest.Wait()
		if len(to.taken) != 1 || to.taken[0] != 2100*time.Millisecond {
			t.Errorf("taken at %v, want at 2.1s", to.taken)
		}
	})
}

// A job for a run is repeated while its server has no capacity, and is done when any server has
// taken the run.
func TestAJobWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWakeups(&runsDue{}, slog.New(slog.DiscardHandler))
		if again, err := w.run(t.Context(), "r1"); again <= 0 || err != nil {
			t.Errorf("before anybody takes runs: again after %v, %v; want it to come again", again, err)
		}
		to := &taking{made: time.Now()}
		w = dispatching(t, time.Now().Add(time.Hour), to)
		begun := time.Now()
		if again, err := w.run(t.Context(), "r1"); again <= 0 || err != nil || time.Since(begun) != fullFor {
			t.Errorf("without room: again after %v, %v, within %v; want it to come again, and no other meanwhile", again, err, time.Since(begun))
		}
		to.room = 1
		if again, err := w.run(t.Context(), "r1"); again != 0 || err != nil || len(to.taken) != 1 {
			t.Errorf("with room: again after %v, %v, taken %v", again, err, to.taken)
		}
	})
}
