package runmetrics_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/runmetrics"
	"github.com/manifold-run/manifold/execution/runstate"
)

// Each safety counter is raised only by a violation of its rule.
func TestABrokenRuleRaisesItsCounter(t *testing.T) {
	t.Parallel()
	gate := func(change func(*contracts.Interrupt)) func(*runstate.Snapshot) {
		return func(s *runstate.Snapshot) { change(&s.Gates[1]) }
	}
	second := func(from, to int64) func(*runstate.Snapshot) {
		return func(s *runstate.Snapshot) {
			in := s.Intents[0]
			in.N, in.CreatedAt, in.Outcome = 2, at(from), &runstate.Outcome{Kind: runstate.ReplyResult, At: at(to)}
			s.Intents = append(s.Intents, in)
		}
	}
	lying := func(change func(*runstate.Run)) func(*runstate.Snapshot) {
		return func(s *runstate.Snapshot) {
			s.Run.State, s.Run.FinishedAt, s.Run.Parked = contracts.RunRunning, nil, true
			change(&s.Run)
		}
	}
	for name, c := range map[string]struct {
		breaks func(*runstate.Snapshot)
		want   metrics.Safety
	}{
		"nothing is broken":                        {func(*runstate.Snapshot) {}, metrics.Safety{}},
		"a write without a gate":                   {func(s *runstate.Snapshot) { s.Gates = s.Gates[:1] }, metrics.Safety{ApprovalsBypassed: 1}},
		"a write whose gate was rejected":          {gate(func(g *contracts.Interrupt) { g.Status = contracts.InterruptRejected }), metrics.Safety{ApprovalsBypassed: 1}},
		"a write that was approved afterwards":     {gate(func(g *contracts.Interrupt) { g.Decisions[0].DecidedAt = at(12711) }), metrics.Safety{ApprovalsBypassed: 1}},
		"a write other than the one approved":      {gate(func(g *contracts.Interrupt) { g.ActionSHA256 = "h2" }), metrics.Safety{ApprovalsBypassed: 1}},
		"a write that one of two approved":         {gate(func(g *contracts.Interrupt) { g.Quorum = 2 }), metrics.Safety{ApprovalsBypassed: 1}},
		"a write on the gate of another step":      {gate(func(g *contracts.Interrupt) { g.NodeID = "ask" }), metrics.Safety{ApprovalsBypassed: 1}},
		"a write that needs no gate":               {func(s *runstate.Snapshot) { s.Run.Plan.Nodes[5].Policy.ApprovalRequired, s.Gates = false, nil }, metrics.Safety{}},
		"two writes of a run at once":              {second(13099, 13150), metrics.Safety{WriteCollisions: 1}},
		"two writes of a run, one after the other": {second(13100, 13150), metrics.Safety{}},
		"a run that nobody took up":                {lying(func(r *runstate.Run) { r.WakeSeq, r.HandledSeq = 3, 2 }), metrics.Safety{FailedResumes: 1}},
		"a run whose owner died":                   {lying(func(r *runstate.Run) { r.Parked, r.LeaseUntil = false, at(20_000) }), metrics.Safety{FailedResumes: 1}},
		"a run whose timer is over":                {lying(func(r *runstate.Run) { r.WakeAt = at(20_000) }), metrics.Safety{FailedResumes: 1}},
		"a run that is held back after a restore":  {lying(func(r *runstate.Run) { r.WakeSeq, r.HandledSeq, r.HeldSince = 3, 2, ptr(0) }), metrics.Safety{}},
		"a run that waits for a person":            {lying(func(*runstate.Run) {}), metrics.Safety{}},
		"a run that is held":                       {lying(func(r *runstate.Run) { r.Parked, r.LeaseUntil = false, at(100_000) }), metrics.Safety{}},
		"a run that cannot be read": {func(s *runstate.Snapshot) {
			s.Gates = append(s.Gates, contracts.Interrupt{Type: contracts.InterruptRunUnreadable, Status: contracts.InterruptOpen, CreatedAt: at(13300)})
		}, metrics.Safety{FailedResumes: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			snap := paper()
			c.breaks(&snap)
			if got := of(t, snap, at(100_000)).Safety; got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// The writes of two runs collide if they hold the same lock.
func TestWritesOfTwoRunsCollideOnALock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		params string
		later  time.Duration
		want   int
	}{
		"the same thing at once":      {`{"id":"k1"}`, 100 * time.Millisecond, 1},
		"another thing at once":       {`{"id":"k2"}`, 100 * time.Millisecond, 0},
		"the same thing, later":       {`{"id":"k1"}`, time.Second, 0},
		"nobody knows what, at once":  {`{}`, 100 * time.Millisecond, 0},
		"all that there is, reversed": {`{"id":"k1"}`, -100 * time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := paper(), paper()
			other.Run.ID, other.Intents[0].RunID = "run_other", "run_other"
			in := &other.Intents[0]
			in.Parameters, in.CreatedAt = []byte(c.params), in.CreatedAt.Add(c.later)
			in.Outcome = &runstate.Outcome{At: in.Outcome.At.Add(c.later)}
			other.Gates[1].Decisions[0].DecidedAt = at(12000)
			got := many(t, one, other).Stats()
			if got.Safety != (metrics.Safety{WriteCollisions: c.want}) || len(got.Unsafe) != c.want {
				t.Errorf("%+v of %v", got.Safety, got.Unsafe)
			}
		})
	}
}

func many(t *testing.T, snaps ...runstate.Snapshot) *runmetrics.Many {
	t.Helper()
	m := &runmetrics.Many{}
	for _, s := range snaps {
		if err := m.Add(s, nil, at(100_000)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// A ledger that lacks or contradicts the rows has holes.
func TestALedgerThatSaysNothingHasHoles(t *testing.T) {
	t.Parallel()
	holes := runmetrics.Holes(paper(), nil, func(contracts.LedgerEntry) ([]byte, error) { return nil, errors.New("gone") })
	if len(holes) == 0 {
		t.Error("a run without a ledger has no holes")
	}
	m := &runmetrics.Many{}
	if err := m.Add(paper(), holes, at(0)); err != nil {
		t.Fatal(err)
	}
	if s := m.Stats(); s.Safety.AuditHoles != len(holes) || !slices.Equal(s.Unsafe, []string{"run_paper"}) {
		t.Errorf("%+v of %v", s.Safety, s.Unsafe)
	}
}

// Five runs of two kinds, aggregated by hand.
func TestTheFiguresOfManyRuns(t *testing.T) {
	t.Parallel()
	var snaps []runstate.Snapshot
	for i, c := range []struct {
		took    int64 // the last step ends so many ms later than on paper
		verdict contracts.VerdictStatus
		state   contracts.RunState
		score   float64
		flags   *metrics.Flags
	}{
		{0, contracts.VerdictVerified, contracts.RunCompleted, 1, nil},
		{100, contracts.VerdictVerified, contracts.RunCompleted, 1, nil},
		{200, contracts.VerdictDegraded, contracts.RunDegraded, 0.6, nil},
		{300, contracts.VerdictBlocked, contracts.RunFailed, 0, &metrics.Flags{DAGPlanning: metrics.FlagOn, ParallelReads: metrics.FlagOff, BranchApprovals: metrics.FlagOn, Verifier: metrics.FlagOn}},
	} {
		s := paper()
		s.Run.ID, s.Intents[0].RunID = string(rune('a'+i)), string(rune('a'+i))
		s.Run.CreatedAt = began().Add(-time.Duration(i) * time.Hour)
		shift(&s, time.Duration(-i)*time.Hour)
		s.Run.State, s.Run.FinishedAt, s.Run.Plan.Flags = c.state, late(s.Run.FinishedAt, c.took), c.flags
		s.Nodes[6].FinishedAt = late(s.Nodes[6].FinishedAt, c.took)
		s.Run.Verdict = &contracts.Verdict{Status: c.verdict, Score: &c.score}
		snaps = append(snaps, s)
	}
	open := paper()
	open.Run.ID, open.Run.State, open.Run.FinishedAt, open.Run.Verdict, open.Run.Parked = "e", contracts.RunWaiting, nil, nil, true
	shift(&open, time.Hour)
	open.Run.CreatedAt, open.Intents[0].RunID = began().Add(time.Hour), "e"
	got := many(t, append(snaps, open)...).Stats()

	all := got.All
	want := metrics.GroupStats{
		Runs: 5, Ended: 4, FirstUsefulMS: metrics.Spread{P50: 1000, P95: 1000},
		WallMS:    metrics.Spread{P50: 13400, P95: 13600}, // the second and the last of 13300, 13400, 13500, 13600
		MachineMS: metrics.Spread{P50: 3400, P95: 3600}, HumanMS: metrics.Spread{P50: 10000, P95: 10000},
		CriticalMS:  metrics.Spread{P50: 3200, P95: 3400},
		Parallelism: 1.468, // (5 × 4900 + 600) / (5 × 3300 + 600) = 25100 / 17100
		Completion:  0.75,  // three of four
		Degraded:    0.25,  // one of four
		Rejected:    0.25,  // one of four
		Score:       0.65,  // (1 + 1 + 0.6 + 0) / 4
		Tokens:      contracts.Tokens{In: 750, Out: 150}, Calls: 35,
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("paper (-) and figures (+):\n%s", diff)
	}
	if len(got.ByFlags) != 2 || got.ByFlags[0].Name != "all on" || got.ByFlags[0].Runs != 4 || got.ByFlags[1].Name != "parallel_reads=off" || got.ByFlags[1].Completion != 0 {
		t.Errorf("%+v", got.ByFlags)
	}
	if len(got.ByStrategy) != 1 || got.Since == nil || !got.Since.Equal(began().Add(-3*time.Hour)) || got.Safety.Sum() != 0 {
		t.Errorf("%+v", got)
	}
	if got.Calls["shop.stock"] != 15 || got.Repairs != 20 || len(got.Fingerprints) != 1 || got.Phases[2] != (metrics.PhaseMetrics{Phase: "look", Steps: 20, MachineMS: 16500, HumanMS: 6000}) {
		t.Errorf("calls %v, %d repairs, fingerprints %v, phases %+v", got.Calls, got.Repairs, got.Fingerprints, got.Phases)
	}
	f := many(t, append(snaps, open)...).Forecast()
	if f.Runs != 4 || f.MachineMS.P50 != 3400 || f.Calls != 7 || f.Tokens != (contracts.Tokens{In: 150, Out: 30}) || f.Completion != 0.75 {
		t.Errorf("the forecast is %+v", f)
	}
}

func late(at *time.Time, ms int64) *time.Time {
	t := at.Add(time.Duration(ms) * time.Millisecond)
	return &t
}

// shift moves all times of a run except its creation.
func shift(s *runstate.Snapshot, by time.Duration) {
	move := func(at *time.Time) *time.Time {
		if at == nil {
			return nil
		}
		t := at.Add(by)
		return &t
	}
	s.Run.FinishedAt, s.Run.UpdatedAt = move(s.Run.FinishedAt), s.Run.UpdatedAt.Add(by)
	for i := range s.Nodes {
		s.Nodes[i].StartedAt, s.Nodes[i].FinishedAt = move(s.Nodes[i].StartedAt), move(s.Nodes[i].FinishedAt)
	}
	for i := range s.Gates {
		s.Gates[i].CreatedAt = s.Gates[i].CreatedAt.Add(by)
		s.Gates[i].Decisions[0].DecidedAt = s.Gates[i].Decisions[0].DecidedAt.Add(by)
	}
	for i := range s.Intents {
		s.Intents[i].CreatedAt = s.Intents[i].CreatedAt.Add(by)
		s.Intents[i].Outcome = &runstate.Outcome{At: s.Intents[i].Outcome.At.Add(by)}
	}
}

// The plan shows who will be asked, before anything is executed.
func TestWhoWillBeAsked(t *testing.T) {
	t.Parallel()
	plan := paper().Run.Plan
	plan.Nodes[5].Policy.Approval.Roles = []string{"approver"}
	plan.Nodes[3].Human.Interrupt = contracts.InterruptClarification
	choose := contracts.Node{NodeID: "choose", Kind: contracts.KindHuman, Role: contracts.RolePreChoose, Human: &contracts.HumanStep{Interrupt: contracts.InterruptClarification}}
	plan.Nodes = append(plan.Nodes, choose)
	want := []metrics.QuestionMetrics{
		{Type: string(contracts.InterruptClarification), Count: 1},
		{Type: string(contracts.InterruptWriteApproval), Roles: []string{"approver"}, Count: 1},
		{Type: string(contracts.InterruptClarification), Count: 1, Perhaps: true},
	}
	if diff := cmp.Diff(want, runmetrics.Asks(plan)); diff != "" {
		t.Error(diff)
	}
	plan.DryRun, plan.Unattended = true, true
	if got := runmetrics.Asks(plan); len(got) != 0 {
		t.Errorf("of a dry run that nobody attends: %+v", got)
	}
	other := paper().Run.Plan
	if other.Nodes[0].Params = map[string]any{"id": "k2"}; !runmetrics.Alike(paper().Run.Plan, other) {
		t.Error("other parameters make another plan")
	}
	if other.Nodes[0].Tool = "shop.seek"; runmetrics.Alike(paper().Run.Plan, other) {
		t.Error("other calls make the same plan")
	}
}
