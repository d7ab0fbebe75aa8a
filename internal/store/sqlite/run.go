package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

const insertRun = `
INSERT INTO run (id, session_id, requester, format, state, owner, epoch, lease_until, wake_seq, handled_seq, wake_at,
  parked, cancel_requested_at, cancelled_by, ledger_seq, ledger_head, verdict, created_at, updated_at, finished_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, '', 0, '', '', ?, ?, 0)
ON CONFLICT DO NOTHING`

// CreateRun inserts a run with its first transition.
func (s *Runs) CreateRun(ctx context.Context, run execution.Run, ttl time.Duration, first execution.Transition) error {
	plan, err := stored.Encode(run.Plan)
	if err != nil {
		return err
	}
	first.Lease.RunID = run.ID
	t, err := stored.Prepare(first, s.now())
	if err != nil {
		return err
	}
	t.Names = append(t.Names, stored.NamedIn(plan)...)
	return s.write(ctx, "create run "+run.ID, func(ctx context.Context, x *tx) error {
		if err := x.insertRun(ctx, run, ttl, plan); err != nil {
			return err
		}
		head, err := x.head(ctx, run.ID)
		if err != nil {
			return err
		}
		_, err = x.apply(ctx, head, t)
		return err
	})
}

func (x *tx) insertRun(ctx context.Context, run execution.Run, ttl time.Duration, plan string) error {
	var leaseUntil int64
	if run.Owner != "" {
		run.Epoch, leaseUntil = max(run.Epoch, 1), stored.Nanos(x.now.Add(ttl))
	}
	created := cmp.Or(stored.Nanos(run.CreatedAt), stored.Nanos(x.now))
	n, err := x.exec(ctx, insertRun, run.ID, run.SessionID, run.Plan.Owner.Subject(), cmp.Or(run.Format, execution.Format),
		string(run.State), run.Owner, run.Epoch, leaseUntil, run.WakeSeq, run.HandledSeq, created, cmp.Or(stored.Nanos(run.UpdatedAt), created))
	if err != nil {
		return err
	}
	if n == 0 {
		return contracts.Errorf(contracts.CodeConflict, "there is a run %q already", run.ID)
	}
	_, err = x.exec(ctx, `INSERT INTO plan (run_id, body) VALUES (?, ?)`, run.ID, plan)
	return err
}

// head is the part of a run's row that commits are decided by.
type head struct {
	id, session, owner     string
	state, verdict         string
	epoch, leaseUntil      int64
	wakeSeq, handledSeq    int64
	wakeAt                 int64
	ledgerSeq              int64
	ledgerHead             string
	cancelled, finished    bool
	parked                 bool
	cancelledAt, updatedAt int64
	format                 int
}

const selectHead = `
SELECT id, session_id, owner, state, verdict, epoch, lease_until, wake_seq, handled_seq, wake_at, ledger_seq, ledger_head,
  parked, cancel_requested_at, updated_at, finished_at > 0, format
FROM run WHERE id = ?`

func (h *handle) head(ctx context.Context, runID string) (head, error) {
	var r head
	err := h.row(ctx, selectHead, runID).Scan(&r.id, &r.session, &r.owner, &r.state, &r.verdict, &r.epoch, &r.leaseUntil,
		&r.wakeSeq, &r.handledSeq, &r.wakeAt, &r.ledgerSeq, &r.ledgerHead, &r.parked, &r.cancelledAt, &r.updatedAt, &r.finished, &r.format)
	if errors.Is(err, sql.ErrNoRows) {
		return r, noRun(runID)
	}
	r.cancelled = r.cancelledAt != 0
	return r, err
}

// held gives the row of a run that the lease still names.
func (h *handle) held(ctx context.Context, l execution.Lease) (head, error) {
	r, err := h.head(ctx, l.RunID)
	if err != nil {
		return r, err
	}
	if l.Owner == "" || r.owner != l.Owner || r.epoch != l.Epoch || r.finished {
		return r, contracts.Errorf(contracts.CodeLeaseLost, "run %s is not held by %s in epoch %d any more", l.RunID, l.Owner, l.Epoch)
	}
	return r, nil
}

// wake lets a run go on, if it has not ended.
func (x *tx) wake(ctx context.Context, runID string) error {
	_, err := x.exec(ctx, `UPDATE run SET wake_seq = wake_seq + 1 WHERE id = ? AND finished_at = 0`, runID)
	return err
}

const selectRun = `
SELECT r.id, r.session_id, r.format, r.state, r.owner, r.epoch, r.lease_until, r.wake_seq, r.handled_seq, r.wake_at, r.parked,
  r.cancel_requested_at, r.cancelled_by, r.ledger_seq, r.ledger_head, r.verdict, r.created_at, r.updated_at, r.finished_at,
  coalesce((SELECT q.since FROM quarantine q WHERE q.run_id = r.id AND r.finished_at = 0), 0), p.body
FROM run r JOIN plan p ON p.run_id = r.id `

