package sqlite

import (
	"context"
	"strconv"
	"time"

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
		err := s.write(ctx, "sweep", func(ctx context.Context, x *tx) error {
			var err error
			part, err = x.sweep(ctx, finishedBefore)
			return stored.Taken(err, func(a execution.Act) error { return recordAct(ctx, x, a) }, map[string]int{"raw data": part.Data})
		})
		if err != nil {
			return swept, err
		}
		swept.Runs += part.Runs
		swept.Blobs += part.Blobs
		swept.Data += part.Data
		if part.Runs < sweepBatch {
			return swept, s.shrink(ctx)
		}
	}
}

const (
	// shrinkStep is how many pages one transaction gives back; keepPages are kept
	// for what is written next.
	shrinkStep, keepPages = 512, 2048
	freePages             = `SELECT freelist_count FROM pragma_freelist_count`
)

// shrink gives free pages back to the disk, a little in each transaction.
func (s *file) shrink(ctx context.Context) error {
	for free := int64(-1); ; {
		left := free
		err := s.write(ctx, "shrink the file", func(ctx context.Context, x *tx) error {
			if err := x.row(ctx, freePages).Scan(&left); err != nil || left <= keepPages {
				return err
			}
			none := func(scanner) (struct{}, error) { return struct{}{}, nil }
			_, err := collect(ctx, x.handle, none, `PRAGMA incremental_vacuum(`+strconv.Itoa(shrinkStep)+`)`)
			return err
		})
		if err != nil || left <= keepPages || left == free { // an older file cannot
			return err
		}
		free = left
	}
}

const selectEnded = `
SELECT id, session_id FROM run INDEXED BY run_ended WHERE finished_at > 0 AND finished_at < ? ORDER BY finished_at LIMIT +?`

func (x *tx) sweep(ctx context.Context, finishedBefore time.Time) (execution.Swept, error) {
	data, err := x.exec(ctx, `DELETE FROM node_data WHERE expires_at <= ?`, stored.Nanos(x.now))
	if err != nil {
		return execution.Swept{}, err
	}
	runs, err := collect(ctx, x.handle, scanOwned, selectEnded, stored.Nanos(finishedBefore), sweepBatch)
	if err != nil {
		return execution.Swept{}, err
	}
	blobs, err := x.deleteRuns(ctx, runs, execution.GoneByRetention)
	return execution.Swept{Runs: len(runs), Data: int(data), Blobs: int(blobs)}, err
}

// owned is a run with its session.
type owned struct{ id, session string }

func scanOwned(row scanner) (owned, error) {
	var r owned
	err := row.Scan(&r.id, &r.session)
	return r, err
}

// deleteRuns deletes runs with their rows, and the blobs that nothing else
// names; ledger entries stay, and the last says why. It counts the blobs.
func (x *tx) deleteRuns(ctx context.Context, runs []owned, why string) (blobs int64, err error) {
	for _, r := range runs {
		n, err := x.deleteBlobs(ctx, r.id)
		if err != nil {
			return 0, err
		}
		blobs += n
		if err := x.deleteRun(ctx, r); err != nil {
			return 0, err
		}
		if err := bury(ctx, x, r.id, why); err != nil {
			return 0, err
		}
	}
	return blobs, nil
}

const deleteUnnamed = `
DELETE FROM blob WHERE sha256 = ? AND NOT EXISTS (SELECT 1 FROM blob_name n WHERE n.sha256 = blob.sha256)`

// deleteBlobs forgets what a run names, and deletes what no other run does.
func (x *tx) deleteBlobs(ctx context.Context, runID string) (deleted int64, err error) {
	names, err := collect(ctx, x.handle, stored.Text, `DELETE FROM blob_name WHERE run_id = ? RETURNING sha256`, runID)
	if err != nil {
		return 0, err
	}
	for _, hash := range names {
		n, err := x.exec(ctx, deleteUnnamed, hash)
		if err != nil {
			return 0, err
		}
		deleted += n
	}
	return deleted, nil
}

