package execution_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// TestAReadWaitsForDays checks a domain that answers only after a person elsewhere has decided. The
// run is parked between two polls, also over a restart of the server, and gets the decision. A call
// that is never decided ends.
func TestAReadWaitsForDays(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		decided := time.Now().Add(3 * 24 * time.Hour)
		md := contracts.Metadata{SideEffectClass: contracts.ClassRead, TimeoutMS: 15_000, WaitMaxS: 4 * 24 * 3600}
		waiting := execution.Reply{Kind: execution.ReplyBusy, RetryAfter: time.Hour, Message: "waits for Helena"}
		var looks atomic.Int64
		w.declare("follow", md, func(context.Context, execution.Call) execution.Reply {
			if looks.Add(1); time.Now().Before(decided) {
				return waiting
			}
			return facts(map[string]any{"state": "denied"})
		})
		w.declare("forgotten", md, func(context.Context, execution.Call) execution.Reply { return waiting })
		first := w.runner()
		followed, forgotten := w.submit(first, w.node("n1", "follow", nil)), w.submit(first, w.node("n1", "forgotten", nil))
		w.until(first, followed, "parked", func(v contracts.RunView) bool { return v.Nodes[0].QueuedFor == "waits for Helena" })
		time.Sleep(24 * time.Hour)
		if err := first.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		second := w.runner()
		time.Sleep(25 * time.Hour)
		if v := w.ended(second, followed); v.State != contracts.RunCompleted || v.Nodes[0].Facts["state"] != "denied" {
			t.Errorf("the run is %s: %+v", v.State, v.Nodes[0])
		}
		if n := looks.Load(); n > 3*24+2 || n < 40 {
			t.Errorf("%d looks in the days that it waited", n)
		}
		time.Sleep(24 * time.Hour)
		if v := w.ended(second, forgotten); v.State != contracts.RunFailed || v.Nodes[0].Error == nil || v.Nodes[0].Error.Type != contracts.ErrTimeout {
			t.Errorf("what is never decided is %s: %+v", v.State, v.Nodes[0])
		}
	})
}

// TestALateOutcomeMeetsTheResend checks that an outcome which an earlier owner observes during the
// resend of the next owner is applied, once.
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
