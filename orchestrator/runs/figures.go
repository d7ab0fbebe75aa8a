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

// StatsFilter selects the runs for Stats.
type StatsFilter struct {
	Filter

	// Domain selects runs with a step of the domain, Strategy runs with this plan strategy.
	Domain, Strategy string
	// Last is how many of the newest runs are read; at most MaxStatsRuns.
	Last int
}

const (
	// DefaultStatsRuns is the default of StatsFilter.Last.
	DefaultStatsRuns = 200
	// MaxStatsRuns bounds StatsFilter.Last: each run is read in full, with its ledger.
	MaxStatsRuns = 2000
	// forecastRuns is how many of the newest runs with the plan's strategy a forecast considers,
	// forecastSeen how many runs it reads to find them.
	forecastRuns = 20
	forecastSeen = 200
)

// waited returns how long a run has waited for people, in milliseconds. A finished run has it in
// its verdict; others are read in full.
func (r *Runs) waited(ctx context.Context, run *execution.Run) (int64, error) {
	if v := run.Verdict; v != nil && v.Timing != nil {
		return v.Timing.HumanMS, nil
	}
	snap, err := r.store.LoadRun(ctx, run.ID)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return 0, nil // deleted since it was listed
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

// holes returns the differences between a run and its ledger.
func (r *Runs) holes(ctx context.Context, snap execution.Snapshot) ([]string, error) {
	ledger, err := r.store.Ledger(ctx, snap.Run.ID, 0, 0)
	if err != nil {
		return nil, err
	}
	return runmetrics.Holes(snap, ledger, func(e contracts.LedgerEntry) ([]byte, error) { return r.store.Payload(ctx, e) }), nil
}

// Stats returns aggregated metrics of the newest runs, the caller's own or all.
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

// each calls do for the selected runs, for at most `most` of the `seen` newest runs. more reports
// whether there are further runs.
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
				continue // deleted since it was listed
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

// forecast returns the expected metrics of a plan, from the finished runs of similar plans among
// the newest that the caller may see.
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
