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

// maxEnded bounds the runs that are kept after their end, maxEndedNodes the nodes of
// each.
const (
	maxEnded      = 128
	maxEndedNodes = 100
)

// finishedCache holds runs that this process has just finished, so that the first View
// after the end need not read the store.
type finishedCache struct {
	mu   sync.Mutex // guards kept, the newest last
	kept []*runstate.State
}

// keep takes a run that has ended and whose state nobody changes any more. One that
// people had a part in, or that wrote, is read from the store: others may write beside
// it.
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

// take returns a run as it ended, nil if it is not kept.
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

// endedRow is the row of a run as the transition that ended it has stored it.
func endedRow(run Run, t Transition, chain runstate.Chain) Run {
	at := time.Unix(0, t.At.UnixNano()).UTC()
	run.State, run.Verdict, run.UpdatedAt, run.FinishedAt = t.State, t.Verdict, at, &at
	run.Owner, run.LeaseUntil, run.LedgerSeq, run.LedgerHead = "", time.Time{}, chain.Seq, chain.Head
	return run
}

// EndOf gives a run that this process has brought to its end a moment ago, once; false
// if it must be read.
func (r *Runner) EndOf(runID string) (contracts.RunView, bool) {
	s := r.finished.take(runID)
	if s == nil {
		return contracts.RunView{}, false
	}
	return runmetrics.ViewOf(s, nil, r.cfg.Now()), true
}

// ViewOf is View for who has just read the row of the run, with or without its plan.
func (r *Runner) ViewOf(ctx context.Context, row Run) (contracts.RunView, error) {
	s := r.finished.take(row.ID)
	if s != nil && row.State.Terminal() && s.Run.LedgerHead == row.LedgerHead { // the row is of that end
		return runmetrics.ViewOf(runstate.WithRow(s, row), nil, r.cfg.Now()), nil
	}
	return r.View(ctx, row.ID)
}
