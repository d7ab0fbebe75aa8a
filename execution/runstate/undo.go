package runstate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// UndoCalls returns the calls that compensate the writes of an undo node. Their parameters are
// constants, because the results of the writes are known. Each call depends on the one before it.
func UndoCalls(s *State, n *Node) ([]contracts.Node, error) {
	var out []contracts.Node
	if s.Run.Plan.DryRun {
		return nil, nil // a dry run has no effects
	}
	for _, done := range toUndo(s, n) {
		call := done.call
		params, reads, err := expr.ResolveCall(call.Params, s.CallScope(done.write.Row))
		if err != nil {
			return nil, fmt.Errorf("take back %s: %w", done.write.ID(), err)
		}
		call.NodeID = fmt.Sprintf("%s[%d]", n.ID(), len(out))
		call.ForNode, call.CompensatesNode, call.BranchID = n.ID(), done.write.ID(), call.NodeID
		call.Params, _ = expr.Escape(any(params)).(map[string]any)
		maps.DeleteFunc(call.Params, func(_ string, v any) bool { return v == nil })
		call.DependsOn = slices.Clone(n.Spec.DependsOn)
		if len(out) > 0 {
			call.DependsOn = append(call.DependsOn, out[len(out)-1].NodeID)
		}
		call.Evidence = restsOnWrite(done.write, reads)
		out = append(out, call)
	}
	return out, nil
}

// restsOnWrite returns the evidence of a compensation: the values that it was made from, and the
// labels by which the values of the write were chosen.
func restsOnWrite(w *Node, reads []expr.Read) []contracts.EvidenceItem {
	var out []contracts.EvidenceItem
	for _, e := range w.Row.Evidence {
		if strings.HasSuffix(e.Path, ".facts.value") || strings.HasSuffix(e.Path, ".facts.label") {
			out = append(out, e)
		}
	}
	for _, r := range reads {
		out = append(out, contracts.EvidenceItem{NodeID: w.ID(), Path: r.Path, Value: r.Value})
	}
	return out
}

// undoing is a write that took effect, and its planned compensation.
type undoing struct {
	write *Node
	call  contracts.Node
}

// toUndo returns the writes that an undo node compensates, the last one first: those of all rounds,
// and the copies of repeated steps, except those that were compensated before.
func toUndo(s *State, n *Node) []undoing {
	calls := make(map[string]contracts.Node, len(n.Spec.Undo))
	for _, u := range n.Spec.Undo {
		calls[u.ForNode] = u.Node(n.Spec)
	}
	var out []undoing
	for _, w := range s.graph.nodes {
		call, ok := calls[plannedStep(s, w)]
		if ok && !w.Row.Expanded && w.State() == contracts.NodeCompleted && UndoneBy(s, w.ID()) == nil {
			out = append(out, undoing{w, call})
		}
	}
	slices.SortStableFunc(out, func(a, b undoing) int { return -madeBefore(s, a.write, b.write) })
	return out
}

// madeBefore orders two writes of a run by the time of their effect. A run makes one write at a
// time, but two may have the same timestamp, because a replayed journal has milliseconds. Then the
// round and the plan decide.
func madeBefore(s *State, a, b *Node) int {
	stepOfA, roundOfA := planned(s, a)
	stepOfB, roundOfB := planned(s, b)
	return cmp.Or(
		a.Row.FinishedAt.Compare(*b.Row.FinishedAt),
		cmp.Compare(roundOfA, roundOfB),
		cmp.Compare(stepOfA.index, stepOfB.index),
		cmp.Compare(a.index, b.index),
	)
}

// planned returns the planned node that a node was made for, or the node itself if it is planned,
// and its round; 1 is the first.
func planned(s *State, n *Node) (step *Node, round int) {
	for round = 1; n.Spec.ForNode != ""; {
		of := s.Node(n.Spec.ForNode)
		if of == nil {
			break
		}
		if n.Spec.Round != nil {
			round = max(round, n.Spec.Round.N)
		}
		n = of
	}
	return n, round
}

// plannedStep returns the planned step of which the node is an instance or a copy.
func plannedStep(s *State, n *Node) string {
	if n.Spec.Round == nil && n.Spec.ForNode != "" && n.Row.Spec != nil {
		if of := s.Node(n.Spec.ForNode); of != nil {
			return of.Step()
		}
	}
	return n.Step()
}

// UndoneBy returns the call of the run that has compensated a write or may still do so, nil if
// there is none.
func UndoneBy(s *State, write string) *Node {
	for _, n := range s.graph.nodes {
		if n.Spec.CompensatesNode == write && (!n.Ended() || n.State() == contracts.NodeCompleted) {
			return n
		}
	}
	return nil
}

// mayUndo returns the planned step by which a run may still compensate a write, now or in a later
// round; "" if there is none. A run that has ended does not start again, so after its end the
// answer does not change.
func mayUndo(s *State, w *Node) string {
	if s.Run.State.Terminal() {
		return ""
	}
	step := plannedStep(s, w)
	for _, n := range s.graph.nodes {
		if slices.ContainsFunc(n.Spec.Undo, func(u contracts.Undo) bool { return u.ForNode == step }) {
			return n.Step()
		}
	}
	return ""
}

// Undone counts the calls of an undo node and those that completed, and reports whether one was
// rejected.
func Undone(n *Node) (done, of int, rejected bool) {
	for _, m := range n.members {
		if m.State() == contracts.NodeCompleted {
			done++
		}
		rejected = rejected || m.State() == contracts.NodeRejected
	}
	return done, len(n.members), rejected
}
