package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

// sweepBatch bounds the runs of one transaction, so that a sweep holds up no
// other write for long.
const sweepBatch = 50

// Sweep deletes what retention no longer keeps, a little in each transaction.
func (s *Runs) Sweep(ctx context.Context, finishedBefore time.Time) (execution.Swept, error) {
	var swept execution.Swept
	for {
		var part execution.Swept
		err := s.transact(ctx, "sweep", func(tx pgx.Tx) (err error) {
			part, err = sweep(ctx, s.db, tx, stored.Nanos(finishedBefore))
			return stored.Taken(err, func(a execution.Act) error { return recordAct(ctx, tx, a) }, map[string]int{"raw data": part.Data})
		})
		if err != nil {
			return swept, err
		}
		swept.Runs += part.Runs
		swept.Blobs += part.Blobs
		swept.Data += part.Data
		if part.Runs < sweepBatch {
			return swept, nil
		}
	}
}

const selectEnded = `
SELECT id FROM run WHERE finished_at > 0 AND finished_at < $1 ORDER BY finished_at LIMIT $2 FOR UPDATE SKIP LOCKED`

func sweep(ctx context.Context, d *db, tx pgx.Tx, finishedBefore int64) (swept execution.Swept, err error) {
	data, err := tx.Exec(ctx, `DELETE FROM node_data WHERE expires_at <= `+now)
	if err != nil {
		return swept, err
	}
	if err := lockForDeletion(ctx, tx); err != nil {
		return swept, err
	}
	runs, err := collect(ctx, tx, stored.Text, selectEnded, finishedBefore, sweepBatch)
	if err != nil {
		return swept, err
	}
	blobs, err := deleteRuns(ctx, d, tx, runs, execution.GoneByRetention)
	return execution.Swept{Runs: len(runs), Data: int(data.RowsAffected()), Blobs: int(blobs)}, err
}

// lockForDeletion takes what deleting runs changes beside their rows.
func lockForDeletion(ctx context.Context, tx pgx.Tx) error {
	for _, lock := range []string{lockLocks, lockBlobs} {
		if _, err := tx.Exec(ctx, lock); err != nil {
			return err
		}
	}
	return nil
}

// deleteBlobs forgets what runs name, and deletes what no other run does.
const deleteBlobs = `
WITH gone AS (DELETE FROM blob_name WHERE run_id = ANY($1) RETURNING sha256)
DELETE FROM blob b WHERE b.sha256 IN (SELECT sha256 FROM gone)
  AND NOT EXISTS (SELECT 1 FROM blob_name n WHERE n.sha256 = b.sha256 AND n.run_id <> ALL($1))`

// deleteRuns deletes runs with their rows, and the blobs that nothing else
// names; ledger entries stay, and the last says why. It counts the blobs.
func deleteRuns(ctx context.Context, d *db, tx pgx.Tx, runs []string, why string) (blobs int64, err error) {
	if len(runs) == 0 {
		return 0, nil
	}
	done, err := tx.Exec(ctx, deleteBlobs, runs)
	if err != nil {
		return 0, err
	}
	var woken []string
	if _, err := free(ctx, tx, func(id string) { woken = append(woken, id) }, `run_id = ANY($1)`, runs); err != nil {
		return 0, err
	}
	statements := []string{
		`DELETE FROM event e USING run r WHERE r.id = ANY($1) AND e.session_id = r.session_id AND e.run_id = r.id`,
		`DELETE FROM run WHERE id = ANY($1)`, `DELETE FROM plan WHERE run_id = ANY($1)`, `DELETE FROM quarantine WHERE run_id = ANY($1)`, `DELETE FROM node WHERE run_id = ANY($1)`,
		`DELETE FROM interrupt WHERE run_id = ANY($1)`, `DELETE FROM intent WHERE run_id = ANY($1)`, `DELETE FROM node_data WHERE run_id = ANY($1)`,
	}
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement, runs); err != nil {
			return 0, err
		}
	}
	if err := bury(ctx, tx, why, runs...); err != nil {
		return 0, err
	}
	if len(woken) == 0 {
		return done.RowsAffected(), nil
	}
	if _, err = tx.Exec(ctx, `UPDATE run SET wake_seq = wake_seq + 1 WHERE id = ANY($1) AND finished_at = 0`, woken); err != nil {
		return 0, err
	}
	return done.RowsAffected(), wakeJobs(ctx, d, tx, woken...)
}

