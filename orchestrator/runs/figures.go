package runs

import (
	"context"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/runmetrics"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// StatsFilter selects the runs whose figures are summed up.
type StatsFilter struct {
	Filter

	// Domain selects runs with a step of a domain, Strategy those of a plan.
	Domain, Strategy string
	// Last is how many runs are looked at, the newest; at most MaxStatsRuns.
	Last int
}

const (
	// DefaultStatsRuns is how many runs are read for figures where nobody says.
	DefaultStatsRuns = 200
	// MaxStatsRuns bounds that: each is read whole, with its ledger.
	MaxStatsRuns = 2000
	// forecastRuns is how many earlier runs a forecast rests on at most, and
	// forecastSeen how many it looks at to find them.
	forecastRuns = 20
	forecastSeen = 200
)

// waited is how long a run has waited for people alone, in milliseconds. The verdict of
// one that has ended says it; others are read whole.
func (r *Runs) waited(ctx context.Context, run *execution.Run) (int64, error) {
	if v := run.Verdict; v != nil && v.Timing != nil {
		return v.Timing.HumanMS, nil
	}
	snap, err := r.store.LoadRun(ctx, run.ID)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return 0, nil // it was deleted since it was listed
	}
	return runmetrics.Timing(snap, r.cfg.Now()).HumanMS, err
}

// Figures returns the metrics of one run.
func (r *Runs) Figures(ctx context.Context, who access.Principal, runID string) (metrics.RunMetrics, error) {
	snap, err := r.store.LoadRun(ctx, runID)
	if err != nil {
		return metrics.RunMetrics{}, err
	}
	if err := access.MaskForbidden(who.MayReadRun(snap.Run.Plan), "run", runID); err != nil {
		return metrics.RunMetrics{}, err
	}
	f, err := runmetrics.Of(snap, r.cfg.Now())
	if err != nil {
		return f, err
	}
	holes, err := r.holes(ctx, snap)
	f.Safety.AuditHoles = len(holes)
	return f, err
}

// holes are the things of a run that its ledger does not tell.
func (r *Runs) holes(ctx context.Context, snap execution.Snapshot) ([]string, error) {
	ledger, err := r.store.Ledger(ctx, snap.Run.ID, 0, 0)
	if err != nil {
		return nil, err
	}
	return runmetrics.Holes(snap, ledger, func(e contracts.LedgerEntry) ([]byte, error) { return r.store.Payload(ctx, e) }), nil
}

// Stats sums up the figures of runs, the newest first: the caller's own, or all.
func (r *Runs) Stats(ctx context.Context, who access.Principal, f StatsFilter) (metrics.Stats, error) {
	var many runmetrics.Many
	last := min(f.Last, MaxStatsRuns)
	if last <= 0 {
		last = DefaultStatsRuns
	}
	more, err := r.each(ctx, who, f, last, last, func(snap execution.Snapshot) error {
		holes, err := r.holes(ctx, snap)
		if err != nil {
			return err
		}
		return many.Add(snap, holes, r.cfg.Now())
	})
	out := many.Stats()
	out.More = more
	return out, err
}

// each returns the runs that a filter selects, as they are stored, at most so many of so
// many that are looked at; more tells that there are others.
func (r *Runs) each(ctx context.Context, who access.Principal, f StatsFilter, most, seen int, do func(execution.Snapshot) error) (more bool, err error) {
	taken := 0
	f.Page = contracts.Page{Limit: min(most, contracts.MaxPageLimit)} // each is read with its plan
	for looked := 0; ; {
		page, err := r.List(ctx, who, f.Filter)
		if err != nil {
			return false, err
		}
		for _, item := range page.Items {
			if taken == most || looked == seen {
				return true, nil
			}
			looked++
			snap, err := r.store.LoadRun(ctx, item.RunID)
			if contracts.CodeOf(err) == contracts.CodeNotFound {
				continue // it was deleted since it was listed
			}
			if err != nil {
				return false, err
			}
			if !f.takes(snap.Run.Plan) {
				continue
			}
			if err := do(snap); err != nil {
				return false, err
			}
			taken++
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return false, nil
		}
	}
}

func (f StatsFilter) takes(p contracts.Plan) bool {
	if f.Strategy != "" && f.Strategy != string(p.Strategy) {
		return false
	}
	for _, n := range p.Nodes {
		if domain, _, _ := strings.Cut(n.Tool, "."); f.Domain == "" || domain == f.Domain {
			return true
		}
	}
	return false
}

// forecast is what a plan will probably come to, by the newest ended runs of plans
// like it that the caller may see.
func (r *Runs) forecast(ctx context.Context, who access.Principal, plan contracts.Plan) (metrics.Forecast, error) {
	var many runmetrics.Many
	f := StatsFilter{Filter: Filter{All: who.May(access.ActionReadAllRuns) == nil}, Strategy: string(plan.Strategy)}
	_, err := r.each(ctx, who, f, forecastRuns, forecastSeen, func(snap execution.Snapshot) error {
		if !snap.Run.State.Terminal() || !runmetrics.Alike(plan, snap.Run.Plan) {
			return nil
		}
		return many.Add(snap, nil, r.cfg.Now())
	})
	out := many.Forecast()
	out.Asked = runmetrics.Asks(plan)
	return out, err
}
