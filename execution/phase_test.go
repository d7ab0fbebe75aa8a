package execution_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// TestACapabilityOfAnotherPhaseIsNotCalled checks plans that were made when the phase was allowed,
// or by a caller that ignores it.
func TestACapabilityOfAnotherPhaseIsNotCalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.declare("peek", contracts.Metadata{SideEffectClass: contracts.ClassRead, Phases: []string{"discover"}}, answering(nil))
	w.declare("look", contracts.Metadata{SideEffectClass: contracts.ClassRead}, answering(nil))
	r := w.runner()
	for phase, calls := range map[string]int{"apply": 0, "discover": 1, "": 1} {
		before := len(w.callsOf("peek"))
		node := w.node("n1", "peek", nil)
		node.Phase = phase
		free := w.node("n2", "look", nil)
		free.Phase = phase
		view := w.ended(r, w.submit(r, node, free))
		if got := len(w.callsOf("peek")) - before; got != calls {
			t.Errorf("in the phase %q it was called %d times, want %d", phase, got, calls)
		}
		if failed := view.Nodes[0].Error; calls == 0 && (failed == nil || !strings.Contains(failed.Message, "may not be used in the phase")) {
			t.Errorf("in the phase %q it says %+v", phase, failed)
		}
		if view.Nodes[1].State != contracts.NodeCompleted {
			t.Errorf("what is of every phase is %s in %q", view.Nodes[1].State, phase)
		}
	}
}
