package runstate

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// put replaces the row of a node.
func (s *State) put(at time.Time, c *Changes, n *Node, row *Row) {
	s.graph.replace(n, row)
	c.touch(at, n)
}

// release examines the dependents of a node that has ended.
func (s *State) release(at time.Time, c *Changes, n *Node) {
	for _, d := range n.dependents {
		s.examine(at, c, d)
	}
}

// examine makes a pending node ready when everything that it waits for has ended, and skips it if
// its merge rule requires that.
func (s *State) examine(at time.Time, c *Changes, n *Node) {
	if n.State() != contracts.NodePending {
		return
	}
	if why := s.graph.skipReason(n); why != "" {
		s.skip(at, c, n, why)
		return
	}
	if n.unmet == 0 {
		s.graph.wake(n)
	}
}

// satisfied reports whether a node counts as completed for its dependents.
func (n *Node) satisfied() bool {
	return n.State() == contracts.NodeCompleted || n.State() == contracts.NodeFailed && n.Spec.ContinueOnError
}

// failed reports whether a node makes its dependents skipped, under a merge rule.
func (n *Node) failed() bool { return n.Ended() && !n.satisfied() && !n.SkippedWithoutFailure() }

// SkippedWithoutFailure reports whether a node was skipped although nothing had failed.
func (n *Node) SkippedWithoutFailure() bool {
	return n.State() == contracts.NodeSkipped && n.Row.Skip != SkipUpstreamFailed
}

// skip ends a node that cannot run because of earlier nodes; their entries in the ledger explain
// it.
func (s *State) skip(at time.Time, c *Changes, n *Node, why Skip) {
	row := n.Next()
	row.State, row.Skip, row.FinishedAt = contracts.NodeSkipped, why, &at
	s.put(at, c, n, row)
	s.emit(at, c, n, contracts.Event{Type: contracts.EventNodeEnd, Status: string(contracts.NodeSkipped)})
	s.release(at, c, n)
}

// reopen undoes the end of a node: its dependents wait for it again.
func (s *State) reopen(n *Node) {
	for _, d := range n.dependents {
		if !d.Ended() {
			s.graph.sleep(d)
		}
	}
}

// consume settles the intent of a node.
func (s *State) consume(at time.Time, c *Changes, n *Node) {
	if n.Intent == nil {
		return
	}
	c.mark(at)
	c.Consume = append(c.Consume, n.Intent.Nonce)
	n.Intent = nil
}

// withdraw releases the intent and the locks of a node whose write has ended or is not to be made.
func (s *State) withdraw(at time.Time, c *Changes, n *Node) {
	s.consume(at, c, n)
	if len(n.Spec.Locks) > 0 {
		c.mark(at)
		c.Release = append(c.Release, n.ID())
	}
}

// record adds an entry about a node to the ledger.
func (s *State) record(at time.Time, c *Changes, n *Node, e contracts.LedgerEntry, payload any) {
	e.NodeID, e.Tool = n.ID(), n.Spec.Tool
	c.record(at, e, payload)
}

// emit adds an event about the run, or about one of its nodes without personal data.
func (s *State) emit(at time.Time, c *Changes, n *Node, e contracts.Event) {
	e.SessionID, e.RunID, e.At = s.Run.SessionID, s.Run.ID, at
	if n != nil {
		e.NodeID, e.Phase, e.NodeName = n.ID(), n.Spec.Phase, n.Spec.Title
		if e.NodeName == "" {
			e.NodeName = n.Spec.Tool
		}
		e.NodeName, e.Summary = n.Masked(e.NodeName), n.Masked(e.Summary)
	}
	e.Summary = contracts.CleanSummary(e.Summary)
	c.mark(at)
	c.Events = append(c.Events, e)
}

// begins reports whether row is the first one with a start time.
func (n *Node) begins(row *Row) bool { return n.Row.StartedAt == nil && row.StartedAt != nil }

func nodeStart() contracts.Event {
	return contracts.Event{Type: contracts.EventNodeStart, Status: string(contracts.NodeRunning)}
}

// Begin sets the first start time of a node.
func (r *Row) Begin(at time.Time) {
	if r.StartedAt == nil {
		r.StartedAt = &at
	}
}
