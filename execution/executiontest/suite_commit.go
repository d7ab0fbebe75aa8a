package executiontest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

func commitSentences() sentences {
	return sentences{
		"a commit updates nodes in place and appends new ones":                 nodesAreUpserted,
		"a commit by anybody but the holder of the lease changes nothing":      strangersAreRefused,
		"a refused commit leaves no trace at all":                              refusalLeavesNoTrace,
		"a run that has ended takes no more commits":                           endedTakesNothing,
		"events get one number after the other, without gaps, per session":     eventsWithoutGaps,
		"events of concurrent runs of one session have no gaps and no doubles": concurrentEvents,
		"events are read after a place and up to a limit":                      eventsByPlace,
		"a ledger entry that does not follow the last one is refused":          ledgerIsContiguous,
		"a run parks only if it has seen every wake-up":                        parkSeesWakeUps,
		"parking gives the lease back and keeps the timer":                     parkGivesBack,
		"a verdict and the end of a run are kept":                              endIsKept,
	}
}

func nodesAreUpserted(t *testing.T, s execution.Store) {
	lease := create(t, s, exampleRun("r1"), execution.Transition{Nodes: []execution.NodeRecord{
		{NodeID: "n1", State: contracts.NodePending, CallRow: execution.CallRow{Params: map[string]any{"a": 1.0}}}, {NodeID: "n2", State: contracts.NodePending},
	}})
	commit(t, s, lease, execution.Transition{State: contracts.RunWaiting, Nodes: []execution.NodeRecord{
		{NodeID: "n1", State: contracts.NodeCompleted},
		{NodeID: "n1[0]", State: contracts.NodeReady, Spec: &contracts.Node{NodeID: "n1[0]", Kind: contracts.KindTool}},
	}})
	got := load(t, s, "r1")
	same(t, "nodes", []execution.NodeRecord{
		{NodeID: "n1", State: contracts.NodeCompleted},
		{NodeID: "n2", State: contracts.NodePending},
		{NodeID: "n1[0]", State: contracts.NodeReady, Spec: &contracts.Node{NodeID: "n1[0]", Kind: contracts.KindTool}},
	}, got.Nodes)
	if got.Run.State != contracts.RunWaiting || !got.Run.UpdatedAt.Equal(day().Add(time.Minute)) {
		t.Errorf("the run is %s since %v", got.Run.State, got.Run.UpdatedAt)
	}
}

func strangersAreRefused(t *testing.T, s execution.Store) {
	lease := create(t, s, exampleRun("r1"))
	strangers := map[string]execution.Lease{
		"another owner":    {RunID: "r1", Owner: "two", Epoch: lease.Epoch},
		"an earlier epoch": {RunID: "r1", Owner: lease.Owner, Epoch: lease.Epoch - 1},
		"a later epoch":    {RunID: "r1", Owner: lease.Owner, Epoch: lease.Epoch + 1},
		"nobody":           {RunID: "r1"},
	}
	for name, stranger := range strangers {
		_, err := s.Commit(t.Context(), execution.Transition{Lease: stranger, State: contracts.RunFailed})
		if contracts.CodeOf(err) != contracts.CodeLeaseLost {
			t.Errorf("%s: got %v, want lease_lost", name, err)
		}
	}
	park(t, s, lease, time.Time{})
	refused(t, s, execution.Lease{RunID: "r1", Epoch: lease.Epoch}, execution.Transition{}, contracts.CodeLeaseLost)
	if got := load(t, s, "r1").Run.State; got != contracts.RunWaiting {
		t.Errorf("a stranger changed the run to %s", got)
	}
}

