package executiontest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// AcquireRun takes a run whose lease has ended.
func (s *Store) AcquireRun(_ context.Context, runID, owner string, ttl time.Duration) (execution.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := s.existing(runID)
	if err != nil {
		return execution.Lease{}, err
	}
	now := time.Now()
	switch {
	case row.run.Format > execution.Format:
		return execution.Lease{}, contracts.Errorf(contracts.CodeUnsupported, "run %s has format %d; this release knows %d", runID, row.run.Format, execution.Format)
	case row.finished():
		return execution.Lease{}, contracts.Errorf(contracts.CodeConflict, "run %s has ended already: %s", runID, row.run.State)
	case row.leased(now):
		return execution.Lease{}, contracts.Errorf(contracts.CodeConflict, "run %s is held by %s", runID, row.run.Owner)
	}
	row.run.Owner, row.run.LeaseUntil, row.run.Parked = owner, now.Add(ttl), false
	row.run.Epoch++
	return execution.Lease{RunID: runID, Owner: owner, Epoch: row.run.Epoch}, nil
}

// RenewLeases extends the leases that the owner still holds.
func (s *Store) RenewLeases(_ context.Context, owner string, held []execution.Lease, ttl time.Duration) (map[string]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, kept := time.Now(), map[string]int64{}
	for _, l := range held {
		l.Owner = owner
		if row, err := s.held(l); err == nil {
			row.run.LeaseUntil = now.Add(ttl)
			kept[l.RunID] = row.run.WakeSeq
		}
	}
	return kept, nil
}

// ReleaseRun releases a lease without parking.
func (s *Store) ReleaseRun(_ context.Context, l execution.Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := s.held(l)
	if err != nil {
		return err
	}
	row.run.Owner, row.run.LeaseUntil, row.run.Parked = "", time.Time{}, false
	return nil
}

// DueRuns lists runs that have no owner and can be advanced.
func (s *Store) DueRuns(_ context.Context, formats []int, limit int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	var due []*runRow
	for _, row := range s.runs {
		if slices.Contains(formats, row.run.Format) && row.due(now) {
			due = append(due, row)
		}
	}
	slices.SortFunc(due, func(a, b *runRow) int {
		return cmp.Or(a.run.CreatedAt.Compare(b.run.CreatedAt), cmp.Compare(a.run.ID, b.run.ID))
	})
	ids := []string{}
	for _, row := range first(due, limit) {
		ids = append(ids, row.run.ID)
	}
	return ids, nil
}

// NextWake returns the earliest timer of a parked run.
func (s *Store) NextWake(context.Context) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var next time.Time
	for _, row := range s.runs {
		at := row.run.WakeAt
		if row.run.Parked && !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next, nil
}

func (r *runRow) leased(now time.Time) bool {
	return r.run.Owner != "" && r.run.LeaseUntil.After(now)
}

func (r *runRow) due(now time.Time) bool {
	if r.finished() || r.leased(now) {
		return false
	}
	timed := !r.run.WakeAt.IsZero() && !r.run.WakeAt.After(now)
	return !r.run.Parked || r.run.WakeSeq > r.run.HandledSeq || timed
}
