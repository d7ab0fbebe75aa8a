package executiontest

import (
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/runmetrics"
)

// figuresOfWhatIsStored computes the metrics of a run from its rows, and those together with
// another run that began later and has not ended.
func figuresOfWhatIsStored(t *testing.T, s execution.Store) {
	at := func(seconds int) *time.Time { return new(day().Add(time.Duration(seconds) * time.Second)) }
	run, score := exampleRun("r1"), 0.6
	run.Plan.Flags = &metrics.Flags{DAGPlanning: metrics.FlagOff, ParallelReads: metrics.FlagOn, BranchApprovals: metrics.FlagOn, Verifier: metrics.FlagShadow}
	run.Plan.Nodes = []contracts.Node{
		{NodeID: "n1", Kind: contracts.KindTool, Tool: "alpha.read", Required: true, Phase: "look"},
		{NodeID: "n2", Kind: contracts.KindTool, Tool: "alpha.change", Required: true, Phase: "act", DependsOn: []string{"n1"}},
	}
	row := func(id string, from, to, attempts int) execution.NodeRecord {
		r := execution.NodeRecord{NodeID: id, State: contracts.NodeCompleted, StartedAt: at(from), FinishedAt: at(to), Result: &execution.Result{Summary: "found"}}
		r.Attempts = attempts
		return r
	}
	lease := create(t, s, run)
	commit(t, s, lease, execution.Transition{
		At: *at(4), State: contracts.RunCompleted, Finished: true, Nodes: []execution.NodeRecord{row("n1", 0, 1, 1), row("n2", 1, 3, 2)},
		Verdict: &contracts.Verdict{Status: contracts.VerdictDegraded, Score: &score, Shadow: true},
	})
	later := exampleRun("r2")
	later.CreatedAt = *at(60)
	create(t, s, later)

	var many runmetrics.Many
	for _, id := range []string{"r1", "r2"} {
		if snap, err := s.LoadRun(t.Context(), id); err != nil || many.Add(snap, nil, *at(61)) != nil {
			t.Fatal(err)
		}
	}
	got := many.Stats()
	same(t, "wall, machine and human time, first result, critical path", []int64{4000, 4000, 0, 1000, 3000},
		[]int64{got.All.WallMS.P50, got.All.MachineMS.P50, got.All.HumanMS.P50, got.All.FirstUsefulMS.P50, got.All.CriticalMS.P50})
	same(t, "runs, ended, score and degraded", []float64{2, 1, 0.6, 1}, []float64{float64(got.Runs), float64(got.All.Ended), got.All.Score, got.All.Degraded})
	same(t, "calls", map[string]int{"alpha.read": 1, "alpha.change": 2}, got.Calls)
	same(t, "flags", []string{"all on", "dag_planning=off verifier=shadow"}, []string{got.ByFlags[0].Name, got.ByFlags[1].Name})
}
