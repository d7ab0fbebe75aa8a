package sqlite

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// AcquireRun takes a run whose lease has ended.
func (s *Runs) AcquireRun(ctx context.Context, runID, owner string, ttl time.Duration) (execution.Lease, error) {
	lease := execution.Lease{RunID: runID, Owner: owner}
	err := s.write(ctx, "acquire run "+runID, func(ctx context.Context, x *tx) error {
		r, err := x.head(ctx, runID)
		switch {
		case err != nil:
			return err
		case r.format > execution.Format:
			return contracts.Errorf(contracts.CodeUnsupported, "run %s has format %d; this release knows %d", runID, r.format, execution.Format)
		case r.finished:
			return contracts.Errorf(contracts.CodeConflict, "run %s has ended already: %s", runID, r.state)
		case r.owner != "" && r.leaseUntil > stored.Nanos(x.now):
			return contracts.Errorf(contracts.CodeConflict, "run %s is held by %s", runID, r.owner)
		}
		var free bool
		if err := x.row(ctx, `SELECT `+notHeldBack+` FROM run WHERE id = ?`, runID).Scan(&free); err != nil {
			return err
		}
		if !free {
			return contracts.Errorf(contracts.CodeConflict, "run %s is in quarantine after a restore; release or cancel it", runID)
		}
		lease.Epoch = r.epoch + 1
		_, err = x.exec(ctx, `UPDATE run SET owner = ?, epoch = ?, lease_until = ?, parked = 0 WHERE id = ?`,
			owner, lease.Epoch, stored.Nanos(x.now.Add(ttl)), runID)
		return err
	})
	if err != nil {
		return execution.Lease{}, err
	}
	return lease, nil
}

const renewLease = `
UPDATE run SET lease_until = ? WHERE id = ? AND owner = ? AND epoch = ? AND finished_at = 0
RETURNING wake_seq`

// RenewLeases extends the leases that are still the owner's.
func (s *Runs) RenewLeases(ctx context.Context, owner string, held []execution.Lease, ttl time.Duration) (map[string]int64, error) {
	kept := map[string]int64{}
	err := s.write(ctx, "renew leases", func(ctx context.Context, x *tx) error {
		clear(kept)
		if owner == "" {
			return nil
		}
		for _, l := range held {
			seqs, err := collect(ctx, x.handle, stored.Number, renewLease, stored.Nanos(x.now.Add(ttl)), l.RunID, owner, l.Epoch)
			if err != nil {
				return err
			}
			for _, seq := range seqs {
				kept[l.RunID] = seq
			}
		}
		return nil
	})
	return kept, err
}

// ReleaseRun gives a lease back without parking.
func (s *Runs) ReleaseRun(ctx context.Context, l execution.Lease) error {
	return s.write(ctx, "release run "+l.RunID, func(ctx context.Context, x *tx) error {
		if _, err := x.held(ctx, l); err != nil {
			return err
		}
		_, err := x.exec(ctx, `UPDATE run SET owner = '', lease_until = 0, parked = 0 WHERE id = ?`, l.RunID)
		return err
	})
}

// notHeldBack leaves out the runs in quarantine; who is to be cancelled may end.
const notHeldBack = `(cancel_requested_at > 0 OR NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.run_id = run.id))`

// dueQueries find the runs that nobody holds and that can go on; each has an
// index of its own.
func dueQueries() []string {
	const columns, rest = `SELECT id, created_at FROM run INDEXED BY `, ` AND lease_until <= ? AND format IN (SELECT value FROM json_each(?)) AND ` + notHeldBack + ` `
	const oldest = `ORDER BY created_at, id LIMIT +?`
	return []string{
		columns + `run_awake WHERE finished_at = 0 AND parked = 0` + rest + oldest,
		columns + `run_woken WHERE finished_at = 0 AND parked = 1 AND wake_seq > handled_seq` + rest + oldest,
		columns + `run_timer WHERE finished_at = 0 AND parked = 1 AND wake_at > 0` + rest + `AND wake_at <= ? ` + oldest,
	}
}

type dueRun struct {
	id      string
	created int64
}

// DueRuns lists runs that nobody holds and that can go on, oldest first.
func (s *Runs) DueRuns(ctx context.Context, formats []int, limit int) ([]string, error) {
	known, err := list(formats)
	if err != nil {
		return nil, err
	}
	var due []dueRun
	err = s.snapshot(ctx, "list due runs", func(ctx context.Context, h *handle) error {
		now := stored.Nanos(s.now())
		for i, query := range dueQueries() {
			args := []any{now, known}
			if i == 2 {
				args = append(args, now)
			}
			found, err := collect(ctx, h, scanDue, query, append(args, limitOf(limit))...)
			if err != nil {
				return err
			}
			due = append(due, found...)
		}
		return nil
	})
	slices.SortFunc(due, func(a, b dueRun) int { return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id)) })
	ids := []string{}
	for _, r := range slices.Compact(due) {
		if limit <= 0 || len(ids) < limit {
			ids = append(ids, r.id)
		}
	}
	return ids, err
}

func scanDue(row scanner) (dueRun, error) {
	var r dueRun
	err := row.Scan(&r.id, &r.created)
	return r, err
}

const selectNextWake = `
SELECT wake_at FROM run INDEXED BY run_timer WHERE finished_at = 0 AND parked = 1 AND wake_at > 0 ORDER BY wake_at LIMIT 1`

// NextWake is the earliest timer of a parked run.
func (s *Runs) NextWake(ctx context.Context) (time.Time, error) {
	var next time.Time
	err := s.view(ctx, "find the next timer", func(ctx context.Context, h *handle) error {
		at, err := collect(ctx, h, stored.Number, selectNextWake)
		if len(at) > 0 {
			next = stored.Stamp(at[0])
		}
		return err
	})
	return next, err
}
