package sqlstore

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

// sweepBatch is the maximum number of runs per transaction, so that a sweep does not block other
// writes for long.
const sweepBatch = 50

// Sweep deletes expired raw data and the runs that finished before a time, in several small
// transactions.
func (s *RunStore) Sweep(ctx context.Context, finishedBefore time.Time) (execution.Swept, error) {
	var swept execution.Swept
	err := sweepAll(func() (int, error) {
		var part execution.Swept
		err := s.transact(ctx, "sweep", func(ctx context.Context, x Tx) (err error) {
			part, err = sweep(ctx, x, stored.Nanos(finishedBefore))
			return stored.Taken(err, func(a execution.AdminAction) error { return recordAdminAction(ctx, x, a) }, map[string]int{"raw data": part.Data})
		})
		if err == nil {
			swept.Runs, swept.Blobs, swept.Data = swept.Runs+part.Runs, swept.Blobs+part.Blobs, swept.Data+part.Data
		}
		return part.Runs, err
	})
	if err != nil {
		return swept, err
	}
	return swept, s.shrink(ctx)
}

// sweepAll repeats sweep until it processes less than a full batch.
func sweepAll(sweep func() (int, error)) error {
	for {
		if n, err := sweep(); err != nil || n < sweepBatch {
			return err
		}
	}
}

