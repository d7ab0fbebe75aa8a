package sqlstore

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

var _ execution.Quarantine = (*QuarantineStore)(nil)

// QuarantineStore quarantines runs after a restore.
type QuarantineStore struct{ *core }

const (
	holdRuns    = `INSERT INTO quarantine (run_id, since) SELECT id, $1 FROM run WHERE finished_at = 0 ON CONFLICT DO NOTHING`
	giveUpInbox = `UPDATE inbox SET finished = $1, reply = 'the database was restored before it was answered', body = '' WHERE finished = 0`
)

// Hold quarantines all unfinished runs and gives up unanswered inbox messages. It returns the
// number of runs. It commits.
func (s *QuarantineStore) Hold(ctx context.Context, at time.Time) (int, error) {
	var held int64
	err := s.transact(ctx, "hold back what is open", func(ctx context.Context, x Tx) error {
		return x.Send(ctx, []Statement{
			{Text: holdRuns, Args: []any{stored.Nanos(at)}, Done: func(n int64) { held = n }},
			{Text: giveUpInbox, Args: []any{givenUp}},
		})
	})
	return int(held), err
}

// Release releases a run from quarantine and notifies all servers. It commits.
func (s *QuarantineStore) Release(ctx context.Context, runID string) error {
	return s.transact(ctx, "release run "+runID, func(ctx context.Context, x Tx) error {
		n, err := x.Exec(ctx, `DELETE FROM quarantine WHERE run_id = $1`, runID)
		if err != nil {
			return err
		}
		absent := contracts.Errorf(contracts.CodeNotFound, "run %s is not in quarantine", runID)
		if n == 0 {
			return absent
		}
		session, err := queryRow(ctx, x, absent, stored.Text, `UPDATE run SET wake_seq = wake_seq + 1 WHERE id = $1 RETURNING session_id`, runID)
		if err != nil {
			return err
		}
		return x.Notify(ctx, Change{SessionID: session, RunID: runID})
	})
}
