package sqlstore

import (
	"context"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

const selectRun = `
SELECT r.id, r.session_id, r.format, r.state, r.owner, r.epoch, r.lease_until, r.wake_seq, r.handled_seq, r.wake_at, r.parked,
  r.cancel_requested_at, r.cancelled_by, r.ledger_seq, r.ledger_head, r.verdict, r.created_at, r.updated_at, r.finished_at,
  coalesce((SELECT q.since FROM quarantine q WHERE q.run_id = r.id AND r.finished_at = 0), 0), p.body
FROM run r JOIN plan p ON p.run_id = r.id `

// selectBrief is selectRun with an empty plan, which is by far the largest part of a run.
var selectBrief = strings.NewReplacer("p.body", "'{}'", "JOIN plan p ON p.run_id = r.id ", "").Replace(selectRun)

const (
	selectNodes = `SELECT body FROM node WHERE run_id = $1 ORDER BY place`
	gatesOf     = selectInterrupt + `WHERE run_id = $1 ORDER BY place`
	intentsOf   = selectIntent + `WHERE run_id = $1 ORDER BY place`
)

// LoadRun returns a snapshot of everything that is needed to resume a run, or an error of code
// not_found.
func (s *RunStore) LoadRun(ctx context.Context, runID string) (execution.Snapshot, error) {
	var got execution.Snapshot
	var runs []execution.Run
	args := []any{runID}
	err := s.db.Snapshot(ctx,
		Statement{Text: selectRun + `WHERE r.id = $1`, Args: args, Each: appendRows(&runs, stored.ScanRun)},
		Statement{Text: selectNodes, Args: args, Each: appendRows(&got.Nodes, stored.ScanNode)},
		Statement{Text: gatesOf, Args: args, Each: appendRows(&got.Gates, stored.ScanInterrupt)},
		Statement{Text: intentsOf, Args: args, Each: appendRows(&got.Intents, stored.ScanIntent)})
	if err == nil && len(runs) == 0 {
		err = missing("run", runID)
	}
	if err != nil {
		return execution.Snapshot{}, s.db.Fault("load run "+runID, err)
	}
	got.Run = runs[0]
	return got, nil
}

const (
	selectSignals = `SELECT wake_seq, cancel_requested_at, cancelled_by, {now} FROM run WHERE id = $1`
	openIntentsOf = selectIntent + `WHERE run_id = $1 AND consumed = false ORDER BY place`
)

// ReadSignals returns what others have written for a run: decisions, outcomes and a cancellation
// request.
func (s *RunStore) ReadSignals(ctx context.Context, runID string) (execution.Signals, error) {
	var got execution.Signals
	found := false
	args := []any{runID}
	err := s.db.Snapshot(ctx,
		Statement{Text: selectSignals, Args: args, Each: func(row stored.Row) error {
			var at, cancelled int64
			err := row.Scan(&got.WakeSeq, &cancelled, &got.CancelledBy, &at)
			got.Now, got.CancelRequestedAt, found = stored.Stamp(at), stored.Moment(cancelled), true
			return err
		}},
		Statement{Text: gatesOf, Args: args, Each: appendRows(&got.Gates, stored.ScanInterrupt)},
		Statement{Text: openIntentsOf, Args: args, Each: appendRows(&got.Intents, stored.ScanIntent)})
	if err == nil && !found {
		err = missing("run", runID)
	}
	if err != nil {
		return execution.Signals{}, s.db.Fault("read the signals of run "+runID, err)
	}
	return got, nil
}

const requestCancel = `
UPDATE run SET cancel_requested_at = {now}, cancelled_by = $2, wake_seq = wake_seq + 1
WHERE id = $1 AND finished_at = 0 AND cancel_requested_at = 0 RETURNING session_id`

// RequestCancel stores the first cancellation request of a run and wakes it. A repeated request
// has no effect; for a finished run the error has code conflict. It commits.
func (s *RunStore) RequestCancel(ctx context.Context, runID, by string) error {
	return s.transact(ctx, "cancel run "+runID, func(ctx context.Context, x Tx) error {
		sessions, err := queryAll(ctx, x, stored.Text, requestCancel, runID, by)
		if err != nil {
			return err
		}
		if len(sessions) == 0 {
			return whyNotCancelled(ctx, x, runID)
		}
		if err := x.Notify(ctx, Change{SessionID: sessions[0], RunID: runID}); err != nil {
			return err
		}
		return x.WakeRuns(ctx, runID)
	})
}

// whyNotCancelled returns why a run cannot be cancelled, or nil if its cancellation was requested
// before.
func whyNotCancelled(ctx context.Context, q Querier, runID string) error {
	ended, err := queryRow(ctx, q, missing("run", runID), stored.Text, `SELECT CASE WHEN finished_at > 0 THEN state ELSE '' END FROM run WHERE id = $1`, runID)
	if err == nil && ended != "" {
		err = contracts.Errorf(contracts.CodeConflict, "run %s has ended already: %s", runID, ended)
	}
	return err
}
