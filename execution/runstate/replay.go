package runstate

import (
	"fmt"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Replayed is the result of replaying a run from its plan and ledger.
type Replayed struct {
	RunID   string             `json:"run_id"`
	Entries int                `json:"entries"`
	State   contracts.RunState `json:"state"`
	// Differences names the nodes whose replayed state differs from the stored one. If it is empty,
	// the ledger explains the run.
	Differences []string `json:"differences,omitempty"`
}

// Replay replays plan and ledger, and compares the node states with the stored ones. It evaluates
// no expression and makes no call; payload decodes the payload of an entry.
func Replay(snap Snapshot, entries []contracts.LedgerEntry, payload func(e contracts.LedgerEntry, into any) error) (Replayed, error) {
	s, err := Begin(Run{ID: snap.Run.ID, Plan: snap.Run.Plan, Format: snap.Run.Format, CancelRequestedAt: snap.Run.CancelRequestedAt})
	if err != nil {
		return Replayed{}, err
	}
	again := replay{state: s, payload: payload}
	if err := s.Apply(time.Time{}, RunResumed{}, &again.changes); err != nil {
		return Replayed{}, err
	}
	for _, e := range entries {
		if err := again.entry(e); err != nil {
			return Replayed{}, fmt.Errorf("replay entry %d: %w", e.Seq, err)
		}
		again.changes.Done()
	}
	again.goOn(entriesEnd)
	return compare(s, snap, len(entries)), nil
}

var entriesEnd contracts.LedgerEntry

// replay replays a run entry by entry, in a state of its own. It does not change the stored run.
type replay struct {
	state   *State
	payload func(e contracts.LedgerEntry, into any) error
	changes Changes
	// ended is the node of the last entry, if that was an outcome. Its dependents are released only
	// when it is known that no new round follows.
	ended *Node
}

// goOn releases the dependents of the node that ended last, unless the entry is the round that the
// node started: outcome and expansion are one event.
func (r *replay) goOn(e contracts.LedgerEntry) {
	n := r.ended
	if n == nil || e.Kind == contracts.LedgerExpand && e.NodeID == n.ID() {
		return
	}
	r.ended = nil
	r.state.release(e.At, &r.changes, n)
}

func (r *replay) entry(e contracts.LedgerEntry) error {
	r.goOn(e)
	switch e.Kind {
	case contracts.LedgerOutcome:
		return r.outcome(e)
	case contracts.LedgerDecision:
		return r.decision(e)
	case contracts.LedgerExpand:
		return r.expand(e)
	default:
		return nil
	}
}

func (r *replay) outcome(e contracts.LedgerEntry) error {
	var o outcome
	if err := r.payload(e, &o); err != nil {
		return err
	}
	n := r.state.Node(e.NodeID)
	if n == nil {
		return fmt.Errorf("node %s is not in the plan", e.NodeID)
	}
	if n.Ended() {
		return nil
	}
	row := n.Next()
	row.State, row.Skip, row.Spent = o.State, o.Skip, o.Spent
	r.state.put(e.At, &r.changes, n, row)
	r.ended = n
	return nil
}

func (r *replay) expand(e contracts.LedgerEntry) error {
	var x Expansion
	if err := r.payload(e, &x); err != nil {
		return err
	}
	n := r.state.Node(e.NodeID)
	if n == nil {
		return fmt.Errorf("node %s is not in the plan", e.NodeID)
	}
	if n.Ended() { // a new round, for which the node's dependents wait
		r.state.appendNodes(e.At, &r.changes, x)
		return r.changes.fault
	}
	row := n.Next()
	row.Expanded = true
	r.state.put(e.At, &r.changes, n, row)
	r.state.appendNodes(e.At, &r.changes, x)
	for _, m := range n.members {
		r.state.examine(e.At, &r.changes, m)
	}
	return r.changes.fault
}

// decision repeats a search that was made again.
func (r *replay) decision(e contracts.LedgerEntry) error {
	var answer struct {
		Response any `json:"response"`
	}
	if err := r.payload(e, &answer); err != nil {
		return err
	}
	n := r.state.Node(e.NodeID)
	if _, again := WordsOf(answer.Response); n == nil || !again {
		return nil
	}
	search, param := r.state.SearchBefore(n)
	if param == "" || search.State() != contracts.NodeCompleted {
		return nil
	}
	return r.state.Apply(e.At, SearchRepeated{Choice: n.ID(), Search: search.ID()}, &r.changes)
}

// compare ignores the states of nodes in progress, because the ledger has only ended nodes.
func compare(s *State, snap Snapshot, entries int) Replayed {
	out := Replayed{RunID: s.Run.ID, Entries: entries, State: s.RunState()}
	for i := range snap.Nodes {
		row := &snap.Nodes[i]
		n := s.Node(row.NodeID)
		switch {
		case n == nil:
			out.Differences = append(out.Differences, row.NodeID+" is stored but not explained by the ledger")
		case row.State.Terminal() != n.Ended(), row.State.Terminal() && row.State != n.State():
			out.Differences = append(out.Differences, fmt.Sprintf("%s is %s, but replays as %s", row.NodeID, row.State, n.State()))
		}
	}
	return out
}
