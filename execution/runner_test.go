package execution_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

func keyedWrite() contracts.Metadata {
	return contracts.Metadata{
		SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: contracts.IdempotencyKeyed,
		RiskLevel: contracts.RiskMedium, TimeoutMS: 2000,
	}
}

func (w *world) applying(_ context.Context, c execution.Call) execution.Reply { return w.apply(c) }

func TestReadsJoinAndFinish(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("price", func(_ context.Context, c execution.Call) execution.Reply {
			return facts(map[string]any{"symbol": c.Parameters["symbol"]})
		})
		r := w.runner()
		id := w.submit(r,
			w.node("n1", "price", map[string]any{"symbol": "A"}),
			w.node("n2", "price", map[string]any{"symbol": "B"}),
			join("n3", "n1", "n2"),
			w.node("n4", "price", map[string]any{"symbol": "${steps.n3.facts.items[1].facts.symbol}"}, "n3"),
		)
		v := w.ended(r, id)
		if v.State != contracts.RunCompleted || v.Verdict.Status != contracts.VerdictVerified {
			t.Fatalf("state %s, verdict %+v", v.State, v.Verdict)
		}
		if got := v.Nodes[3].Facts["symbol"]; got != "B" {
			t.Errorf("n4 read %v from the join, want B", got)
		}
	})
}

func TestThreeGatesAreDecidedEachOnItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		w.read("stock", answering(map[string]any{"n": 1}))
		r := w.runner()
		id := w.submit(r,
			w.node("n1", "order", map[string]any{"item": "a"}),
			w.node("n2", "order", map[string]any{"item": "b"}),
			w.node("n3", "order", map[string]any{"item": "c"}),
			w.node("n4", "stock", nil, "n3"),
		)
		open := w.gates(r, id, 3)
		w.decide(r, open["n2"], contracts.Resume{Decision: contracts.DecisionApprove})
		w.decide(r, open["n3"], contracts.Resume{Decision: contracts.DecisionReject, Comment: "no"})
		v := w.until(r, id, "half decided", func(v contracts.RunView) bool {
			s := states(v)
			return s["n2"].Terminal() && s["n3"].Terminal()
		})
		want := map[string]contracts.NodeState{
			"n1": contracts.NodeAwaitingApproval, "n2": contracts.NodeCompleted,
			"n3": contracts.NodeRejected, "n4": contracts.NodeSkipped,
		}
		if diff := cmp.Diff(want, states(v)); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		if got := w.gates(r, id, 1)["n1"].InterruptID; got != open["n1"].InterruptID {
			t.Errorf("the third gate changed its id from %s to %s", open["n1"].InterruptID, got)
		}
		w.decide(r, open["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
		if v := w.ended(r, id); v.State != contracts.RunRejected {
			t.Errorf("state %s, want rejected", v.State)
		}
		if diff := cmp.Diff(map[string]int{id + "/n1/1": 1, id + "/n2/1": 1}, w.applied()); diff != "" {
			t.Errorf("effects (-want +got):\n%s", diff)
		}
	})
}
