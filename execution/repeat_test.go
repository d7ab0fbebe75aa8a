package execution_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// lowWrite is a write without a read-back.
func lowWrite() contracts.Metadata {
	return contracts.Metadata{
		SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: contracts.IdempotencyKeyed, RiskLevel: contracts.RiskLow,
	}
}

// repeated is a list, a read for each of its items, and a write of their results.
func repeated(w *world, ids []any) []contracts.Node {
	w.read("list", answering(map[string]any{"ids": ids}))
	w.read("get", func(_ context.Context, c execution.Call) execution.Reply {
		return facts(map[string]any{"id": c.Parameters["id"]})
	})
	w.declare("order", lowWrite(), w.applying)
	each := w.node("n2", "get", map[string]any{"id": "${item}"}, "n1")
	each.ForEach = &contracts.ForEach{Items: "${steps.n1.facts.ids}"}
	return []contracts.Node{
		w.node("n1", "list", nil), each,
		w.node("n3", "order", map[string]any{"items": "${steps.n2.facts.items}"}, "n2"),
	}
}

// shuffling is a store with runs of a release that stored nodes in any order without their place.
type shuffling struct{ execution.Store }

// LoadRun returns the rows in any order.
func (s shuffling) LoadRun(ctx context.Context, id string) (execution.Snapshot, error) {
	snap, err := s.Store.LoadRun(ctx, id)
	rand.Shuffle(len(snap.Nodes), func(i, j int) { snap.Nodes[i], snap.Nodes[j] = snap.Nodes[j], snap.Nodes[i] })
	for i := range snap.Nodes {
		snap.Nodes[i].Place, snap.Nodes[i].Expanded = 0, false
	}
	return snap, err
}

func idsOf(items any) []any {
	var ids []any
	list, _ := items.([]any)
	for _, item := range list {
		m, _ := item.(map[string]any)
		f, _ := m["facts"].(map[string]any)
		ids = append(ids, f["id"])
	}
	return ids
}

// TestARepeatedStepJoinsInTheOrderOfItsItems checks the order for any reader, any order of the
// stored rows, and after a restart: an approval based on the join stays valid.
func TestARepeatedStepJoinsInTheOrderOfItsItems(t *testing.T) {
	t.Parallel()
	for name, shuffled := range map[string]bool{"as they were stored": false, "rows of an earlier release": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				ids := make([]any, 12)
				for i := range ids {
					ids[i] = fmt.Sprintf("id%02d", i)
				}
				nodes := repeated(w, ids)
				if shuffled {
					w.store = shuffling{w.store}
				}
				r := w.runner()
				id := w.submit(r, nodes...)
				gate := w.gates(r, id, 1)["n3"]
				if diff := cmp.Diff(ids, idsOf(gate.Action.Parameters["items"])); diff != "" {
					t.Errorf("the gate shows (-want +got):\n%s", diff)
				}
				v, err := r.View(t.Context(), id)
				if diff := cmp.Diff(ids, idsOf(v.Nodes[1].Facts["items"])); err != nil || diff != "" {
					t.Errorf("the view shows (-want +got):\n%s%v", diff, err)
				}
				w.decide(r, gate, contracts.Resume{Decision: contracts.DecisionApprove})
				if v = w.ended(r, id); v.State != contracts.RunCompleted {
					t.Errorf("after the approval the run is %s", v.State)
				}
			})
		})
	}
}

// TestARepeatOverNothingIsAJoinOfNothing also checks a run that is read again.
func TestARepeatOverNothingIsAJoinOfNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.runner()
		id := w.submit(r, repeated(w, []any{})...)
		w.decide(r, w.gates(r, id, 1)["n3"], contracts.Resume{Decision: contracts.DecisionApprove})
		v := w.until(r, id, "ended or asked again", func(v contracts.RunView) bool { return v.State.Terminal() || len(v.Interrupts) > 0 })
		if v.State != contracts.RunCompleted || len(w.applied()) != 1 {
			t.Errorf("after the approval the run is %s, effects %v", v.State, w.applied())
		}
		if got := v.Nodes[1].Facts["items"]; !cmp.Equal(got, []any{}) {
			t.Errorf("the join has %v", got)
		}
	})
}
