package runstate

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// View returns the view of a run for callers, with its gates. Nodes behind one that waits for a
// person have the state "blocked".
func View(s *State, gates []contracts.Interrupt) contracts.RunView {
	view := contracts.RunView{
		TraceID: contracts.TraceID(s.Run.ID),
		RunID:   s.Run.ID, SessionID: s.Run.SessionID, State: s.Run.State, Plan: s.Run.Plan, Verdict: s.Run.Verdict,
		CreatedAt: s.Run.CreatedAt, UpdatedAt: s.Run.UpdatedAt, FinishedAt: s.Run.FinishedAt, HeldSince: s.Run.HeldSince, Tokens: s.Tokens(),
	}
	if v := s.Run.Verdict; v != nil && v.Tokens != nil {
		view.Tokens = *v.Tokens
	}
	blocked := blockedByPeople(s)
	view.Nodes = make([]contracts.NodeView, len(s.graph.nodes))
	for i, n := range s.graph.nodes {
		view.Nodes[i] = nodeView(s, n, blocked[n])
	}
	for _, i := range gates {
		if i.Status == contracts.InterruptOpen {
			view.Interrupts = append(view.Interrupts, i)
		}
	}
	return view
}

// WithRow returns a state with another row of the run and the same nodes and plan. Both states may
// be read at the same time.
func WithRow(s *State, run Run) *State {
	out := *s
	run.Plan = s.Run.Plan
	out.Run = run
	return &out
}

func nodeView(s *State, n *Node, blocked bool) contracts.NodeView {
	row := n.Row
	out := contracts.NodeView{
		Node: n.Spec, State: n.State(), Attempts: row.Attempts, Error: row.Error, Checks: row.Checks,
		QueuedFor: row.QueuedFor, StartedAt: row.StartedAt, FinishedAt: row.FinishedAt,
		Calls: row.Thoughts, Fallback: row.Fallback,
	}
	if len(n.members) > 0 {
		out.DependsOn = slices.Clone(out.DependsOn)
		for _, m := range n.members {
			out.DependsOn = append(out.DependsOn, m.ID())
		}
	}
	if blocked {
		out.State = contracts.NodeBlocked
	}
	if row.Params != nil {
		out.Params = row.Params
	}
	out.Params, out.Bound = SplitBoundParams(n.Spec, out.Params)
	if r := row.Result; r != nil {
		out.Summary, out.Facts, out.Artifacts = r.Summary, r.Facts, r.Artifacts
	}
	if n.IsJoin() && n.Ended() {
		out.Facts = joinFacts(s, n)
	}
	return out
}

// SplitBoundParams returns the parameters given by the requester and those fixed by a look-up.
func SplitBoundParams(n contracts.Node, params map[string]any) (asked, bound map[string]any) {
	if len(n.Binds) == 0 || params == nil {
		return params, nil
	}
	asked = maps.Clone(params)
	for _, name := range n.Binds {
		value, ok := asked[name]
		if !ok {
			continue
		}
		if bound == nil {
			bound = map[string]any{}
		}
		bound[name] = value
		delete(asked, name)
	}
	return asked, bound
}

// blockedByPeople returns the pending nodes that depend on one that waits for a person.
func blockedByPeople(s *State) map[*Node]bool {
	blocked := map[*Node]bool{}
	for _, n := range s.graph.nodes { // dependencies come before their dependents, except copies
		if !Awaits(n.State()) && !blocked[n] {
			continue
		}
		for _, d := range n.dependents {
			if d.State() == contracts.NodePending {
				blocked[d] = true
			}
		}
	}
	return blocked
}

// CompletedCall returns the planned node of a write that took effect, with the evidence of its
// approval, and the values that the param_map of its compensation may use. It returns conflict if
// the node is no such write, or if the run itself undoes it or may still do so.
func CompletedCall(snap Snapshot, nodeID string) (contracts.Node, expr.Scope, error) {
	s, err := Read(snap)
	if err != nil {
		return contracts.Node{}, nil, err
	}
	n := s.Node(nodeID)
	if n == nil {
		return contracts.Node{}, nil, contracts.Errorf(contracts.CodeNotFound, "run %s has no node %q", s.Run.ID, nodeID)
	}
	if !n.Writes() || n.State() != contracts.NodeCompleted {
		return contracts.Node{}, nil, contracts.Errorf(contracts.CodeConflict, "node %s is no write that took effect; there is nothing to undo", nodeID)
	}
	if by := UndoneBy(s, nodeID); by != nil {
		return contracts.Node{}, nil, contracts.Errorf(contracts.CodeConflict, "node %s is taken back in its own run, by %s", nodeID, by.ID())
	}
	if by := mayUndo(s, n); by != "" {
		return contracts.Node{}, nil, contracts.Errorf(contracts.CodeConflict, "node %s can be taken back in its own run, by %s, until run %s has ended: answer its review with rollback, or undo it after the end", nodeID, by, s.Run.ID)
	}
	spec := n.Spec
	spec.Evidence = n.Row.Evidence
	return spec, s.CallScope(n.Row), nil
}
