package runmetrics

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/runstate"
)

// Many aggregates the metrics of many runs, without keeping the runs. The zero value is ready to
// use. It is not safe for concurrent use.
type Many struct {
	all    []metrics.RunMetrics
	began  []time.Time
	writes []write
}

// Add adds a stored run, with the holes of its ledger (see Holes).
func (m *Many) Add(snap runstate.Snapshot, holes []string, now time.Time) error {
	f, err := Of(snap, now)
	if err != nil {
		return err
	}
	s, err := runstate.Read(snap)
	if err != nil {
		return err
	}
	f.Safety.AuditHoles = len(holes)
	m.all, m.began = append(m.all, f), append(m.began, snap.Run.CreatedAt)
	m.writes = append(m.writes, writes(s, snap)...)
	return nil
}

// Stats returns the metrics of all added runs. Writes of different runs that hold the same lock
// count as collisions, too.
func (m *Many) Stats() metrics.Stats {
	out := metrics.Stats{Runs: len(m.all), All: group("", m.all)}
	unsafe := map[string]bool{}
	for _, f := range m.all {
		f.Safety.WriteCollisions = 0 // counted over all runs below
		out.Safety = out.Safety.Add(f.Safety)
		if f.Safety.Sum() > 0 {
			unsafe[f.RunID] = true
		}
	}
	for _, id := range collisions(slices.Clone(m.writes)) {
		out.Safety.WriteCollisions++
		unsafe[id] = true
	}
	out.Unsafe = slices.Sorted(maps.Keys(unsafe))
	if len(m.began) > 0 {
		since := slices.MinFunc(m.began, time.Time.Compare)
		out.Since = &since
	}
	m.summarize(&out)
	out.ByStrategy = by(m.all, func(f metrics.RunMetrics) string { return f.Strategy })
	out.ByFlags = by(m.all, func(f metrics.RunMetrics) string {
		return metrics.Effective(f.Flags).String()
	})
	return out
}

// summarize adds up the calls and the phases.
func (m *Many) summarize(out *metrics.Stats) {
	out.Calls, out.Phases = map[string]int{}, []metrics.PhaseMetrics{}
	phases, prints := map[string]metrics.PhaseMetrics{}, map[string]bool{}
	for _, f := range m.all {
		out.Repairs += f.Repairs
		prints[f.Fingerprint] = true
		for name, n := range f.Calls {
			out.Calls[name] += n
		}
		for _, p := range f.Phases {
			was := phases[p.Phase]
			phases[p.Phase] = metrics.PhaseMetrics{Phase: p.Phase, Steps: was.Steps + p.Steps, MachineMS: was.MachineMS + p.MachineMS, HumanMS: was.HumanMS + p.HumanMS}
		}
	}
	out.Fingerprints = slices.AppendSeq(make([]string, 0, len(prints)), maps.Keys(prints))
	slices.Sort(out.Fingerprints)
	for _, name := range slices.Sorted(maps.Keys(phases)) {
		out.Phases = append(out.Phases, phases[name])
	}
}

// Forecast predicts a similar run from the added runs.
func (m *Many) Forecast() metrics.Forecast {
	g := group("", m.all)
	out := metrics.Forecast{Runs: g.Ended, Completion: g.Completion, MachineMS: g.MachineMS, HumanMS: g.HumanMS}
	calls, in, tokens := []int64{}, []int64{}, []int64{}
	for _, f := range m.all {
		if !contracts.RunState(f.State).Terminal() {
			continue
		}
		calls = append(calls, int64(sum(f.Calls)))
		in, tokens = append(in, int64(f.Tokens.In)), append(tokens, int64(f.Tokens.Out))
	}
	out.Calls = int(spread(calls).P50)
	out.Tokens = contracts.Tokens{In: int(spread(in).P50), Out: int(spread(tokens).P50)}
	return out
}

// Alike reports whether two plans are expected to take the same: they make the same calls in the
// same order, whatever the parameters.
func Alike(a, b contracts.Plan) bool {
	return a.Strategy == b.Strategy && slices.EqualFunc(a.Nodes, b.Nodes, func(x, y contracts.Node) bool { return x.Kind == y.Kind && x.Tool == y.Tool })
}

