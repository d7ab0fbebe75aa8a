package executiontest

import (
	"fmt"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

func runSentences() sentences {
	return sentences{
		"a run comes back as it was created, with its first transition": runComesBack,
		"a run without an owner is due at once":                         ownerlessIsDue,
		"a run id is taken once":                                        runIDOnce,
		"an unknown run is not found by any door":                       unknownRun,
		"the first wish to cancel is kept and wakes the run once":       firstCancelIsKept,
		"a run that has ended cannot be cancelled":                      noCancelAfterEnd,
		"runs are listed newest first and by filter":                    runsAreListed,
		"runs are listed page by page, each once":                       runsArePaged,
		"runs in every state, parked ones too, are listed and counted":  runsInEveryState,
	}
}

func runComesBack(t *testing.T, s execution.Store) {
	run := exampleRun("r1")
	started := day()
	nodes := []execution.NodeRecord{
		{NodeID: "n2", State: contracts.NodePending},
		{
			NodeID: "n1", State: contracts.NodeCompleted,
			CallRow: execution.CallRow{
				Step: execution.StepVerify, Attempts: 2, MachineMS: 12,
				Params: map[string]any{"list": []any{"a", 1.5, nil}, "deep": map[string]any{"x": true}},
			},
			WriteRow: execution.WriteRow{Writes: 1},
			Result:   &execution.Result{Summary: "2 items", Facts: map[string]any{"n": 2.0}, Artifacts: contracts.ArtifactRefs{"all": "sha256:ab"}},
			NextAt:   day().Add(time.Second), StartedAt: &started,
		},
	}
	ledger := link(t, "r1", 0, "", 1)
	run.LedgerSeq, run.LedgerHead = 1, ledger[0].Hash
	lease := create(t, s, run, execution.Transition{At: day(), Nodes: nodes, Ledger: ledger, Events: []contracts.Event{event(contracts.EventNodeStart, "n1")}})
	got := load(t, s, "r1")
	if !got.Run.LeaseUntil.After(time.Now().Add(50 * time.Minute)) {
		t.Errorf("the lease ends %v, want in about an hour", got.Run.LeaseUntil)
	}
	run.Epoch, run.LeaseUntil = lease.Epoch, got.Run.LeaseUntil
	same(t, "run", run, got.Run)
	same(t, "nodes in the order of their insertion", nodes, got.Nodes)
	chain, err := s.Ledger(t.Context(), "r1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "ledger", ledger, chain)
	want := event(contracts.EventNodeStart, "n1")
	want.SessionID, want.RunID, want.Seq = run.SessionID, "r1", 1
	same(t, "events", []contracts.Event{want}, events(t, s, run.SessionID))
}

func ownerlessIsDue(t *testing.T, s execution.Store) {
	run := exampleRun("r1")
	run.Owner = ""
	create(t, s, run)
	same(t, "due runs", []string{"r1"}, due(t, s))
	lease, err := s.AcquireRun(t.Context(), "r1", "two", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, lease, execution.Transition{State: contracts.RunWaiting})
	if got := load(t, s, "r1").Run.State; got != contracts.RunWaiting {
		t.Errorf("the run is %s after its first commit", got)
	}
}

func runIDOnce(t *testing.T, s execution.Store) {
	create(t, s, exampleRun("r1"))
	other := exampleRun("r1")
	other.Plan.Goal = "something else"
	wantCode(t, s.CreateRun(t.Context(), other, time.Hour, execution.Transition{}), contracts.CodeConflict)
	if got := load(t, s, "r1").Run.Plan.Goal; got != "compare <two> things" {
		t.Errorf("the first run was replaced: %q", got)
	}
}

func unknownRun(t *testing.T, s execution.Store) {
	ctx, lease := t.Context(), execution.Lease{RunID: "r0", Owner: "one", Epoch: 1}
	doors := map[string]func() error{
		"load":    func() error { _, err := s.LoadRun(ctx, "r0"); return err },
		"commit":  func() error { _, err := s.Commit(ctx, execution.Transition{Lease: lease}); return err },
		"signals": func() error { _, err := s.ReadSignals(ctx, "r0"); return err },
		"cancel":  func() error { return s.RequestCancel(ctx, "r0", "ana") },
		"acquire": func() error { _, err := s.AcquireRun(ctx, "r0", "one", time.Hour); return err },
		"release": func() error { return s.ReleaseRun(ctx, lease) },
		"locks":   func() error { _, _, err := s.AcquireLocks(ctx, lease, "n1", []string{"k"}); return err },
		"data":    func() error { _, err := s.NodeData(ctx, "r0", "n1"); return err },
	}
	for name, open := range doors {
		if err := open(); contracts.CodeOf(err) != contracts.CodeNotFound {
			t.Errorf("%s: got %v, want not_found", name, err)
		}
	}
	ledger, err := s.Ledger(ctx, "r0", 0, 0)
	if err != nil || len(ledger) != 0 {
		t.Errorf("ledger: got %v, %v; want none", ledger, err)
	}
}

func firstCancelIsKept(t *testing.T, s execution.Store) {
	create(t, s, exampleRun("r1"))
	before := wakeSeq(t, s, "r1")
	for _, who := range []string{"ana", "ben"} {
		if err := s.RequestCancel(t.Context(), "r1", who); err != nil {
			t.Fatal(err)
		}
	}
	signals, err := s.ReadSignals(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	if signals.CancelledBy != "ana" || signals.CancelRequestedAt == nil || signals.WakeSeq != before+1 {
		t.Errorf("got %+v; want the wish of ana and one wake-up more than %d", signals, before)
	}
	if run := load(t, s, "r1").Run; run.CancelledBy != "ana" || run.CancelRequestedAt == nil {
		t.Errorf("the run does not show the wish: %+v", run)
	}
}

func noCancelAfterEnd(t *testing.T, s execution.Store) {
	lease := create(t, s, exampleRun("r1"))
	finish(t, s, lease)
	wantCode(t, s.RequestCancel(t.Context(), "r1", "ana"), contracts.CodeConflict)
}

func runsAreListed(t *testing.T, s execution.Store) {
	leases := ListedRuns(t, s)
	FoundRuns(t, s)
	score := 0.6
	commit(t, s, leases["r3"], execution.Transition{
		State: contracts.RunDegraded, Finished: true, Verdict: &contracts.Verdict{Status: contracts.VerdictDegraded, Score: &score},
	})
	for below, want := range map[float64]int{0.5: 0, 0.6: 0, 0.7: 1, 1: 1} {
		runs, err := s.ListRuns(t.Context(), execution.RunFilter{ScoreBelow: below})
		if err != nil || len(runs.Items) != want {
			t.Errorf("%d runs with a score below %v, want %d: %v", len(runs.Items), below, want, err)
		}
	}
}

// ListedRuns creates the runs that FoundRuns lists.
func ListedRuns(t *testing.T, s execution.Store) map[string]execution.Lease {
	t.Helper()
	leases := map[string]execution.Lease{}
	for i, id := range []string{"r1", "r2", "r3"} {
		run := exampleRun(id)
		run.CreatedAt = day().Add(time.Duration(i) * time.Minute)
		if id == "r2" {
			run.SessionID, run.Plan.Owner.ID, run.State = "elsewhere", "ben", contracts.RunWaiting
			run.Plan.Goal, run.Plan.Nodes[0].Tool = "Pay 100% to Ölaf's", "a_b.pay"
		}
		leases[id] = create(t, s, run)
	}
	return leases
}

// FoundRuns lists runs with each filter.
func FoundRuns(t *testing.T, s execution.Store) {
	t.Helper()
	filters := map[string]struct {
		filter execution.RunFilter
		want   []string
	}{
		"all":     {execution.RunFilter{}, []string{"r3", "r2", "r1"}},
		"limit":   {execution.RunFilter{Limit: 2}, []string{"r3", "r2"}},
		"owner":   {execution.RunFilter{Owner: "ben"}, []string{"r2"}},
		"session": {execution.RunFilter{SessionID: "elsewhere"}, []string{"r2"}},
		"states":  {execution.RunFilter{States: []contracts.RunState{contracts.RunRunning, contracts.RunFailed}}, []string{"r3", "r1"}},
		"goal":    {execution.RunFilter{Goal: "PAY 100% to Öl"}, []string{"r2"}},
		"no wild": {execution.RunFilter{Goal: "pay %"}, nil},
		"domain":  {execution.RunFilter{Domain: "a_b"}, []string{"r2"}},
		"no part": {execution.RunFilter{Domain: "a"}, nil},
		"other":   {execution.RunFilter{Domain: "axb"}, nil},
		"both":    {execution.RunFilter{Goal: "pay", Domain: "a_b"}, []string{"r2"}},
		"of whom": {execution.RunFilter{Goal: "pay", Owner: "ben"}, []string{"r2"}},
		"nobody":  {execution.RunFilter{Goal: "pay", Owner: "eve"}, nil},
		"before":  {execution.RunFilter{Before: day().Add(2 * time.Minute)}, []string{"r2", "r1"}},
	}
	for name, test := range filters {
		runs, err := s.ListRuns(t.Context(), test.filter)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range runs.Items {
			ids = append(ids, r.ID)
			if len(r.Plan.Nodes) != 1 {
				t.Errorf("%s: run %s came without its plan", name, r.ID)
			}
		}
		same(t, "runs by "+name, test.want, ids)
		counts, err := s.CountRuns(t.Context(), test.filter)
		if err != nil {
			t.Fatal(err)
		}
		want := map[contracts.RunState]int{}
		for _, r := range runs.Items {
			want[r.State]++
		}
		same(t, "counts by "+name, want, counts)
	}
}

// runsArePaged lists runs, some with the same creation time, while another run is created between
// two pages.
func runsArePaged(t *testing.T, s execution.Store) {
	for i, id := range []string{"r1", "r2", "r3", "r4", "r5"} {
		run := exampleRun(id)
		run.CreatedAt = day().Add(time.Duration(i/4) * time.Minute)
		create(t, s, run)
	}
	var ids []string
	f := execution.RunFilter{Limit: 2}
	for pages := 0; pages == 0 || f.Cursor != ""; pages++ {
		got, err := s.ListRuns(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Items {
			ids = append(ids, r.ID)
		}
		f.Cursor = got.Next
		late := exampleRun(fmt.Sprintf("late%d", pages))
		late.CreatedAt = day().Add(time.Hour)
		create(t, s, late)
	}
	same(t, "runs, page by page", []string{"r5", "r4", "r3", "r2", "r1"}, ids)
	exact, err := s.ListRuns(t.Context(), execution.RunFilter{SessionID: "session of r1", Limit: 1})
	if err != nil || len(exact.Items) != 1 || exact.Next != "" {
		t.Errorf("a page that holds everything: got %d runs, next %q, %v; want no next", len(exact.Items), exact.Next, err)
	}
	_, err = s.ListRuns(t.Context(), execution.RunFilter{Cursor: "nonsense", Limit: 1})
	wantCode(t, err, contracts.CodeInvalid)
}

func events(t *testing.T, s execution.Store, session string) []contracts.Event {
	t.Helper()
	got, err := s.Events(t.Context(), session, 0, 0)
	if err != nil {
		t.Fatalf("events of %s: %v", session, err)
	}
	return got
}

func due(t *testing.T, s execution.Store) []string {
	t.Helper()
	ids, err := s.DueRuns(t.Context(), []int{execution.Format}, 100)
	if err != nil {
		t.Fatalf("due runs: %v", err)
	}
	return ids
}