func refusalLeavesNoTrace(t *testing.T, s execution.Store) {
	run := exampleRun("r1")
	lease := create(t, s, run, execution.Transition{Ledger: link(t, "r1", 0, "", 1)})
	before := load(t, s, "r1")
	refused(t, s, lease, execution.Transition{
		State: contracts.RunFailed, Nodes: []execution.NodeRecord{{NodeID: "n9", State: contracts.NodeFailed}},
		Gates: []contracts.Interrupt{gate("g1", "AAA")}, Intents: []execution.Intent{intent("r1", "n9", 1)},
		Events: []contracts.Event{event(contracts.EventDone, "")}, Blobs: []execution.Blob{{SHA256: "cafe", Kind: "artifact", Body: []byte("x")}},
		Data:     []execution.NodeData{{NodeID: "n9", Body: []byte("raw"), ExpiresAt: time.Now().Add(time.Hour)}},
		Finished: true, Ledger: link(t, "r1", 7, "elsewhere", 1),
	}, contracts.CodeConflict)
	same(t, "run", before, load(t, s, "r1"))
	same(t, "events", []contracts.Event{}, events(t, s, run.SessionID))
	_, err := s.Blob(t.Context(), "cafe")
	wantCode(t, err, contracts.CodeNotFound)
	_, err = s.NodeData(t.Context(), "r1", "n9")
	wantCode(t, err, contracts.CodeNotFound)
	_, err = execution.GetInterrupt(t.Context(), s, "g1")
	wantCode(t, err, contracts.CodeNotFound)
	commit(t, s, lease, execution.Transition{Events: []contracts.Event{event(contracts.EventDone, "")}})
	if got := events(t, s, run.SessionID); len(got) != 1 || got[0].Seq != 1 {
		t.Errorf("the refused commit used up event numbers: %+v", got)
	}
}

func endedTakesNothing(t *testing.T, s execution.Store) {
	lease := create(t, s, exampleRun("r1"))
	finish(t, s, lease)
	refused(t, s, lease, execution.Transition{State: contracts.RunFailed}, contracts.CodeLeaseLost)
	wantCode(t, s.ReleaseRun(t.Context(), lease), contracts.CodeLeaseLost)
	same(t, "due runs", []string{}, due(t, s))
}

func eventsWithoutGaps(t *testing.T, s execution.Store) {
	run := exampleRun("r1")
	lease := create(t, s, run, execution.Transition{Events: []contracts.Event{event(contracts.EventNodeStart, "n1")}})
	other := exampleRun("r2")
	second := create(t, s, other)
	commit(t, s, lease, execution.Transition{Events: []contracts.Event{event(contracts.EventNodeEnd, "n1"), event(contracts.EventVerdict, "")}})
	commit(t, s, second, execution.Transition{Events: []contracts.Event{event(contracts.EventDone, "")}})
	commit(t, s, lease, execution.Transition{Events: []contracts.Event{event(contracts.EventDone, "")}})
	wantSeqs(t, events(t, s, run.SessionID), 4)
	wantSeqs(t, events(t, s, other.SessionID), 1)
}

func concurrentEvents(t *testing.T, s execution.Store) {
	const runs, commits = 8, 10
	var wg sync.WaitGroup
	for i := range runs {
		run := exampleRun(fmt.Sprintf("r%d", i))
		run.SessionID = fmt.Sprintf("session %d", i%2)
		lease := create(t, s, run)
		wg.Go(func() {
			for range commits {
				if _, err := s.Commit(detached(t), execution.Transition{Lease: lease, Events: []contracts.Event{event(contracts.EventNodeStart, "a"), event(contracts.EventNodeEnd, "a")}}); err != nil {
					t.Errorf("commit on %s: %v", lease.RunID, err)
				}
			}
		})
	}
	wg.Wait()
	for i := range 2 {
		wantSeqs(t, events(t, s, fmt.Sprintf("session %d", i)), runs/2*commits*2)
	}
}

func wantSeqs(t *testing.T, got []contracts.Event, n int) {
	t.Helper()
	if len(got) != n {
		t.Errorf("got %d events, want %d", len(got), n)
	}
	for i, e := range got {
		if e.Seq != int64(i)+1 {
			t.Fatalf("event %d of session %s has number %d", i+1, e.SessionID, e.Seq)
		}
	}
}

func eventsByPlace(t *testing.T, s execution.Store) {
	run := exampleRun("r1")
	lease := create(t, s, run)
	last := 0
	for _, n := range []int{1, 3, 250} { // of one commit
		var all []contracts.Event
		for range n {
			last++
			all = append(all, event(contracts.EventNodeEnd, fmt.Sprintf("n%d", last)))
		}
		commit(t, s, lease, execution.Transition{Events: all})
	}
	for _, page := range []struct{ after, limit, want int }{{0, 1, 1}, {0, 0, last}, {1, 2, 2}, {2, 3, 3}, {100, 90, 90}, {last - 1, 5, 1}, {last, 5, 0}} {
		got, err := s.Events(t.Context(), run.SessionID, int64(page.after), page.limit)
		if err != nil || len(got) != page.want {
			t.Fatalf("%+v: %d events, %v", page, len(got), err)
		}
		for i, e := range got {
			if at := page.after + i + 1; e.Seq != int64(at) || e.NodeID != fmt.Sprintf("n%d", at) || e.SessionID != run.SessionID || e.RunID != run.ID {
				t.Fatalf("%+v: event %d is %+v", page, at, e)
			}
		}
	}
}

