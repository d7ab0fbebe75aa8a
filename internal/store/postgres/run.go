package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/postgres/notify"
	"github.com/manifold-run/manifold/internal/store/stored"
)

const selectRun = `
SELECT r.id, r.session_id, r.format, r.state, r.owner, r.epoch, r.lease_until, r.wake_seq, r.handled_seq, r.wake_at, r.parked,
  r.cancel_requested_at, r.cancelled_by, r.ledger_seq, r.ledger_head, r.verdict, r.created_at, r.updated_at, r.finished_at,
  coalesce((SELECT q.since FROM quarantine q WHERE q.run_id = r.id AND r.finished_at = 0), 0), p.body
FROM run r JOIN plan p ON p.run_id = r.id `

// selectBrief is selectRun with an empty plan in the place of the real one,
// which is by far the largest part of a run.
var selectBrief = strings.NewReplacer("p.body", "'{}'", "JOIN plan p ON p.run_id = r.id ", "").Replace(selectRun)

// snapshot does several reads that see one state of the database, in one round
// trip.
func (d *db) snapshot(ctx context.Context, doing string, queue func(*pgx.Batch)) error {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return translate(doing, err)
	}
	defer conn.Release() // which drops a connection that is in the midst of something
	var b pgx.Batch
	b.Queue(`BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY`)
	queue(&b)
	b.Queue(`COMMIT`)
	return translate(doing, conn.SendBatch(ctx, &b).Close())
}

// into keeps the rows of a query of a batch.
func into[T any](all *[]T, scan func(stored.Row) (T, error)) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*all, err = read(rows, scan)
		return err
	}
}

// LoadRun gives all that is needed to go on with a run.
func (s *Runs) LoadRun(ctx context.Context, runID string) (execution.Snapshot, error) {
	var got execution.Snapshot
	var runs []execution.Run
	err := s.snapshot(ctx, "load run "+runID, func(b *pgx.Batch) {
		b.Queue(selectRun+`WHERE r.id = $1`, runID).Query(into(&runs, stored.ScanRun))
		b.Queue(`SELECT body FROM node WHERE run_id = $1 ORDER BY place`, runID).Query(into(&got.Nodes, stored.ScanNode))
		b.Queue(gatesOf, runID).Query(into(&got.Gates, stored.ScanInterrupt))
		b.Queue(selectIntent+`WHERE run_id = $1 ORDER BY place`, runID).Query(into(&got.Intents, stored.ScanIntent))
	})
	if err != nil {
		return execution.Snapshot{}, err
	}
	if len(runs) == 0 {
		return execution.Snapshot{}, noRun(runID)
	}
	got.Run = runs[0]
	return got, nil
}

const gatesOf = selectInterrupt + `WHERE run_id = $1 ORDER BY place`

// ReadSignals gives what others wrote for a run.
func (s *Runs) ReadSignals(ctx context.Context, runID string) (execution.Signals, error) {
	var got execution.Signals
	var at, cancelled int64
	found := false
	err := s.snapshot(ctx, "read the signals of run "+runID, func(b *pgx.Batch) {
		b.Queue(`SELECT wake_seq, cancel_requested_at, cancelled_by, `+now+` FROM run WHERE id = $1`, runID).QueryRow(func(row pgx.Row) error {
			err := row.Scan(&got.WakeSeq, &cancelled, &got.CancelledBy, &at)
			found = err == nil
			return instead(err, nil)
		})
		b.Queue(gatesOf, runID).Query(into(&got.Gates, stored.ScanInterrupt))
		b.Queue(selectIntent+`WHERE run_id = $1 AND NOT consumed ORDER BY place`, runID).Query(into(&got.Intents, stored.ScanIntent))
	})
	if err != nil {
		return execution.Signals{}, err
	}
	if !found {
		return execution.Signals{}, noRun(runID)
	}
	got.Now, got.CancelRequestedAt = stored.Stamp(at), stored.Moment(cancelled)
	return got, nil
}

const requestCancel = `
WITH was AS (SELECT id, session_id, state, finished_at, cancel_requested_at FROM run WHERE id = $1 FOR UPDATE),
  noted AS (UPDATE run SET cancel_requested_at = ` + now + `, cancelled_by = $2, wake_seq = wake_seq + 1
    FROM was WHERE run.id = was.id AND was.finished_at = 0 AND was.cancel_requested_at = 0)
SELECT state, finished_at > 0, session_id FROM was`

// RequestCancel commits the first wish to end a run.
func (s *Runs) RequestCancel(ctx context.Context, runID, by string) error {
	var state, session string
	var ended bool
	err := s.transact(ctx, "cancel run "+runID, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, requestCancel, runID, by).Scan(&state, &ended, &session); err != nil {
			return instead(err, noRun(runID))
		}
		if _, err := tx.Exec(ctx, notify.Tell, s.post.Channel, s.post.Payload(Change{SessionID: session, RunID: runID})); err != nil {
			return err
		}
		return wakeJobs(ctx, s.db, tx, runID)
	})
	if err == nil && ended {
		return contracts.Errorf(contracts.CodeConflict, "run %s has ended already: %s", runID, state)
	}
	return err
}

// ListRuns gives runs, newest first.
func (s *Runs) ListRuns(ctx context.Context, f execution.RunFilter) (contracts.List[execution.Run], error) {
	var q query
	if f.SessionID != "" {
		q.Where(`r.session_id = ?`, f.SessionID)
	}
	if f.Owner != "" {
		q.Where(`r.requester = ?`, f.Owner)
	}
	if len(f.States) > 0 {
		q.Where(`r.state = ANY(?)`, stored.Texts(f.States))
	}
	if !f.Before.IsZero() {
		q.Where(`r.created_at < ?`, stored.Nanos(f.Before))
	}
	if f.ScoreBelow > 0 {
		q.Where(`CASE WHEN r.verdict <> '' THEN (r.verdict::jsonb->>'score')::float8 END < ?`, f.ScoreBelow)
	}
	if f.Held {
		q.Where(`r.finished_at = 0 AND r.id IN (SELECT q.run_id FROM quarantine q)`)
	}
	if err := q.Beyond(f.Cursor, `r.created_at, r.id`, `<`); err != nil {
		return contracts.List[execution.Run]{}, err
	}
	selects := selectRun
	if f.Brief {
		selects = selectBrief
	}
	text, args := q.text(selects, `ORDER BY r.created_at DESC, r.id DESC`, f.Limit)
	runs, err := list(ctx, s.db, "list runs", stored.ScanRun, text, args...)
	return contracts.Cut(runs, f.Limit, func(r execution.Run) string { return stored.Mark(r.CreatedAt, r.ID) }), err
}