// selectBrief is selectRun with an empty plan in the place of the real one,
// which is by far the largest part of a run.
var selectBrief = strings.NewReplacer("p.body", "'{}'", "JOIN plan p ON p.run_id = r.id ", "").Replace(selectRun)

// LoadRun gives all that is needed to go on with a run.
func (s *Runs) LoadRun(ctx context.Context, runID string) (execution.Snapshot, error) {
	var got execution.Snapshot
	err := s.snapshot(ctx, "load run "+runID, func(ctx context.Context, h *handle) error {
		var err error
		if got.Run, err = stored.ScanRun(h.row(ctx, selectRun+`WHERE r.id = ?`, runID)); err != nil {
			return missing(err, noRun(runID))
		}
		if got.Nodes, err = collect(ctx, h, stored.ScanNode, `SELECT body FROM node WHERE run_id = ? ORDER BY place`, runID); err != nil {
			return err
		}
		if got.Gates, err = h.gatesOf(ctx, runID); err != nil {
			return err
		}
		got.Intents, err = collect(ctx, h, stored.ScanIntent, selectIntent+`WHERE run_id = ? ORDER BY place`, runID)
		return err
	})
	return got, err
}

// ReadSignals gives what others wrote for a run.
func (s *Runs) ReadSignals(ctx context.Context, runID string) (execution.Signals, error) {
	got := execution.Signals{Now: s.now()}
	err := s.snapshot(ctx, "read the signals of run "+runID, func(ctx context.Context, h *handle) error {
		var cancelled int64
		err := h.row(ctx, `SELECT wake_seq, cancel_requested_at, cancelled_by FROM run WHERE id = ?`, runID).
			Scan(&got.WakeSeq, &cancelled, &got.CancelledBy)
		if err != nil {
			return missing(err, noRun(runID))
		}
		got.CancelRequestedAt = stored.Moment(cancelled)
		if got.Gates, err = h.gatesOf(ctx, runID); err != nil {
			return err
		}
		got.Intents, err = collect(ctx, h, stored.ScanIntent, selectIntent+`WHERE run_id = ? AND consumed = 0 ORDER BY place`, runID)
		return err
	})
	return got, err
}

// RequestCancel notes the first wish to end a run.
func (s *Runs) RequestCancel(ctx context.Context, runID, by string) error {
	return s.write(ctx, "cancel run "+runID, func(ctx context.Context, x *tx) error {
		r, err := x.head(ctx, runID)
		switch {
		case err != nil:
			return err
		case r.finished:
			return contracts.Errorf(contracts.CodeConflict, "run %s has ended already: %s", runID, r.state)
		case r.cancelled:
			return nil
		}
		_, err = x.exec(ctx, `UPDATE run SET cancel_requested_at = ?, cancelled_by = ?, wake_seq = wake_seq + 1 WHERE id = ?`,
			stored.Nanos(x.now), by, runID)
		return err
	})
}

// ListRuns gives runs, newest first.
func (s *Runs) ListRuns(ctx context.Context, f execution.RunFilter) (contracts.List[execution.Run], error) {
	var none contracts.List[execution.Run]
	var q query
	if f.SessionID != "" {
		q.Where(`r.session_id = ?`, f.SessionID)
	}
	if f.Owner != "" {
		q.Where(`r.requester = ?`, f.Owner)
	}
	if len(f.States) > 0 {
		states, err := list(f.States)
		if err != nil {
			return none, err
		}
		q.Where(`r.state IN (SELECT value FROM json_each(?))`, states)
	}
	if !f.Before.IsZero() {
		q.Where(`r.created_at < ?`, stored.Nanos(f.Before))
	}
	if f.ScoreBelow > 0 {
		q.Where(`CASE WHEN r.verdict <> '' THEN json_extract(r.verdict, '$.score') END < ?`, f.ScoreBelow)
	}
	if f.Held {
		q.Where(`r.finished_at = 0 AND r.id IN (SELECT q.run_id FROM quarantine q)`)
	}
	if err := q.Beyond(f.Cursor, `r.created_at, r.id`, `<`); err != nil {
		return none, err
	}
	selects := selectRun
	if f.Brief {
		selects = selectBrief
	}
	text, args := q.text(selects, `ORDER BY r.created_at DESC, r.id DESC`, f.Limit)
	var runs []execution.Run
	err := s.view(ctx, "list runs", func(ctx context.Context, h *handle) error {
		var err error
		runs, err = collect(ctx, h, stored.ScanRun, text, args...)
		return err
	})
	return contracts.Cut(runs, f.Limit, func(r execution.Run) string { return stored.Mark(r.CreatedAt, r.ID) }), err
}

// limitOf is a LIMIT; SQLite reads a negative one as none.
func limitOf(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}

func noRun(runID string) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no run %q", runID)
}

// missing gives the better error when a row was not there.
func missing(err, better error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return better
	}
	return err
}
