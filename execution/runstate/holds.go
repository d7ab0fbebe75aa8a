package runstate

import (
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
)

// holds has the nodes that the flags of a run keep from starting while other nodes run. A node that
// has started is never held: it ends, waits or is tried again as usual.
//
// Invariant: no held node is woken. Some may have ended since or wait again, and a node may be in
// the list twice.
type holds struct {
	// inTurn starts a step only after the others have ended, in plan order. whileAsked starts none
	// while an interrupt is open.
	inTurn, whileAsked bool
	held               []*Node
}

func holdsOf(f metrics.Flags) holds {
	return holds{inTurn: f.DAGPlanning == metrics.FlagOff, whileAsked: f.BranchApprovals == metrics.FlagOff}
}

// mustHold reports whether a node may not start now.
func (g *graph) mustHold(n *Node) bool {
	begun := n.Row.StartedAt != nil || n.State() != contracts.NodePending
	return !begun && g.occupied()
}

// occupied reports whether a running node or an open interrupt keeps other nodes from starting.
func (g *graph) occupied() bool {
	asked := g.count[contracts.NodeAwaitingApproval] + g.count[contracts.NodeAwaitingInput] + g.count[contracts.NodeOutcomeUnknown]
	switch {
	case g.holds.inTurn:
		return asked+g.count[contracts.NodeReady]+g.count[contracts.NodeQueued]+g.count[contracts.NodeRunning] > 0
	case g.holds.whileAsked:
		return asked > 0
	default:
		return false
	}
}

// releaseHeld wakes the held nodes when they may start.
func (g *graph) releaseHeld() {
	if len(g.holds.held) == 0 || g.occupied() {
		return
	}
	for _, n := range g.holds.held {
		if n.State() == contracts.NodePending && n.unmet == 0 { // else it has ended, or waits again
			g.wake(n)
		}
	}
	g.holds.held = g.holds.held[:0]
}

// hasReady reports whether a node can be started, including held ones that next will release.
func (g *graph) hasReady() bool {
	return g.due > 0 || len(g.holds.held) > 0 && !g.occupied()
}
