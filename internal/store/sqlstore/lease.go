package sqlstore

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

const (
	acquireRun = `
UPDATE run SET owner = $2, epoch = epoch + 1, lease_until = {now} + $3, parked = false
WHERE id = $1 AND finished_at = 0 AND format <= $4 AND (owner = '' OR lease_until <= {now}) AND ` + notHeldBack + `
RETURNING epoch`

	// notHeldBack excludes runs in quarantine, except those being cancelled.
	notHeldBack = `(cancel_requested_at > 0 OR NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.run_id = run.id))`
)

// AcquireRun acquires a run without a valid lease. If it cannot, the error says why. It commits.
func (s *RunStore) AcquireRun(ctx context.Context, runID, owner string, ttl time.Duration) (execution.Lease, error) {
	l := execution.Lease{RunID: runID, Owner: owner}
	var epochs []int64
	err := s.execUnsealed(ctx, "acquire run "+runID, func(ctx context.Context, q Querier) (err error) {
		epochs, err = queryAll(ctx, q, stored.Number, acquireRun, runID, owner, ttl.Nanoseconds(), execution.Format)
		return err
	})
	if err == nil && len(epochs) == 0 {
		err = s.whyHeld(ctx, runID)
	}
	if err != nil {
		return execution.Lease{}, err
	}
	l.Epoch = epochs[0]
	return l, nil
}

// whyHeld returns the reason why a run could not be acquired.
func (s *RunStore) whyHeld(ctx context.Context, runID string) error {
	refusal, err := readRow(ctx, s.core, "look at run "+runID, missing("run", runID), func(row stored.Row) (error, error) {
		var state, owner string
		var format int
		var ended, free bool
		err := row.Scan(&state, &owner, &format, &ended, &free)
		switch {
		case format > execution.Format:
			return contracts.Errorf(contracts.CodeUnsupported, "run %s has format %d; this release knows %d", runID, format, execution.Format), err
		case ended:
			return contracts.Errorf(contracts.CodeConflict, "run %s has ended already: %s", runID, state), err
		case !free:
			return contracts.Errorf(contracts.CodeConflict, "run %s is in quarantine after a restore; release or cancel it", runID), err
		default:
			return contracts.Errorf(contracts.CodeConflict, "run %s is held by %s", runID, owner), err
		}
	}, `SELECT state, owner, format, finished_at > 0, `+notHeldBack+` FROM run WHERE id = $1`, runID)
	if err != nil {
		return err
	}
	return refusal
}

const renewLeases = `
{pg:WITH mine AS (
  SELECT run.id FROM run JOIN unnest($2::text[], $3::bigint[]) AS u (id, epoch) ON run.id = u.id AND run.epoch = u.epoch
  WHERE run.owner = $1 AND run.finished_at = 0 ORDER BY run.id FOR UPDATE OF run)
UPDATE run SET lease_until = {now} + $4 FROM mine WHERE run.id = mine.id}{lite:
UPDATE run SET lease_until = {now} + $4
WHERE owner = $1 AND finished_at = 0 AND (id, epoch) IN (SELECT i.value, e.value FROM json_each($2) i JOIN json_each($3) e ON e.key = i.key)}
RETURNING run.id, run.wake_seq`

// RenewLeases extends the leases that owner still holds, and returns their wake sequences by run
// id. Lost leases are missing in the result. It commits.
func (s *RunStore) RenewLeases(ctx context.Context, owner string, held []execution.Lease, ttl time.Duration) (map[string]int64, error) {
	kept := map[string]int64{}
	if owner == "" || len(held) == 0 {
		return kept, nil
	}
	ids, epochs := column(held, func(l execution.Lease) string { return l.RunID }), column(held, func(l execution.Lease) int64 { return l.Epoch })
	err := s.execUnsealed(ctx, "renew leases", func(ctx context.Context, q Querier) error {
		clear(kept)
		return q.Query(ctx, func(row stored.Row) error {
			var id string
			var seq int64
			err := row.Scan(&id, &seq)
			kept[id] = seq
			return err
		}, renewLeases, owner, ids, epochs, ttl.Nanoseconds())
	})
	return kept, err
}

const releaseRun = `
UPDATE run SET owner = '', lease_until = 0, parked = false WHERE id = $1 AND owner = $2 AND owner <> '' AND epoch = $3 AND finished_at = 0`

// ReleaseRun releases a lease without parking, so that any server can take the run. It commits.
func (s *RunStore) ReleaseRun(ctx context.Context, l execution.Lease) error {
	released := false
	err := s.transact(ctx, "release run "+l.RunID, func(ctx context.Context, x Tx) error {
		n, err := x.Exec(ctx, releaseRun, l.RunID, l.Owner, l.Epoch)
		if released = err == nil && n > 0; !released {
			return err
		}
		return x.EnqueueJobs(ctx, Job{ID: l.RunID})
	})
	if err != nil || released {
		return err
	}
	if err := s.whyHeld(ctx, l.RunID); contracts.CodeOf(err) == contracts.CodeNotFound {
		return err
	}
	return leaseLost(l)
}

// selectDue selects the runs without an owner that can continue. Each part reads its own index in
// index order. On PostgreSQL the time is a scalar subquery: joined, it would be compared with
// every run that waits for a timer.
const selectDue = `
{pg:WITH clock AS (SELECT {now} AS at)}
SELECT id FROM (
  SELECT * FROM (SELECT id, created_at FROM run{lite: INDEXED BY run_awake} WHERE finished_at = 0 AND {pg:NOT parked}{lite:parked = 0}` + due + `ORDER BY created_at, id` + dueLimit + `) a
  UNION
  SELECT * FROM (SELECT id, created_at FROM run{lite: INDEXED BY run_woken} WHERE finished_at = 0 AND {pg:parked}{lite:parked = 1} AND wake_seq > handled_seq` + due + `ORDER BY created_at, id` + dueLimit + `) b
  UNION
  SELECT * FROM (SELECT id, created_at FROM run{lite: INDEXED BY run_timer} WHERE finished_at = 0 AND {pg:parked}{lite:parked = 1} AND wake_at > 0
   AND wake_at <= ` + clock + due + `ORDER BY wake_at, id` + dueLimit + `) c) due
ORDER BY created_at, id` + dueLimit

const (
	clock    = `{pg:(SELECT at FROM clock)}{lite:{now}}`
	due      = ` AND lease_until <= ` + clock + ` AND format {any $1} AND ` + notHeldBack + ` `
	dueLimit = ` LIMIT 0 + $2`
)

// DueRuns returns the ids of runs without an owner that can continue, oldest first.
func (s *RunStore) DueRuns(ctx context.Context, formats []int, limit int) ([]string, error) {
	ids, err := readAll(ctx, s.core, "list due runs", stored.Text, selectDue, formats, stored.LimitOf(limit))
	if ids == nil {
		ids = []string{}
	}
	return ids, err
}

const selectNextWake = `
SELECT coalesce((SELECT wake_at FROM run{lite: INDEXED BY run_timer} WHERE finished_at = 0 AND {pg:parked}{lite:parked = 1} AND wake_at > 0 AND ` + notHeldBack + ` ORDER BY wake_at LIMIT 1), 0)`

// NextWake returns the earliest timer of the parked runs that are not in quarantine, or the zero
// time.
func (s *RunStore) NextWake(ctx context.Context) (time.Time, error) {
	at, err := readRow(ctx, s.core, "find the next timer", nil, stored.Number, selectNextWake)
	return stored.Stamp(at), err
}
