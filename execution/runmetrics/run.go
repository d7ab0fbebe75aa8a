package runmetrics

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/execution/verdict"
)

// Of returns the metrics of a stored run at a time. The safety counters that need more than the run
// itself are set by Many.
func Of(snap runstate.Snapshot, now time.Time) (metrics.RunMetrics, error) {
	s, err := runstate.Read(snap)
	if err != nil {
		return metrics.RunMetrics{}, err
	}
	all := steps(s, snap.Gates, now)
	f := run{metrics.RunMetrics{
		RunID: snap.Run.ID, Strategy: string(snap.Run.Plan.Strategy), State: string(snap.Run.State), Timing: Timing(snap, now),
		Planned: len(snap.Run.Plan.Nodes), Flags: snap.Run.Plan.Flags, Calls: map[string]int{},
		Fingerprint: fingerprint(snap.Run.Plan), Asked: asked(snap, now),
		Safety: metrics.Safety{
			ApprovalsBypassed: len(bypassed(s, snap)), WriteCollisions: len(collisions(writes(s, snap))), FailedResumes: stuck(snap, now),
		},
	}}
	f.time(snap.Run.CreatedAt, all)
	f.outcome(s, snap.Run.Verdict)
	f.use(s)
	return f.RunMetrics, nil
}

// Timing splits the time of a run into human and machine time. Human time is when an interrupt is
// open and nothing is in progress.
func Timing(snap runstate.Snapshot, now time.Time) metrics.Timing {
	whole := lifeOf(snap.Run, now)
	s, err := runstate.Read(snap)
	if err != nil { // then the time cannot be split
		return timing(length([]span{whole}), 0)
	}
	return partedTime(whole, steps(s, snap.Gates, whole.to))
}

// SumUp adds the timing and the number of rejections to the verdict of a run that ends.
func SumUp(v *contracts.Verdict, s *runstate.State, gates []contracts.Interrupt, now time.Time) {
	took := partedTime(lifeOf(s.Run, now), steps(s, gates, now))
	v.Timing, v.Rejections = &took, rejectionsOf(s, v)
}

func lifeOf(run runstate.Run, now time.Time) span {
	if run.FinishedAt != nil {
		now = *run.FinishedAt
	}
	return span{run.CreatedAt, now}
}

func partedTime(whole span, all []step) metrics.Timing {
	var human, machine []span
	for _, st := range all {
		human, machine = append(human, st.human...), append(machine, st.machine...)
	}
	return timing(length(union([]span{whole})), length(without(union(human), union(machine))))
}

// View returns the view of a run for callers, with the times of the run and its nodes up to now.
func View(snap runstate.Snapshot, now time.Time) (contracts.RunView, error) {
	s, err := runstate.Read(snap)
	if err != nil {
		return contracts.RunView{}, err
	}
	return ViewOf(s, snap.Gates, now), nil
}

// ViewOf is View for a state that was read, with the gates of its run.
func ViewOf(s *runstate.State, gates []contracts.Interrupt, now time.Time) contracts.RunView {
	view, whole := runstate.View(s, gates), lifeOf(s.Run, now)
	all := steps(s, gates, whole.to)
	took := make(map[string]step, len(all))
	for _, st := range all {
		took[st.ID()] = st
	}
	for i := range view.Nodes {
		n := &view.Nodes[i]
		st := took[n.NodeID]
		n.MachineMS, n.HumanMS = ms(length(st.machine)), ms(length(st.human))
	}
	view.Timing = partedTime(whole, all)
	return view
}

func timing(wall, human time.Duration) metrics.Timing {
	human = min(human, wall)
	return metrics.Timing{WallMS: ms(wall), HumanMS: ms(human), MachineMS: ms(wall) - ms(human)}
}

func ms(d time.Duration) int64 { return d.Milliseconds() }

// run builds the metrics of a run.
type run struct{ metrics.RunMetrics }

