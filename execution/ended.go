package execution

import (
	"context"
	"slices"
	"sync"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/model"
	"github.com/manifold-run/manifold/execution/runmetrics"
)

// maxEnded bounds the runs that are kept after their end, maxEndedNodes the nodes of
// each.
const (
	maxEnded      = 128
	maxEndedNodes = 100
)

// ended keeps the runs that this process brought to their end until somebody looks at
// them, who mostly waits for just that: what was written a moment ago is not read.
type ended struct {
	mu   sync.Mutex // guards kept, the newest last
	kept []*model.State
}

// keep takes a run that has ended and whose state nobody changes any more. One that
// people had a part in, or that wrote, is read from the store: others may write beside
// it.
func (e *ended) keep(s *model.State) {
	if s.Len() > maxEndedNodes || slices.ContainsFunc(s.Nodes(), func(n *model.Node) bool {
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

// take gives a run as it ended if the row, as it is stored now, is of that end.
func (e *ended) take(row Run) *model.State {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := slices.IndexFunc(e.kept, func(s *model.State) bool { return s.Run.ID == row.ID })
	if at < 0 {
		return nil
	}
	s := e.kept[at]
	e.kept = slices.Delete(e.kept, at, at+1)
	if !row.State.Terminal() || s.Run.LedgerHead != row.LedgerHead {
		return nil
	}
	return s
}

// ViewOf is View for who has just read the row of the run, with or without its plan.
func (r *Runner) ViewOf(ctx context.Context, row Run) (contracts.RunView, error) {
	if s := r.ended.take(row); s != nil {
		return runmetrics.ViewOf(model.WithRow(s, row), nil, r.cfg.Now()), nil
	}
	return r.View(ctx, row.ID)
}
