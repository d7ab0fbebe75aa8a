package execution_test

import (
	"context"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// A resend of a write is checked like the first dispatch: the approved action must still be the one
// that runs.
func TestAWriteIsNotSentAgainOnAStaleApproval(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		first execution.Reply
		want  contracts.NodeState
	}{
		"after it was busy, a new gate shows the difference":         {busyFor(time.Minute), contracts.NodeAwaitingApproval},
		"after it could not be sent, a new gate shows it":            {notSent, contracts.NodeAwaitingApproval},
		"after a refusal without effect, a new gate shows it":        {refusal(true, contracts.EffectNone), contracts.NodeAwaitingApproval},
		"after its answer was lost, a person says what became of it": {broken, contracts.NodeOutcomeUnknown},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				changed := keyedWrite()
				changed.RiskLevel = contracts.RiskCritical
				first := func(_ context.Context, _ execution.Call) execution.Reply {
					w.declare("order", changed, w.applying)
					return c.first
				}
				w.declare("order", keyedWrite(), first)
				r := w.runner()
				id := w.submit(r, w.node("n1", "order", map[string]any{"item": "a"}))
				open := w.gates(r, id, 1)["n1"]
				w.decide(r, open, approve())
				again := w.until(r, id, "asking again, or ended", func(v contracts.RunView) bool {
					return v.State.Terminal() || len(v.Interrupts) == 1 && v.Interrupts[0].InterruptID != open.InterruptID
				})
				if got := states(again)["n1"]; got != c.want || len(w.callsOf("order")) != 1 {
					t.Errorf("the write is %s after %d calls, want %s after one", got, len(w.callsOf("order")), c.want)
				}
			})
		})
	}
}

func busyFor(d time.Duration) execution.Reply {
	return execution.Reply{Kind: execution.ReplyBusy, RetryAfter: d}
}

func TestAKeyedWriteInDoubtIsNotSentAgainAfterACancel(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		began := make(chan struct{}, 9)
		w.declare("order", keyedWrite(), func(_ context.Context, c execution.Call) execution.Reply {
			began <- struct{}{}
			if len(w.callsOf("order")) == 1 {
				time.Sleep(time.Second) // bubble time
				return broken
			}
			return w.apply(c)
		})
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		w.decide(r, w.gates(r, id, 1)["n1"], approve())
		<-began
		if err := r.Cancel(t.Context(), id, "ana"); err != nil {
			t.Fatal(err)
		}
		v := w.until(r, id, "settled or asking", func(v contracts.RunView) bool { return v.State.Terminal() || len(v.Interrupts) == 1 })
		if len(w.callsOf("order")) != 1 || len(w.applied()) != 0 {
			t.Errorf("%d calls and %v effects after a cancel; the node is %s", len(w.callsOf("order")), w.applied(), states(v)["n1"])
		}
	})
}

func TestAWriteIsNotLookedUpAtAnotherDomain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		meta := unkeyed()
		meta.Reconcile = &contracts.CapabilityCall{Capability: "find"}
		w.declare("order", meta, func(_ context.Context, c execution.Call) execution.Reply {
			w.apply(c)
			w.giveAway("find") // another domain has a capability of this name; ours no longer has it
			return broken
		})
		w.read("find", answering(map[string]any{"applied": false}))
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		w.decide(r, w.gates(r, id, 1)["n1"], approve())
		v := w.until(r, id, "ended, or asking a person", func(v contracts.RunView) bool {
			return v.State.Terminal() || states(v)["n1"] == contracts.NodeOutcomeUnknown
		})
		if len(w.callsOf("find")) != 0 || len(w.callsOf("order")) != 1 {
			t.Errorf("asked %d times, sent %d times; the write is %s", len(w.callsOf("find")), len(w.callsOf("order")), states(v)["n1"])
		}
	})
}
