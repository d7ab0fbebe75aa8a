package execution

import (
	"context"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

// View is what callers see of a run. Nodes behind one that waits for a person
// read "blocked".
func (r *Runner) View(ctx context.Context, runID string) (contracts.RunView, error) {
	s, err := r.store.LoadRun(ctx, runID)
	if err != nil {
		return contracts.RunView{}, err
	}
	return ViewOf(s)
}

// ViewOf makes the view of a snapshot.
func ViewOf(s Snapshot) (contracts.RunView, error) {
	l := newLoop(&Runner{}, Lease{RunID: s.Run.ID})
	l.stored = s.Run
	if err := l.build(s.Nodes); err != nil {
		return contracts.RunView{}, fmt.Errorf("view run %s: %w", s.Run.ID, err)
	}
	view := contracts.RunView{
		RunID: s.Run.ID, SessionID: s.Run.SessionID, State: s.Run.State, Plan: s.Run.Plan, Verdict: s.Run.Verdict,
		CreatedAt: s.Run.CreatedAt, UpdatedAt: s.Run.UpdatedAt, FinishedAt: s.Run.FinishedAt,
	}
	blocked := blockedNodes(l.graph)
	for _, v := range l.graph.nodes {
		view.Nodes = append(view.Nodes, l.nodeView(v, blocked[v]))
	}
	for _, i := range s.Gates {
		if i.Status == contracts.InterruptOpen {
			view.Interrupts = append(view.Interrupts, i)
		}
	}
	return view, nil
}

func (l *loop) nodeView(v *vertex, blocked bool) contracts.NodeView {
	rec := l.nodes[v.spec.NodeID].rec
	out := contracts.NodeView{
		Node: v.spec, State: v.state, Attempts: rec.Attempts, Error: rec.Error, Checks: rec.Checks,
		QueuedFor: rec.QueuedFor, StartedAt: rec.StartedAt, FinishedAt: rec.FinishedAt,
	}
	if blocked {
		out.State = contracts.NodeBlocked
	}
	if rec.Params != nil {
		out.Params = rec.Params
	}
	if r := rec.Result; r != nil {
		out.Summary, out.Facts, out.Artifacts = r.Summary, r.Facts, r.Artifacts
	}
	if v.joins() && v.state.Terminal() {
		out.Facts = joinFacts(l.graph, v, func(id string) NodeRecord { return l.nodes[id].rec })
	}
	return out
}

// blockedNodes are the pending nodes behind one that waits for a person.
func blockedNodes(g *graph) map[*vertex]bool {
	blocked := map[*vertex]bool{}
	for _, v := range g.nodes { // dependencies may point forward only to copies, which never wait for their template
		if v.state != contracts.NodePending {
			continue
		}
		for _, dep := range v.spec.DependsOn {
			d := g.byID[dep]
			if awaits(d.state) || blocked[d] {
				blocked[v] = true
			}
		}
	}
	return blocked
}
