package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/postgres/queue"
	"github.com/manifold-run/manifold/internal/store/stored"
)

const acquireRun = `
UPDATE run SET owner = $2, epoch = epoch + 1, lease_until = ` + now + ` + $3, parked = false
WHERE id = $1 AND finished_at = 0 AND format <= $4 AND (owner = '' OR lease_until <= ` + now + `) AND ` + notHeldBack + `
RETURNING epoch`

// notHeldBack leaves out the runs in quarantine; who is to be cancelled may end.
const notHeldBack = `(cancel_requested_at > 0 OR NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.run_id = run.id))`

// AcquireRun takes a run whose lease has ended. It commits.
func (s *Runs) AcquireRun(ctx context.Context, runID, owner string, ttl time.Duration) (execution.Lease, error) {
	l := execution.Lease{RunID: runID, Owner: owner}
	err := s.pool.QueryRow(ctx, acquireRun, runID, owner, ttl.Nanoseconds(), execution.Format).Scan(&l.Epoch)
	if isMissing(err) {
		err = s.whyHeld(ctx, runID)
	}
	if err != nil {
		return execution.Lease{}, translate("acquire run "+runID, err)
	}
	return l, nil
}

// whyHeld says why a run could not be acquired.
func (s *Runs) whyHeld(ctx context.Context, runID string) error {
	var state, owner string
	var format int
	var ended, free bool
	err := s.pool.QueryRow(ctx, `SELECT state, owner, format, finished_at > 0, `+notHeldBack+` FROM run WHERE id = $1`, runID).Scan(&state, &owner, &format, &ended, &free)
	switch {
	case err != nil:
		return instead(err, noRun(runID))
	case format > execution.Format:
		return contracts.Errorf(contracts.CodeUnsupported, "run %s has format %d; this release knows %d", runID, format, execution.Format)
	case ended:
		return contracts.Errorf(contracts.CodeConflict, "run %s has ended already: %s", runID, state)
	case !free:
		return contracts.Errorf(contracts.CodeConflict, "run %s is in quarantine after a restore; release or cancel it", runID)
	default:
		return contracts.Errorf(contracts.CodeConflict, "run %s is held by %s", runID, owner)
	}
}

const renewLeases = `
WITH mine AS (
  SELECT run.id FROM run JOIN unnest($2::text[], $3::bigint[]) AS u (id, epoch) ON run.id = u.id AND run.epoch = u.epoch
  WHERE run.owner = $1 AND run.finished_at = 0 ORDER BY run.id FOR UPDATE OF run)
UPDATE run SET lease_until = ` + now + ` + $4 FROM mine WHERE run.id = mine.id
RETURNING run.id, run.wake_seq`

// RenewLeases extends the leases that are still the owner's. It commits.
func (s *Runs) RenewLeases(ctx context.Context, owner string, held []execution.Lease, ttl time.Duration) (map[string]int64, error) {
	kept := map[string]int64{}
	if owner == "" || len(held) == 0 {
		return kept, nil
	}
	rows, err := s.pool.Query(ctx, renewLeases, owner, column(held, func(l execution.Lease) string { return l.RunID }),
		column(held, func(l execution.Lease) int64 { return l.Epoch }), ttl.Nanoseconds())
	if err != nil {
		return kept, translate("renew leases", err)
	}
	var id string
	var seq int64
	_, err = pgx.ForEachRow(rows, []any{&id, &seq}, func() error {
		kept[id] = seq
		return nil
	})
	return kept, translate("renew leases", err)
}

const releaseRun = `
UPDATE run SET owner = '', lease_until = 0, parked = false WHERE id = $1 AND owner = $2 AND owner <> '' AND epoch = $3 AND finished_at = 0`

// ReleaseRun gives a lease back without parking, for whoever has room. It
// commits.
func (s *Runs) ReleaseRun(ctx context.Context, l execution.Lease) error {
	released := false
	err := s.transact(ctx, "release run "+l.RunID, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, releaseRun, l.RunID, l.Owner, l.Epoch)
		if released = err == nil && done.RowsAffected() > 0; !released {
			return err
		}
		return s.jobs.Add(ctx, tx, queue.Job{Kind: queue.Run, ID: l.RunID})
	})
	if err != nil || released {
		return err
	}
	if err := s.whyHeld(ctx, l.RunID); contracts.CodeOf(err) == contracts.CodeNotFound {
		return err
	}
	return contracts.Errorf(contracts.CodeLeaseLost, "run %s is not held by %s in epoch %d any more", l.RunID, l.Owner, l.Epoch)
}

// selectDue finds the runs that nobody holds and that can go on; each part reads
// an index of its own in its order. The time is asked for once, as a value: to
// one that is joined, every run that waits for a timer would be compared.
const selectDue = `
WITH clock AS (SELECT ` + now + ` AS at)
SELECT id FROM (
  (SELECT id, created_at FROM run WHERE finished_at = 0 AND NOT parked AND lease_until <= (SELECT at FROM clock) AND format = ANY($1) AND ` + notHeldBack + `
   ORDER BY created_at, id LIMIT $2)
  UNION
  (SELECT id, created_at FROM run WHERE finished_at = 0 AND parked AND wake_seq > handled_seq AND lease_until <= (SELECT at FROM clock) AND format = ANY($1)
   AND ` + notHeldBack + ` ORDER BY created_at, id LIMIT $2)
  UNION
  (SELECT id, created_at FROM run WHERE finished_at = 0 AND parked AND wake_at > 0 AND wake_at <= (SELECT at FROM clock)
   AND lease_until <= (SELECT at FROM clock) AND format = ANY($1) AND ` + notHeldBack + ` ORDER BY wake_at, id LIMIT $2)) due
ORDER BY created_at, id LIMIT $2`

// DueRuns lists runs that nobody holds and that can go on, oldest first.
func (s *Runs) DueRuns(ctx context.Context, formats []int, limit int) ([]string, error) {
	ids, err := list(ctx, s.db, "list due runs", stored.Text, selectDue, formats, limitOf(limit))
	if ids == nil {
		ids = []string{}
	}
	return ids, err
}

const selectNextWake = `
SELECT coalesce((SELECT wake_at FROM run WHERE finished_at = 0 AND parked AND wake_at > 0 ORDER BY wake_at LIMIT 1), 0)`

// NextWake is the earliest timer of a parked run.
func (s *Runs) NextWake(ctx context.Context) (time.Time, error) {
	at, err := one(ctx, s.db, "find the next timer", nil, stored.Number, selectNextWake)
	return stored.Stamp(at), err
}
