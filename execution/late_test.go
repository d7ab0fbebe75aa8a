package execution_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// TestALateOutcomeMeetsTheResend: the outcome that an earlier owner observes while
// the resend of the next one is under way is the one that counts, once.
func TestALateOutcomeMeetsTheResend(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var calls atomic.Int64
		slow := lowWrite()
		slow.TimeoutMS = 600000
		w.declare("order", slow, func(_ context.Context, c execution.Call) execution.Reply {
			if calls.Add(1) == 1 {
				time.Sleep(20 * time.Second) // bubble time: until after the next owner has sent it again
			} else {
				time.Sleep(25 * time.Second)
			}
			return w.apply(c)
		})
		first := w.runner(func(c *execution.Config) { c.Heartbeat, c.SweepEvery, c.Replica = time.Hour, time.Hour, "one" })
		id := w.submit(first, w.node("n1", "order", map[string]any{"id": "x"}))
		w.decide(first, w.gates(first, id, 1)["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
		time.Sleep(2 * time.Second)
		second := w.runner(func(c *execution.Config) { c.Replica, c.Heartbeat = "two", time.Second })
		v := w.ended(second, id)
		if v.State != contracts.RunCompleted || calls.Load() != 2 || len(w.applied()) != 1 {
			t.Errorf("the run is %s after %d calls, effects %v", v.State, calls.Load(), w.applied())
		}
	})
}