func (x *tx) deleteRun(ctx context.Context, r owned) error {
	if _, err := x.exec(ctx, `DELETE FROM event WHERE session_id = ? AND run_id = ?`, r.session, r.id); err != nil {
		return err
	}
	if _, err := x.free(ctx, `SELECT key FROM held_lock WHERE run_id = ?`, r.id); err != nil {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM run WHERE id = ?`, `DELETE FROM plan WHERE run_id = ?`, `DELETE FROM quarantine WHERE run_id = ?`, `DELETE FROM node WHERE run_id = ?`,
		`DELETE FROM interrupt WHERE run_id = ?`, `DELETE FROM intent WHERE run_id = ?`,
		`DELETE FROM node_data WHERE run_id = ?`,
	} {
		if _, err := x.exec(ctx, statement, r.id); err != nil {
			return err
		}
	}
	return nil
}

// deleteRunsOf deletes the runs, events and interrupts of a session. An open
// run gives conflict.
func (x *tx) deleteRunsOf(ctx context.Context, sessionID, why string) error {
	open, err := collect(ctx, x.handle, stored.Text, `SELECT id FROM run WHERE session_id = ? AND finished_at = 0 LIMIT 1`, sessionID)
	if err != nil {
		return err
	}
	if len(open) > 0 {
		return contracts.Errorf(contracts.CodeConflict, "run %s of the session has not ended; cancel it first", open[0])
	}
	runs, err := collect(ctx, x.handle, scanOwned, `SELECT id, session_id FROM run WHERE session_id = ?`, sessionID)
	if err != nil {
		return err
	}
	if _, err := x.deleteRuns(ctx, runs, why); err != nil {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM event WHERE session_id = ?`, `DELETE FROM interrupt WHERE session_id = ?`, `DELETE FROM outbox WHERE session_id = ?`,
	} {
		if _, err := x.exec(ctx, statement, sessionID); err != nil {
			return err
		}
	}
	return nil
}

// SweepSessions deletes what nobody has touched since a time, a little in each
// transaction.
func (s *Talk) SweepSessions(ctx context.Context, idleSince time.Time) (orchestrator.SweptTalk, error) {
	var swept orchestrator.SweptTalk
	for {
		var part orchestrator.SweptTalk
		err := s.write(ctx, "sweep sessions", func(ctx context.Context, x *tx) error {
			var err error
			part, err = sweepSessions(ctx, x, stored.Nanos(idleSince))
			return stored.Taken(err, func(a execution.Act) error { return recordAct(ctx, x, a) }, map[string]int{"turns": part.Turns, "questions": part.Questions})
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
SELECT id FROM session s INDEXED BY session_updated WHERE updated_at < ?1
  AND NOT EXISTS (SELECT 1 FROM run r WHERE r.session_id = s.id)
  AND NOT EXISTS (SELECT 1 FROM interrupt i WHERE i.session_id = s.id AND i.status = 'open')
  AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.session_id = s.id AND (t.outcome = '' OR t.begun_at >= ?1))
ORDER BY updated_at LIMIT +?2`

	// A turn from before there was begun_at goes with its session.
	deleteOldTurns = `
DELETE FROM turn WHERE outcome <> '' AND begun_at > 0 AND begun_at < ?1
  AND NOT EXISTS (SELECT 1 FROM run r WHERE r.id = json_extract(turn.body, '$.RunID'))
  AND NOT EXISTS (SELECT 1 FROM interrupt i WHERE i.id = turn.interrupt_id AND i.status = 'open')`

	deleteOldQuestions = `
DELETE FROM interrupt WHERE run_id = '' AND status <> 'open'
  AND unixepoch(json_extract(body, '$.created_at')) < ?1 / 1000000000`
)

func sweepSessions(ctx context.Context, x *tx, idleSince int64) (swept orchestrator.SweptTalk, err error) {
	idle, err := collect(ctx, x.handle, stored.Text, selectIdle, idleSince, sweepBatch)
	if err != nil {
		return swept, err
	}
	for _, id := range idle {
		if err := deleteSession(ctx, x, id, execution.GoneByRetention); err != nil {
			return swept, err
		}
	}
	turns, err := x.exec(ctx, deleteOldTurns, idleSince)
	if err != nil {
		return swept, err
	}
	questions, err := x.exec(ctx, deleteOldQuestions, idleSince)
	return orchestrator.SweptTalk{Sessions: len(idle), Turns: int(turns), Questions: int(questions)}, err
}
