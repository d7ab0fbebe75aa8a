package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/postgres/notify"
	"github.com/manifold-run/manifold/internal/store/stored"
)

var _ execution.Quarantine = (*Quarantine)(nil)

// Quarantine holds runs back after a restore.
type Quarantine struct{ *db }

const (
	holdRuns    = `INSERT INTO quarantine (run_id, since) SELECT id, $1 FROM run WHERE finished_at = 0 ON CONFLICT DO NOTHING`
	giveUpInbox = `UPDATE inbox SET finished = $1, reply = 'the database was restored before it was answered', body = '' WHERE finished = 0`
)

// Hold keeps everybody from the open runs, and gives up what was not answered. It
// commits.
func (s *Quarantine) Hold(ctx context.Context, at time.Time) (int, error) {
	var held int64
	err := s.transact(ctx, "hold back what is open", func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, holdRuns, stored.Nanos(at))
		if err != nil {
			return err
		}
		held = done.RowsAffected()
		_, err = tx.Exec(ctx, giveUpInbox, givenUp)
		return err
	})
	return int(held), err
}

const releaseHeld = `
WITH released AS (DELETE FROM quarantine WHERE run_id = $1 RETURNING run_id)
UPDATE run SET wake_seq = wake_seq + 1 FROM released WHERE run.id = released.run_id RETURNING run.session_id`

// Release lets a run go on, and tells all servers. It commits.
func (s *Quarantine) Release(ctx context.Context, runID string) error {
	return s.transact(ctx, "release run "+runID, func(tx pgx.Tx) error {
		session, err := stored.Text(tx.QueryRow(ctx, releaseHeld, runID))
		if isMissing(err) {
			return contracts.Errorf(contracts.CodeNotFound, "run %s is not in quarantine", runID)
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, notify.Tell, s.post.Channel, s.post.Payload(Change{SessionID: session, RunID: runID}))
		return err
	})
}
