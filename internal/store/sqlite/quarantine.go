package sqlite

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

var _ execution.Quarantine = (*Quarantine)(nil)

// Quarantine holds runs back after a restore.
type Quarantine struct{ *file }

const (
	holdRuns    = `INSERT INTO quarantine (run_id, since) SELECT id, ? FROM run WHERE finished_at = 0 ON CONFLICT DO NOTHING`
	giveUpInbox = `UPDATE inbox SET finished = ?, reply = 'the database was restored before it was answered', body = '' WHERE finished = 0`
)

// Hold keeps everybody from the open runs, and gives up what was not answered.
func (s *Quarantine) Hold(ctx context.Context, at time.Time) (int, error) {
	var held int64
	err := s.write(ctx, "hold back what is open", func(ctx context.Context, x *tx) (err error) {
		if held, err = x.exec(ctx, holdRuns, stored.Nanos(at)); err != nil {
			return err
		}
		_, err = x.exec(ctx, giveUpInbox, givenUp)
		return err
	})
	return int(held), err
}

// Release lets a run go on.
func (s *Quarantine) Release(ctx context.Context, runID string) error {
	return s.write(ctx, "release run "+runID, func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, `DELETE FROM quarantine WHERE run_id = ?`, runID)
		if err == nil && n == 0 {
			return contracts.Errorf(contracts.CodeNotFound, "run %s is not in quarantine", runID)
		}
		if err != nil {
			return err
		}
		_, err = x.exec(ctx, `UPDATE run SET wake_seq = wake_seq + 1 WHERE id = ?`, runID)
		return err
	})
}
