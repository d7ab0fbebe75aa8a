package postgres

import (
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// head is the part of a run's row that commits are decided by, and change.
// Times are nanoseconds.
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
	// waits says that the run waits for a lock of a resource.
	waits bool

	// changed says that the row is to be written, born that it is a new one.
	changed bool
	born    *birth
	// woken and parks say what the group did: woke the run, or let it rest.
	woken, parks bool
}

// birth is what is written of a run once.
type birth struct {
	requester string
	createdAt int64
	plan      string
}

func scanHead(row stored.Row) (*head, error) {
	var r head
	err := row.Scan(&r.id, &r.session, &r.owner, &r.state, &r.verdict, &r.epoch, &r.leaseUntil, &r.wakeSeq, &r.handledSeq, &r.wakeAt,
		&r.ledgerSeq, &r.ledgerHead, &r.parked, &r.cancelledAt, &r.updatedAt, &r.finishedAt, &r.format, &r.waits)
	return &r, err
}

// held gives the row of a run that the lease still names.
func (g *group) held(l execution.Lease) (*head, error) {
	r, ok := g.runs[l.RunID]
	if !ok {
		return nil, noRun(l.RunID)
	}
	if l.Owner == "" || r.owner != l.Owner || r.epoch != l.Epoch || r.finishedAt != 0 {
		return nil, contracts.Errorf(contracts.CodeLeaseLost, "run %s is not held by %s in epoch %d any more", l.RunID, l.Owner, l.Epoch)
	}
	return r, nil
}

// wake lets a run of the group go on, unless it has ended.
func (g *group) wake(runID string) {
	if r, ok := g.runs[runID]; ok && r.finishedAt == 0 {
		r.wakeSeq++
		r.changed, r.woken = true, true
	}
}

const (
	insertRuns = `
INSERT INTO run (id, session_id, owner, state, verdict, epoch, lease_until, wake_seq, handled_seq, wake_at, ledger_seq, ledger_head,
  parked, updated_at, finished_at, requester, format, created_at, cancel_requested_at, cancelled_by)
SELECT *, 0, '' FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
  $10::bigint[], $11::bigint[], $12::text[], $13::boolean[], $14::bigint[], $15::bigint[], $16::text[], $17::integer[], $18::bigint[])`
	insertPlans = `INSERT INTO plan (run_id, body) SELECT * FROM unnest($1::text[], $2::text[])`
	updateRuns  = `
UPDATE run SET owner = u.owner, state = u.state, verdict = u.verdict, epoch = u.epoch, lease_until = u.lease_until, wake_seq = u.wake_seq,
  handled_seq = u.handled_seq, wake_at = u.wake_at, ledger_seq = u.ledger_seq, ledger_head = u.ledger_head, parked = u.parked,
  updated_at = u.updated_at, finished_at = u.finished_at
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
  $10::bigint[], $11::text[], $12::boolean[], $13::bigint[], $14::bigint[])
  AS u (id, owner, state, verdict, epoch, lease_until, wake_seq, handled_seq, wake_at, ledger_seq, ledger_head, parked, updated_at, finished_at)
WHERE run.id = u.id`
)

// queueHeads writes the rows of runs that were changed.
func queueHeads(b *pgx.Batch, runs map[string]*head) {
	var old, born []*head
	for _, id := range slices.Sorted(maps.Keys(runs)) {
		switch r := runs[id]; {
		case r.born != nil:
			born = append(born, r)
		case r.changed:
			old = append(old, r)
		}
	}
	if len(old) > 0 {
		b.Queue(updateRuns, column(old, func(r *head) string { return r.id }), column(old, func(r *head) string { return r.owner }),
			column(old, func(r *head) string { return r.state }), column(old, func(r *head) string { return r.verdict }),
			column(old, func(r *head) int64 { return r.epoch }), column(old, func(r *head) int64 { return r.leaseUntil }),
			column(old, func(r *head) int64 { return r.wakeSeq }), column(old, func(r *head) int64 { return r.handledSeq }),
			column(old, func(r *head) int64 { return r.wakeAt }), column(old, func(r *head) int64 { return r.ledgerSeq }),
			column(old, func(r *head) string { return r.ledgerHead }), column(old, func(r *head) bool { return r.parked }),
			column(old, func(r *head) int64 { return r.updatedAt }), column(old, func(r *head) int64 { return r.finishedAt }))
	}
	if len(born) > 0 {
		ids := column(born, func(r *head) string { return r.id })
		b.Queue(insertRuns, ids, column(born, func(r *head) string { return r.session }), column(born, func(r *head) string { return r.owner }),
			column(born, func(r *head) string { return r.state }), column(born, func(r *head) string { return r.verdict }),
			column(born, func(r *head) int64 { return r.epoch }), column(born, func(r *head) int64 { return r.leaseUntil }),
			column(born, func(r *head) int64 { return r.wakeSeq }), column(born, func(r *head) int64 { return r.handledSeq }),
			column(born, func(r *head) int64 { return r.wakeAt }), column(born, func(r *head) int64 { return r.ledgerSeq }),
			column(born, func(r *head) string { return r.ledgerHead }), column(born, func(r *head) bool { return r.parked }),
			column(born, func(r *head) int64 { return r.updatedAt }), column(born, func(r *head) int64 { return r.finishedAt }),
			column(born, func(r *head) string { return r.born.requester }), column(born, func(r *head) int { return r.format }),
			column(born, func(r *head) int64 { return r.born.createdAt }))
		b.Queue(insertPlans, ids, column(born, func(r *head) string { return r.born.plan }))
	}
}

// column gives one field of each row.
func column[R, T any](rows []R, field func(R) T) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = field(r)
	}
	return out
}

func noRun(runID string) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no run %q", runID)
}