// deleteSession removes a session with all that belongs to it; ledger entries
// stay. An open run gives conflict.
func deleteSession(ctx context.Context, d *db, tx pgx.Tx, id, why string) error {
	type run struct {
		id   string
		open bool
	}
	runs, err := collect(ctx, tx, func(row stored.Row) (run, error) {
		var r run
		err := row.Scan(&r.id, &r.open)
		return r, err
	}, `SELECT id, finished_at = 0 FROM run WHERE session_id = $1 ORDER BY id FOR UPDATE`, id)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.open {
			return contracts.Errorf(contracts.CodeConflict, "run %s of the session has not ended; cancel it first", r.id)
		}
	}
	if _, err := deleteRuns(ctx, d, tx, column(runs, func(r run) string { return r.id }), why); err != nil {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM event WHERE session_id = $1`, `DELETE FROM interrupt WHERE session_id = $1`, `DELETE FROM outbox WHERE session_id = $1`,
		`DELETE FROM turn WHERE session_id = $1`,
	} {
		if _, err := tx.Exec(ctx, statement, id); err != nil {
			return err
		}
	}
	done, err := tx.Exec(ctx, `DELETE FROM session WHERE id = $1`, id)
	if err == nil && done.RowsAffected() == 0 {
		return noSession(id)
	}
	if err != nil {
		return err
	}
	return bury(ctx, tx, why, execution.SessionChain(id))
}

// SweepSessions deletes what nobody has touched since a time, a little in each
// transaction.
func (s *Talk) SweepSessions(ctx context.Context, idleSince time.Time) (orchestrator.SweptTalk, error) {
	var swept orchestrator.SweptTalk
	for {
		var part orchestrator.SweptTalk
		err := s.transact(ctx, "sweep sessions", func(tx pgx.Tx) (err error) {
			part, err = sweepSessions(ctx, s.db, tx, stored.Nanos(idleSince))
			return stored.Taken(err, func(a execution.Act) error { return recordAct(ctx, tx, a) }, map[string]int{"turns": part.Turns, "questions": part.Questions})
		})
		if err != nil {
			return swept, err
		}
		swept.Sessions += part.Sessions
		swept.Turns += part.Turns
		swept.Questions += part.Questions
		if part.Sessions < sweepBatch {
			return swept, nil
		}
	}
}

const (
	selectIdle = `
SELECT id FROM session s WHERE updated_at < $1
  AND NOT EXISTS (SELECT 1 FROM run r WHERE r.session_id = s.id)
  AND NOT EXISTS (SELECT 1 FROM interrupt i WHERE i.session_id = s.id AND i.status = 'open')
  AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.session_id = s.id AND (t.outcome = '' OR t.begun_at >= $1))
ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED`

	deleteOldTurns = `
DELETE FROM turn WHERE outcome <> '' AND begun_at > 0 AND begun_at < $1
  AND NOT EXISTS (SELECT 1 FROM run r WHERE r.id = turn.run_id)
  AND NOT EXISTS (SELECT 1 FROM interrupt i WHERE i.id = turn.interrupt_id AND i.status = 'open')`

	deleteOldQuestions = `DELETE FROM interrupt WHERE run_id = '' AND status <> 'open' AND created_at < $1`
)

func sweepSessions(ctx context.Context, d *db, tx pgx.Tx, idleSince int64) (swept orchestrator.SweptTalk, err error) {
	if err := lockForDeletion(ctx, tx); err != nil {
		return swept, err
	}
	idle, err := collect(ctx, tx, stored.Text, selectIdle, idleSince, sweepBatch)
	if err != nil {
		return swept, err
	}
	for _, id := range idle {
		if err := deleteSession(ctx, d, tx, id, execution.GoneByRetention); err != nil {
			return swept, err
		}
	}
	turns, err := tx.Exec(ctx, deleteOldTurns, idleSince)
	if err != nil {
		return swept, err
	}
	questions, err := tx.Exec(ctx, deleteOldQuestions, idleSince)
	return orchestrator.SweptTalk{Sessions: len(idle), Turns: int(turns.RowsAffected()), Questions: int(questions.RowsAffected())}, err
}
