package sqlstore

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// head is the part of a run's row that commits read and change. Times are nanoseconds since 1970.
type head struct {
	id, session, owner     string
	state, verdict         string
	epoch, leaseUntil      int64
	wakeSeq, handledSeq    int64
	wakeAt                 int64
	ledgerSeq              int64
	ledgerHead             string
	parked                 bool
	cancelledAt, updatedAt int64
	finishedAt             int64
	format                 int
	// waits means that the run is in the queue of a resource lock.
	waits bool

	// changed means that the row must be written. born is set if the row is new.
	changed bool
	born    *runInsert
	// woken and parks mean that the group woke or parked the run.
	woken, parks bool
}

// runInsert has the columns of a run that never change.
type runInsert struct {
	requester string
	createdAt int64
	plan      string
	// goal and domains are the searchable columns.
	goal, domains string
}

const (
	headColumns = `id, session_id, owner, state, verdict, epoch, lease_until, wake_seq, handled_seq, wake_at, ledger_seq, ledger_head,
  parked, cancel_requested_at, updated_at, finished_at, format, EXISTS (SELECT 1 FROM lock_waiter w WHERE w.run_id = run.id)`
	selectHead  = `SELECT ` + headColumns + ` FROM run WHERE id = $1{pg: FOR UPDATE}`
	selectHeads = `SELECT ` + headColumns + ` FROM run WHERE id {any $1} ORDER BY id{pg: FOR UPDATE}`
	// selectWider also locks the runs that may be woken by the release of a lock.
	selectWider = `SELECT ` + headColumns + ` FROM run WHERE id {any $1} OR id IN (
  SELECT w.run_id FROM lock_waiter w WHERE w.key {any $2} OR w.key IN (
    SELECT key FROM held_lock WHERE run_id {any $1} UNION ALL SELECT key FROM lock_waiter WHERE run_id {any $1}))
ORDER BY id{pg: FOR UPDATE}`
)

func scanHead(row stored.Row) (*head, error) {
	var r head
	err := row.Scan(&r.id, &r.session, &r.owner, &r.state, &r.verdict, &r.epoch, &r.leaseUntil, &r.wakeSeq, &r.handledSeq, &r.wakeAt,
		&r.ledgerSeq, &r.ledgerHead, &r.parked, &r.cancelledAt, &r.updatedAt, &r.finishedAt, &r.format, &r.waits)
	return &r, err
}

// held returns the row of a run if the lease is still valid, otherwise an error of code
// lease_lost.
func (g *group) held(l execution.Lease) (*head, error) {
	r, ok := g.runs[l.RunID]
	if !ok {
		return nil, missing("run", l.RunID)
	}
	if l.Owner == "" || r.owner != l.Owner || r.epoch != l.Epoch || r.finishedAt != 0 {
		return nil, leaseLost(l)
	}
	return r, nil
}

func leaseLost(l execution.Lease) error {
	return contracts.Errorf(contracts.CodeLeaseLost, "run %s is not held by %s in epoch %d any more", l.RunID, l.Owner, l.Epoch)
}

// wake increases the wake sequence of a run in the group, unless the run has finished.
func (g *group) wake(runID string) {
	if r, ok := g.runs[runID]; ok && r.finishedAt == 0 {
		r.wakeSeq++
		r.changed, r.woken = true, true
	}
}

// headRows returns the rows of inserted and changed runs.
func headRows(runs map[string]*head) []Rows {
	old, born := Rows{Table: &tables.runs}, Rows{Table: &tables.born}
	plans, search := Rows{Table: &tables.plans}, Rows{Table: &tables.search}
	for _, id := range slices.Sorted(maps.Keys(runs)) {
		r := runs[id]
		switch {
		case r.born != nil:
			born.add(r.id, r.session, r.owner, r.state, r.verdict, r.epoch, r.leaseUntil, r.wakeSeq, r.handledSeq, r.wakeAt, r.ledgerSeq, r.ledgerHead,
				r.parked, r.updatedAt, r.finishedAt, r.born.requester, int64(r.format), r.born.createdAt, int64(0), "")
			plans.add(r.id, r.born.plan)
			search.add(r.born.createdAt, r.id, r.born.goal, r.born.domains)
		case r.changed:
			old.add(r.id, r.owner, r.state, r.verdict, r.epoch, r.leaseUntil, r.wakeSeq, r.handledSeq, r.wakeAt, r.ledgerSeq, r.ledgerHead,
				r.parked, r.updatedAt, r.finishedAt)
		}
	}
	return []Rows{old, born, plans, search}
}
