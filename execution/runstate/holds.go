package runstate

import (
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
)

// holds is what the flags of a run keep from beginning while something else of it
// goes on. What has begun is never held: it ends, waits or is tried again as ever.
//
// Invariant: of the held nodes none is woken; some may have ended since, or wait once
// more, and one may stand there twice.
type holds struct {
	// inTurn lets one step begin after the other has ended, in plan order;
	// whileAsked lets none begin while a person is asked.
	inTurn, whileAsked bool
	held               []*Node
}

func holdsOf(f metrics.Flags) holds {
	return holds{inTurn: f.DAGPlanning == metrics.FlagOff, whileAsked: f.BranchApprovals == metrics.FlagOff}
}

// mustHold reports whether a node may not begin now.
func (g *graph) mustHold(n *Node) bool {
	begun := n.Row.StartedAt != nil || n.State() != contracts.NodePending
	return !begun && g.occupied()
}

// occupied reports whether the run does what nothing may begin beside.
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

// releaseHeld wakes held nodes once nothing holds them.
func (g *graph) releaseHeld() {
	if len(g.holds.held) == 0 || g.occupied() {
		return
	}
	for _, n := range g.holds.held {
		if n.State() == contracts.NodePending && n.unmet == 0 { // else it has ended, or waits once more
			g.wake(n)
		}
	}
	g.holds.held = g.holds.held[:0]
}

// hasReady reports whether a node is to be started, or is as soon as somebody asks.
func (g *graph) hasReady() bool {
	return g.due > 0 || len(g.holds.held) > 0 && !g.occupied()
}