func ledgerIsContiguous(t *testing.T, s execution.Store) {
	first := link(t, "r1", 0, "", 2)
	lease := create(t, s, exampleRun("r1"), execution.Transition{Ledger: first})
	head := first[1].Hash
	wrong := map[string][]contracts.LedgerEntry{
		"a gap":                           link(t, "r1", 3, head, 1),
		"a number that is used":           link(t, "r1", 1, head, 1),
		"another chain":                   link(t, "r1", 2, "elsewhere", 1),
		"a second entry beside the first": append(link(t, "r1", 2, head, 1), link(t, "r1", 3, head, 1)...),
	}
	for name, entries := range wrong {
		_, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Ledger: entries})
		if contracts.CodeOf(err) != contracts.CodeConflict {
			t.Errorf("%s: got %v, want conflict", name, err)
		}
	}
	next := link(t, "r1", 2, head, 2)
	commit(t, s, lease, execution.Transition{Ledger: next})
	chain, err := s.Ledger(t.Context(), "r1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "ledger", append(first, next...), chain)
	if run := load(t, s, "r1").Run; run.LedgerSeq != 4 || run.LedgerHead != next[1].Hash {
		t.Errorf("the run stands at entry %d %s", run.LedgerSeq, run.LedgerHead)
	}
}

func parkSeesWakeUps(t *testing.T, s execution.Store) {
	lease := create(t, s, exampleRun("r1"))
	seen := wakeSeq(t, s, "r1")
	if err := s.RequestCancel(t.Context(), "r1", "ana"); err != nil {
		t.Fatal(err)
	}
	done := commit(t, s, lease, execution.Transition{State: contracts.RunCancelling, Park: true, SeenWakeSeq: seen})
	if done.Parked || done.WakeSeq != seen+1 {
		t.Errorf("got %+v; the run has missed a wake-up and must not park", done)
	}
	if run := load(t, s, "r1").Run; run.State != contracts.RunCancelling || run.Owner != "one" || run.Parked {
		t.Errorf("the commit must do everything but park: %+v", run)
	}
	if done := commit(t, s, lease, execution.Transition{Park: true, SeenWakeSeq: seen + 1}); !done.Parked {
		t.Error("the run has seen all wake-ups, but was not parked")
	}
}

func parkGivesBack(t *testing.T, s execution.Store) {
	lease := create(t, s, exampleRun("r1"))
	at := time.Now().Add(time.Hour).UTC()
	park(t, s, lease, at)
	run := load(t, s, "r1").Run
	if run.Owner != "" || !run.LeaseUntil.IsZero() || !run.Parked || !run.WakeAt.Equal(at) {
		t.Errorf("got %+v; want it parked until %v, held by nobody", run, at)
	}
	next, err := s.NextWake(t.Context())
	if err != nil || !next.Equal(at) {
		t.Errorf("the next wake-up is %v, %v; want %v", next, err, at)
	}
	same(t, "due runs", []string{}, due(t, s))
	refused(t, s, lease, execution.Transition{}, contracts.CodeLeaseLost)
}

func endIsKept(t *testing.T, s execution.Store) {
	lease := create(t, s, exampleRun("r1"))
	verdict := &contracts.Verdict{Status: contracts.VerdictVerified, Reasons: []string{"read back"}}
	at := day().Add(time.Hour)
	commit(t, s, lease, execution.Transition{At: at, State: contracts.RunCompleted, Verdict: verdict, Finished: true, Park: true, WakeAt: at})
	run := load(t, s, "r1").Run
	if run.FinishedAt == nil || !run.FinishedAt.Equal(at) || run.Owner != "" || !run.LeaseUntil.IsZero() || run.Parked || !run.WakeAt.IsZero() {
		t.Errorf("got %+v; want it ended at %v, held by nobody, without a timer", run, at)
	}
	same(t, "verdict", verdict, run.Verdict)
	wantCode(t, func() error { _, err := s.AcquireRun(t.Context(), "r1", "two", time.Hour); return err }(), contracts.CodeConflict)
}
