package execution

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runmetrics"
	"github.com/manifold-run/manifold/execution/runstate"
)

// maxEnded limits the cached runs, maxEndedNodes the nodes of each.
const (
	maxEnded      = 128
	maxEndedNodes = 100
)

// finishedCache holds runs that this process has just finished, so that the first View after the
// end need not read the store.
type finishedCache struct {
	mu   sync.Mutex // guards kept, newest last
	kept []*runstate.State
}

// keep caches a run that has ended and does not change any more. Runs with interrupts or writes are
// not cached: other processes may write to their rows.
func (e *finishedCache) keep(s *runstate.State) {
	if s.Len() > maxEndedNodes || slices.ContainsFunc(s.Nodes(), func(n *runstate.Node) bool {
		return n.Row.GateID != "" || n.Row.Writes > 0 || n.Spec.Kind != contracts.KindTool && n.Spec.Kind != contracts.KindJoin
	}) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.kept) == maxEnded {
		e.kept = slices.Delete(e.kept, 0, 1)
	}
	e.kept = append(e.kept, s)
}

// take removes and returns a run, nil if it is not cached.
func (e *finishedCache) take(runID string) *runstate.State {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := slices.IndexFunc(e.kept, func(s *runstate.State) bool { return s.Run.ID == runID })
	if at < 0 {
		return nil
	}
	s := e.kept[at]
	e.kept = slices.Delete(e.kept, at, at+1)
	return s
}

// endedRow returns the row of a run as stored by the transition that ended it.
func endedRow(run Run, t Transition, chain runstate.Chain) Run {
	at := time.Unix(0, t.At.UnixNano()).UTC()
	run.State, run.Verdict, run.UpdatedAt, run.FinishedAt = t.State, t.Verdict, at, &at
	run.Owner, run.LeaseUntil, run.LedgerSeq, run.LedgerHead = "", time.Time{}, chain.Seq, chain.Head
	return run
}

// EndOf returns the view of a run that this process has just finished, once. It reports false if
// the run must be read from the store.
func (r *Runner) EndOf(runID string) (contracts.RunView, bool) {
	s := r.finished.take(runID)
	if s == nil {
		return contracts.RunView{}, false
	}
	return runmetrics.ViewOf(s, nil, r.cfg.Now()), true
}

// ViewOf is View for callers that have just read the row of the run, with or without its plan.
func (r *Runner) ViewOf(ctx context.Context, row Run) (contracts.RunView, error) {
	s := r.finished.take(row.ID)
	if s != nil && row.State.Terminal() && s.Run.LedgerHead == row.LedgerHead { // the row is of that end
		return runmetrics.ViewOf(runstate.WithRow(s, row), nil, r.cfg.Now()), nil
	}
	return r.View(ctx, row.ID)
}