// Asks returns the interrupts that a plan opens: the gates of its writes, and its steps that ask.
// Without roles the requester is asked.
func Asks(p contracts.Plan) []metrics.QuestionMetrics {
	var out []metrics.QuestionMetrics
	add := func(n contracts.Node, kind contracts.InterruptType, roles []string) {
		perhaps := n.Role == contracts.RolePreChoose || n.When != nil || n.ForEach != nil
		at := slices.IndexFunc(out, func(a metrics.QuestionMetrics) bool {
			return a.Type == string(kind) && a.Perhaps == perhaps && slices.Equal(a.Roles, roles)
		})
		if at < 0 {
			at, out = len(out), append(out, metrics.QuestionMetrics{Type: string(kind), Roles: roles, Perhaps: perhaps})
		}
		out[at].Count++
	}
	for _, n := range p.Nodes {
		switch {
		case n.Policy != nil && n.Policy.ApprovalRequired && !p.DryRun:
			add(n, contracts.InterruptWriteApproval, n.Policy.Approval.Roles)
		case n.Kind == contracts.KindHuman && n.Human != nil && !p.Unattended:
			add(n, n.Human.Interrupt, n.Human.Roles)
		}
	}
	return out
}

// by groups runs by a name, largest group first.
func by(all []metrics.RunMetrics, name func(metrics.RunMetrics) string) []metrics.GroupStats {
	groups := map[string][]metrics.RunMetrics{}
	for _, f := range all {
		groups[name(f)] = append(groups[name(f)], f)
	}
	out := []metrics.GroupStats{} // not nil, so that JSON has a list
	for _, n := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, group(n, groups[n]))
	}
	slices.SortStableFunc(out, func(a, b metrics.GroupStats) int {
		if a.Runs != b.Runs {
			return b.Runs - a.Runs
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// group aggregates runs. Only ended runs count for the outcome.
func group(name string, all []metrics.RunMetrics) metrics.GroupStats {
	g := metrics.GroupStats{Name: name, Runs: len(all)}
	var first, wall, machine, human, path []int64
	var work, busy, drifted, planned, completed, degraded, rejected int64
	score, judged := 0.0, int64(0)
	for _, f := range all {
		work, busy, drifted, planned = work+f.WorkMS, busy+f.BusyMS, drifted+int64(f.Drifted), planned+int64(f.Planned)
		g.Tokens, g.Calls = g.Tokens.Add(f.Tokens), g.Calls+sum(f.Calls)
		if f.FirstUsefulMS != nil {
			first = append(first, *f.FirstUsefulMS)
		}
		if !contracts.RunState(f.State).Terminal() {
			continue
		}
		g.Ended++
		wall, machine, human = append(wall, f.WallMS), append(machine, f.MachineMS), append(human, f.HumanMS)
		path = append(path, f.CriticalPath.MachineMS)
		completed += one(f.State == string(contracts.RunCompleted) || f.State == string(contracts.RunDegraded))
		degraded += one(f.Verdict == string(contracts.VerdictDegraded))
		rejected += one(f.Verdict == string(contracts.VerdictRetry) || f.Verdict == string(contracts.VerdictBlocked))
		if f.Score != nil {
			score, judged = score+*f.Score, judged+1
		}
	}
	ended := int64(g.Ended)
	g.FirstUsefulMS, g.WallMS, g.MachineMS, g.HumanMS, g.CriticalMS = spread(first), spread(wall), spread(machine), spread(human), spread(path)
	g.Parallelism, g.Drift = ratio(work, busy), ratio(drifted, planned)
	g.Completion, g.Degraded, g.Rejected = ratio(completed, ended), ratio(degraded, ended), ratio(rejected, ended)
	g.Score = ratio(int64(score*1000), judged*1000)
	return g
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

func sum(calls map[string]int) int {
	n := 0
	for _, count := range calls {
		n += count
	}
	return n
}

// spread returns the values at the ranks of the median and of the 95th percentile, without
// interpolation.
func spread(values []int64) metrics.Spread {
	if len(values) == 0 {
		return metrics.Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	at := func(percent int) int64 { return sorted[(len(sorted)*percent+99)/100-1] }
	return metrics.Spread{P50: at(50), P95: at(95)}
}
