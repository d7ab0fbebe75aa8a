package executiontest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// CreateRun inserts a run with its first transition.
func (s *Store) CreateRun(_ context.Context, run execution.Run, ttl time.Duration, first execution.Transition) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.runs[run.ID]; taken {
		return contracts.Errorf(contracts.CodeConflict, "there is a run %q already", run.ID)
	}
	run, err := clone(run)
	if err != nil {
		return err
	}
	now := time.Now()
	run.Format = cmp.Or(run.Format, execution.Format)
	run.LedgerSeq, run.LedgerHead, run.LeaseUntil = 0, "", time.Time{}
	if run.Owner != "" {
		run.Epoch, run.LeaseUntil = max(run.Epoch, 1), now.Add(ttl)
	}
	if run.CreatedAt.IsZero() {
		run.CreatedAt = now
	}
	row := &runRow{run: run, at: map[string]int{}, data: map[string]execution.NodeData{}, names: map[string]bool{}}
	if err := row.name(run.Plan); err != nil {
		return err
	}
	w, err := s.plan(row, first, now)
	if err != nil {
		return err
	}
	s.runs[run.ID] = row
	s.apply(w)
	return nil
}

// LoadRun returns a run with its rows.
func (s *Store) LoadRun(_ context.Context, runID string) (execution.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := s.existing(runID)
	if err != nil {
		return execution.Snapshot{}, err
	}
	return clone(execution.Snapshot{
		Run: row.run, Nodes: row.nodes, Gates: s.gatesOf(runID),
		Intents: row.intentsWhere(func(*intentRow) bool { return true }),
	})
}

// ReadSignals returns what others wrote for a run.
func (s *Store) ReadSignals(_ context.Context, runID string) (execution.Signals, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := s.existing(runID)
	if err != nil {
		return execution.Signals{}, err
	}
	return clone(execution.Signals{
		WakeSeq: row.run.WakeSeq, CancelRequestedAt: row.run.CancelRequestedAt, CancelledBy: row.run.CancelledBy,
		Gates: s.gatesOf(runID), Now: time.Now(),
		Intents: row.intentsWhere(func(i *intentRow) bool { return !i.Consumed }),
	})
}

// RequestCancel records the first request to cancel a run.
func (s *Store) RequestCancel(_ context.Context, runID, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := s.existing(runID)
	if err != nil {
		return err
	}
	if row.finished() {
		return contracts.Errorf(contracts.CodeConflict, "run %s has ended already: %s", runID, row.run.State)
	}
	if row.run.CancelRequestedAt == nil {
		at := time.Now()
		row.run.CancelRequestedAt, row.run.CancelledBy = &at, by
		s.wake(runID)
	}
	return nil
}

// ListRuns lists runs, newest first.
func (s *Store) ListRuns(_ context.Context, f execution.RunFilter) (contracts.List[execution.Run], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var runs []execution.Run
	for _, row := range s.runs {
		if selects(f, row.run) {
			runs = append(runs, row.run)
		}
	}
	slices.SortFunc(runs, func(a, b execution.Run) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	if f.Brief {
		for i := range runs {
			runs[i].Plan = contracts.Plan{}
		}
	}
	return page(runs, contracts.Page{Cursor: f.Cursor, Limit: f.Limit}, func(r execution.Run) string { return r.ID })
}

// CountRuns counts the runs that ListRuns selects, by state.
func (s *Store) CountRuns(ctx context.Context, f execution.RunFilter) (map[contracts.RunState]int, error) {
	runs, err := s.ListRuns(ctx, f)
	counts := map[contracts.RunState]int{}
	for i := range runs.Items {
		counts[runs.Items[i].State]++
	}
	return counts, err
}

// page returns a page of a sorted listing; its cursor is the id of an item.
func page[T any](all []T, p contracts.Page, id func(T) string) (contracts.List[T], error) {
	if p.Cursor != "" {
		at := slices.IndexFunc(all, func(item T) bool { return id(item) == p.Cursor })
		if at < 0 {
			return contracts.List[T]{}, contracts.BadCursor()
		}
		all = all[at+1:]
	}
	return clone(contracts.Cut(all, p.Limit, id))
}

func selects(f execution.RunFilter, run execution.Run) bool {
	return (f.SessionID == "" || f.SessionID == run.SessionID) &&
		(f.Owner == "" || f.Owner == run.Plan.Owner.Subject()) &&
		(len(f.States) == 0 || slices.Contains(f.States, run.State)) &&
		strings.Contains(lower(run.Plan.Goal), lower(f.Goal)) &&
		(f.Domain == "" || slices.ContainsFunc(run.Plan.Nodes, func(n contracts.Node) bool { return strings.HasPrefix(n.Tool, f.Domain+".") })) &&
		(f.Before.IsZero() || run.CreatedAt.Before(f.Before)) &&
		(f.ScoreBelow <= 0 || run.Verdict != nil && run.Verdict.Score != nil && *run.Verdict.Score < f.ScoreBelow)
}

// lower returns a text with ASCII letters in lower case.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// first returns at most limit items; 0 means all.
func first[T any](items []T, limit int) []T {
	if limit > 0 && len(items) > limit {
		return items[:limit]
	}
	return items
}

func (s *Store) gatesOf(runID string) []contracts.Interrupt {
	var gates []contracts.Interrupt
	for _, g := range s.gates {
		if g.RunID == runID {
			gates = append(gates, *g)
		}
	}
	return gates
}

func (r *runRow) intentsWhere(keep func(*intentRow) bool) []execution.Intent {
	var intents []execution.Intent
	for _, i := range r.intents {
		if keep(i) {
			intents = append(intents, i.Intent)
		}
	}
	return intents
}
