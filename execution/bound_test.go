package execution_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

// The gate and the node show parameters that a look-up has bound separately from those of the
// requester. An edit that does not name a bound parameter keeps it, and it is sent.
func TestTheGateTellsWhatWasAskedForFromWhatItIsBoundTo(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		w.read("search", answering(map[string]any{"matches": []any{match("s-1", "as it was at noon")}}))
		r := w.runner()
		order := w.node("n3", "order", map[string]any{"seen": "${steps.n2.facts.value}", "n": 1}, "n2")
		order.Binds = []string{"seen"}
		id := w.submit(r, w.node("n1", "search", nil), choose(contracts.ChooseFail), order)
		want := func(g contracts.Interrupt, n any) {
			t.Helper()
			if diff := cmp.Diff(map[string]any{"n": n}, g.Action.Parameters); diff != "" {
				t.Errorf("asked for: %s", diff)
			}
			if diff := cmp.Diff(map[string]any{"seen": "s-1"}, g.Action.Bound); diff != "" {
				t.Errorf("bound to: %s", diff)
			}
		}
		first := w.gates(r, id, 1)["n3"]
		want(first, 1.0)
		w.decide(r, first, contracts.Resume{Decision: contracts.DecisionEdit, EditedParams: map[string]any{"n": 2}})
		v := w.until(r, id, "asked again", func(v contracts.RunView) bool {
			return len(v.Interrupts) == 1 && v.Interrupts[0].InterruptID != first.InterruptID
		})
		want(v.Interrupts[0], 2.0)
		if diff := cmp.Diff(map[string]any{"n": 2.0}, v.Nodes[2].Params); diff != "" || v.Nodes[2].Bound["seen"] != "s-1" {
			t.Errorf("the node shows %v bound to %v", v.Nodes[2].Params, v.Nodes[2].Bound)
		}
	})
}