// shrink returns free space to the disk, for databases that do not do so by themselves.
func (s *core) shrink(ctx context.Context) error {
	file, ok := s.db.(interface {
		// Shrink returns some space and reports whether there is more.
		Shrink(ctx context.Context, x Tx) (more bool, err error)
	})
	for more := ok; more; {
		err := s.transact(ctx, "shrink the file", func(ctx context.Context, x Tx) (err error) {
			more, err = file.Shrink(ctx, x)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const selectEnded = `
SELECT id FROM run{lite: INDEXED BY run_ended} WHERE finished_at > 0 AND finished_at < $1 ORDER BY finished_at LIMIT 0 + $2{pg: FOR UPDATE SKIP LOCKED}`

func sweep(ctx context.Context, x Tx, finishedBefore int64) (swept execution.Swept, err error) {
	data, err := x.Exec(ctx, `DELETE FROM node_data WHERE expires_at <= {now}`)
	if err != nil {
		return swept, err
	}
	if err := x.Lock(ctx, LockWaiters, LockBlobs); err != nil {
		return swept, err
	}
	runs, err := queryAll(ctx, x, stored.Text, selectEnded, finishedBefore, sweepBatch)
	if err != nil {
		return swept, err
	}
	blobs, err := deleteRuns(ctx, x, runs, execution.AdminAction{}, execution.GoneByRetention)
	return execution.Swept{Runs: len(runs), Data: int(data), Blobs: int(blobs)}, err
}

const (
	// deleteBlobs deletes the blobs that no other run refers to.
	deleteBlobs = `
DELETE FROM blob WHERE sha256 IN (SELECT sha256 FROM blob_name WHERE run_id {any $1})
  AND NOT EXISTS (SELECT 1 FROM blob_name n WHERE n.sha256 = blob.sha256 AND NOT n.run_id {any $1})`

	deleteEvents = `
DELETE FROM event WHERE (session_id, run_id) IN (SELECT session_id, id FROM run WHERE id {any $1})`

	deleteSearch = `
DELETE FROM run_search WHERE (created_at, run_id) IN (SELECT created_at, id FROM run WHERE id {any $1})`
)

// deleteRuns deletes runs with their rows and the blobs that nothing else refers to, and returns
// the number of blobs. Ledger entries are kept; a last entry records the reason. The caller holds
// LockWaiters and LockBlobs.
func deleteRuns(ctx context.Context, x Tx, runs []string, act execution.AdminAction, why string) (blobs int64, err error) {
	if len(runs) == 0 {
		return 0, nil
	}
	args := []any{runs}
	statements := []Statement{
		{Text: deleteBlobs, Args: args, Done: func(n int64) { blobs = n }},
		{Text: deleteEvents, Args: args},
		{Text: deleteSearch, Args: args},
	}
	for _, rows := range []string{
		"blob_name WHERE run_id", "run WHERE id", "plan WHERE run_id", "quarantine WHERE run_id", "node WHERE run_id",
		"interrupt WHERE run_id", "intent WHERE run_id", "node_data WHERE run_id", "payload WHERE run_id",
	} {
		statements = append(statements, Statement{Text: `DELETE FROM ` + rows + ` {any $1}`, Args: args})
	}
	var woken []string
	if _, err := free(ctx, x, func(id string) { woken = append(woken, id) }, `run_id {any $1}`, runs); err != nil {
		return 0, err
	}
	if err := x.Send(ctx, statements); err != nil {
		return 0, err
	}
	if err := appendTombstones(ctx, x, act, why, runs...); err != nil || len(woken) == 0 {
		return blobs, err
	}
	if _, err = x.Exec(ctx, `UPDATE run SET wake_seq = wake_seq + 1 WHERE id {any $1} AND finished_at = 0`, woken); err != nil {
		return 0, err
	}
	return blobs, x.WakeRuns(ctx, woken...)
}

// deleteSession deletes a session with all its rows except ledger entries. If a run is
// unfinished, it returns an error of code conflict. The caller holds LockWaiters and LockBlobs.
func deleteSession(ctx context.Context, x Tx, id string, act execution.AdminAction, why string) error {
	var runs []string
	err := x.Query(ctx, func(row stored.Row) error {
		var run string
		var open bool
		if err := row.Scan(&run, &open); err != nil {
			return err
		}
		if open {
			return contracts.Errorf(contracts.CodeConflict, "run %s of the session has not ended; cancel it first", run)
		}
		runs = append(runs, run)
		return nil
	}, `SELECT id, finished_at = 0 FROM run WHERE session_id = $1 ORDER BY id{pg: FOR UPDATE}`, id)
	if err != nil {
		return err
	}
	if _, err := deleteRuns(ctx, x, runs, act, why); err != nil {
		return err
	}
	var found int64
	var statements []Statement
	for _, rows := range []string{"event WHERE session_id", "interrupt WHERE session_id", "outbox WHERE session_id", "turn WHERE session_id", "session WHERE id"} {
		statements = append(statements, Statement{Text: `DELETE FROM ` + rows + ` = $1`, Args: []any{id}, Done: func(n int64) { found = n }})
	}
	if err := x.Send(ctx, statements); err != nil {
		return err
	}
	if found == 0 {
		return missing("session", id)
	}
	return appendTombstones(ctx, x, act, why, execution.SessionChain(id))
}

// SweepSessions deletes sessions without runs and open gates that have not changed since a time,
// and old turns and questions, in several small transactions.
func (s *SessionStore) SweepSessions(ctx context.Context, idleSince time.Time) (orchestrator.SweptSessions, error) {
	var swept orchestrator.SweptSessions
	err := sweepAll(func() (int, error) {
		var part orchestrator.SweptSessions
		err := s.transact(ctx, "sweep sessions", func(ctx context.Context, x Tx) (err error) {
			part, err = sweepSessions(ctx, x, stored.Nanos(idleSince))
			return stored.Taken(err, func(a execution.AdminAction) error { return recordAdminAction(ctx, x, a) }, map[string]int{"turns": part.Turns, "questions": part.Questions})
		})
		if err == nil {
			swept.Sessions, swept.Turns, swept.Questions = swept.Sessions+part.Sessions, swept.Turns+part.Turns, swept.Questions+part.Questions
		}
		return part.Sessions, err
	})
	return swept, err
}

const (
	selectIdle = `
SELECT id FROM session s{lite: INDEXED BY session_updated} WHERE updated_at < $1
  AND NOT EXISTS (SELECT 1 FROM run r WHERE r.session_id = s.id)
  AND NOT EXISTS (SELECT 1 FROM interrupt i WHERE i.session_id = s.id AND i.status = 'open')
  AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.session_id = s.id AND (t.outcome = '' OR t.begun_at >= $1))
ORDER BY updated_at LIMIT 0 + $2{pg: FOR UPDATE SKIP LOCKED}`

	// Turns stored before begun_at existed are deleted with their session.
	deleteOldTurns = `
DELETE FROM turn WHERE outcome <> '' AND begun_at > 0 AND begun_at < $1
  AND NOT EXISTS (SELECT 1 FROM run r WHERE r.id = {pg:turn.run_id}{lite:json_extract(turn.body, '$.RunID')})
  AND NOT EXISTS (SELECT 1 FROM interrupt i WHERE i.id = turn.interrupt_id AND i.status = 'open')`

	deleteOldQuestions = `
DELETE FROM interrupt WHERE run_id = '' AND status <> 'open' AND {pg:created_at < $1}{lite:unixepoch(json_extract(body, '$.created_at')) < $1 / 1000000000}`
)

func sweepSessions(ctx context.Context, x Tx, idleSince int64) (swept orchestrator.SweptSessions, err error) {
	if err := x.Lock(ctx, LockWaiters, LockBlobs); err != nil {
		return swept, err
	}
	idle, err := queryAll(ctx, x, stored.Text, selectIdle, idleSince, sweepBatch)
	if err != nil {
		return swept, err
	}
	for _, id := range idle {
		if err := deleteSession(ctx, x, id, execution.AdminAction{}, execution.GoneByRetention); err != nil {
			return swept, err
		}
	}
	swept.Sessions = len(idle)
	return swept, x.Send(ctx, []Statement{
		{Text: deleteOldTurns, Args: []any{idleSince}, Done: func(n int64) { swept.Turns = int(n) }},
		{Text: deleteOldQuestions, Args: []any{idleSince}, Done: func(n int64) { swept.Questions = int(n) }},
	})
}
