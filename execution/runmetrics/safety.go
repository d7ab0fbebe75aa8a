package runmetrics

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/admission"
	"github.com/manifold-run/manifold/execution/runstate"
)

// Grace is how long a run that can be advanced may wait before it counts as stuck. Leases last 10
// s, and sweeps run every few seconds.
const Grace = time.Minute

// bypassed returns the writes that were announced without a prior approval of exactly that action
// by enough people.
func bypassed(s *runstate.State, snap runstate.Snapshot) []string {
	var out []string
	for _, in := range snap.Intents {
		n := s.Node(in.NodeID)
		if n == nil || n.Spec.Policy == nil || !n.Spec.Policy.ApprovalRequired || snap.Run.Plan.DryRun {
			continue
		}
		approved := slices.ContainsFunc(snap.Gates, func(g contracts.Interrupt) bool {
			return g.NodeID == in.NodeID && g.Type.IsGate() && g.Status == contracts.InterruptApproved && enough(g) &&
				g.ActionSHA256 == in.ActionSHA256 && !g.Decisions[len(g.Decisions)-1].DecidedAt.After(in.CreatedAt)
		})
		if !approved {
			out = append(out, in.NodeID)
		}
	}
	return out
}

// enough reports whether a gate has enough approvers, including the initiator if it requires two
// persons. It does not use the code of the gate, so that a bug there does not hide a violation.
func enough(g contracts.Interrupt) bool {
	people, initiator := map[string]bool{}, false
	for _, d := range g.Decisions {
		if d.Decision == contracts.DecisionApprove {
			people[d.DecidedBy] = true
			initiator = initiator || d.Relation == contracts.RelationInitiator
		}
	}
	two := g.Eyes() == contracts.EyesTwoPersons
	least := max(g.Quorum, 1)
	if two {
		least = max(g.Quorum, 2)
	}
	return len(people) >= least && (initiator || !two)
}

// write is a write with the time that it was in flight.
type write struct {
	runID string
	keys  []string
	span
}

// writes returns the writes with known start and end, with the locks that they held.
func writes(s *runstate.State, snap runstate.Snapshot) []write {
	var out []write
	for _, in := range snap.Intents {
		n := s.Node(in.NodeID)
		if n == nil || in.Outcome == nil {
			continue
		}
		var params map[string]any
		if err := json.Unmarshal(in.Parameters, &params); err != nil {
			params = nil // then its locks have * for parameters
		}
		keys := admission.LockKeys(n.Spec.Locks, func(name string) string { return placed(params[name]) })
		out = append(out, write{in.RunID, keys, span{in.CreatedAt, in.Outcome.At}})
	}
	return out
}

// placed formats a parameter for a lock key.
func placed(v any) string {
	if v == nil {
		return "*"
	}
	return runstate.Text(v)
}

// collisions returns the run of each pair of writes that were in flight at the same time although
// they are of one run or hold the same lock.
func collisions(all []write) []string {
	slices.SortFunc(all, func(a, b write) int { return a.from.Compare(b.from) })
	var out []string
	var open []write
	for _, w := range all {
		open = slices.DeleteFunc(open, func(o write) bool { return !o.to.After(w.from) })
		for _, o := range open {
			if o.runID == w.runID || slices.ContainsFunc(o.keys, func(k string) bool { return slices.Contains(w.keys, k) }) {
				out = append(out, w.runID)
			}
		}
		open = append(open, w)
	}
	return out
}

// stuck returns 1 for a run that could be advanced and was not taken for longer than a take-over
// lasts, and for a run that cannot be read.
func stuck(snap runstate.Snapshot, now time.Time) int {
	r := snap.Run
	given := func(g contracts.Interrupt) bool { return g.Type == contracts.InterruptRunUnreadable }
	if slices.ContainsFunc(snap.Gates, given) {
		return 1 // it was taken, and could not be read
	}
	late := now.Add(-Grace)
	due := !r.Parked || r.WakeSeq > r.HandledSeq || !r.WakeAt.IsZero() && r.WakeAt.Before(late)
	if r.State.Terminal() || r.HeldSince != nil || !due || r.LeaseUntil.After(late) || r.UpdatedAt.After(late) {
		return 0
	}
	return 1
}

// Holes returns what the ledger of a run does not explain: a broken chain, and rows that differ
// from their entries or have none. payload reads the payload of an entry. A run whose rows were
// deleted has none.
func Holes(snap runstate.Snapshot, ledger []contracts.LedgerEntry, payload func(contracts.LedgerEntry) ([]byte, error)) []string {
	var out []string
	if err := runstate.VerifyRun(snap.Run, ledger); err != nil {
		out = append(out, strings.TrimSpace(err.Error()))
	}
	return append(out, runstate.VerifyRows(snap, ledger, payload)...)
}