// time sets the durations and the time of the first useful result.
func (f *run) time(began time.Time, all []step) {
	var work time.Duration
	var busy []span
	phases := map[string]*metrics.PhaseMetrics{}
	for _, st := range all {
		work, busy = work+length(st.machine), append(busy, st.machine...)
		p := phases[st.Spec.Phase]
		if p == nil {
			p = &metrics.PhaseMetrics{Phase: st.Spec.Phase}
			phases[st.Spec.Phase] = p
		}
		p.Steps, p.MachineMS, p.HumanMS = p.Steps+1, p.MachineMS+ms(length(st.machine)), p.HumanMS+ms(length(st.human))
		if useful(st) {
			after := ms(st.whole.to.Sub(began))
			if f.FirstUsefulMS == nil || after < *f.FirstUsefulMS {
				f.FirstUsefulMS = &after
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(phases)) {
		f.Phases = append(f.Phases, *phases[name])
	}
	f.WorkMS, f.BusyMS = ms(work), ms(length(union(busy)))
	f.Parallelism = ratio(f.WorkMS, f.BusyMS)
	for _, st := range critical(all) {
		f.CriticalPath.Nodes = append(f.CriticalPath.Nodes, st.ID())
		f.CriticalPath.MachineMS += ms(length(st.machine))
		f.CriticalPath.HumanMS += ms(length(st.human))
	}
}

// useful reports whether a step gave a result to somebody. Look-ups before a call do not count.
func useful(st step) bool {
	lookup := st.Spec.Role == contracts.RolePreSearch || st.Spec.Role == contracts.RolePreChoose
	works := st.Spec.Kind == contracts.KindTool || st.Spec.Kind == contracts.KindReason
	r := st.Row.Result
	return works && !lookup && st.State() == contracts.NodeCompleted && r != nil && (r.Summary != "" || len(r.Facts) > 0)
}

// outcome counts the results of the steps and copies the verdict.
func (f *run) outcome(s *runstate.State, v *contracts.Verdict) {
	f.VerifierRejections = rejectionsOf(s, v)
	for _, n := range s.Nodes() {
		if n.Spec.Round != nil || n.Spec.CompensatesNode != "" {
			f.Drifted++
		}
		if n.IsAnswer() || n.Superseded() || n.State() == contracts.NodeSkipped && n.Row.Skip != runstate.SkipUpstreamFailed {
			continue
		}
		switch {
		case !n.Spec.Required || n.Spec.ContinueOnError:
			if n.State() == contracts.NodeFailed {
				f.Degraded++
			}
		case n.State() == contracts.NodeCompleted:
			f.Steps, f.Completed = f.Steps+1, f.Completed+1
		default:
			f.Steps++
		}
	}
	if v == nil {
		return
	}
	f.Verdict, f.Score = string(v.Status), v.Score
}

// rejectionsOf counts the rejections of a run by its checks and by its judge.
func rejectionsOf(s *runstate.State, v *contracts.Verdict) int {
	count := 0
	for _, n := range s.Nodes() {
		count += rejections(n)
	}
	if v != nil && v.Judge != nil && v.Judge.Status != "" && v.Judge.Status != contracts.VerdictVerified {
		count++
	}
	return count
}

// rejections counts the rejections of a step: failed read-backs, and its own verdict if it
// verifies.
func rejections(n *runstate.Node) int {
	count := 0
	for _, c := range n.Row.Checks {
		if c.Name == verdict.CheckReadBack && !c.OK {
			count++
		}
	}
	if n.Spec.Kind == contracts.KindVerify && n.Ended() && n.State() != contracts.NodeSkipped && verdict.Rejects(n) {
		count++
	}
	return count
}

// use counts the calls and the use of models.
func (f *run) use(s *runstate.State) {
	f.Tokens = s.Tokens()
	sent := map[string]int{}
	for _, n := range s.Nodes() {
		if n.Spec.Tool != "" && !n.Row.Expanded && n.Row.Attempts+n.Row.Writes > 0 {
			sent[n.Spec.Tool] += max(n.Row.Attempts, n.Row.Writes)
		}
		f.Repairs += max(n.Row.Attempts-1, 0)
		f.ModelCalls += len(n.Row.Thoughts)
		for _, call := range n.Row.Thoughts {
			if call.Repair {
				f.Repairs++
			}
		}
	}
	f.Calls = sent
	if v := s.Run.Verdict; v != nil && v.Judge != nil {
		f.ModelCalls += len(v.Judge.Calls)
		f.Tokens = f.Tokens.Add(contracts.SumTokens(v.Judge.Calls))
	}
}

// asked groups the interrupts of a run by type and by the roles that may answer.
func asked(snap runstate.Snapshot, now time.Time) []metrics.QuestionMetrics {
	end := now
	if snap.Run.FinishedAt != nil {
		end = *snap.Run.FinishedAt
	}
	var out []metrics.QuestionMetrics
	for _, g := range snap.Gates {
		at := slices.IndexFunc(out, func(a metrics.QuestionMetrics) bool {
			return a.Type == string(g.Type) && slices.Equal(a.Roles, g.Roles)
		})
		if at < 0 {
			at, out = len(out), append(out, metrics.QuestionMetrics{Type: string(g.Type), Roles: g.Roles})
		}
		out[at].Count++
		out[at].HumanMS += max(ms(settledAt(g, end).Sub(g.CreatedAt)), 0)
	}
	slices.SortFunc(out, func(a, b metrics.QuestionMetrics) int {
		return strings.Compare(a.Type+strings.Join(a.Roles, " "), b.Type+strings.Join(b.Roles, " "))
	})
	return out
}

// fingerprint is the same for runs of the same capabilities and workflows in the same versions.
func fingerprint(p contracts.Plan) string {
	workflows := map[string]string{}
	for _, f := range p.Frames {
		workflows[f.Workflow] = f.Digest
	}
	hash, err := contracts.Hash([]any{p.CapabilityDigests, workflows})
	if err != nil {
		return ""
	}
	return hash[:12]
}

// ratio returns a quotient rounded to three decimals, 0 if b is 0.
func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return math.Round(1000*float64(a)/float64(b)) / 1000
}
