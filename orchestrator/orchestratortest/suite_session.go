package orchestratortest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/orchestrator"
)

func sessionComesBack(t *testing.T, s Opened) {
	want := exampleSession("s1", 0)
	createSession(t, s, want)
	got, err := s.Session(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "session", want, got)
}

func sessionIDOnce(t *testing.T, s Opened) {
	createSession(t, s, exampleSession("s1", 0))
	other := exampleSession("s1", 1)
	other.Name = "another"
	wantCode(t, s.CreateSession(t.Context(), other), contracts.CodeConflict)
	got, err := s.Session(t.Context(), "s1")
	if err != nil || got.Name != "talk s1" {
		t.Errorf("got %q, %v; the first session must stay", got.Name, err)
	}
}

// sessionWithRun tests that both or neither are inserted.
func sessionWithRun(t *testing.T, s Opened) {
	begin := func(session, run string) error {
		return s.CreateSessionWithRun(t.Context(), exampleSession(session, 0), execution.Run{
			ID: run, SessionID: session, Format: execution.Format, Owner: "one", State: contracts.RunRunning,
			Plan: contracts.Plan{RunID: run, Owner: contracts.Principal{ID: "ana"}}, CreatedAt: day(), UpdatedAt: day(),
		}, time.Hour, execution.Transition{At: day(), Nodes: []execution.NodeRecord{{NodeID: "n1", State: contracts.NodePending}}})
	}
	if err := begin("s1", "r1"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, begin("s1", "r2"), contracts.CodeConflict)
	if _, err := s.LoadRun(t.Context(), "r2"); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("a run of a session that was there: %v", err)
	}
	wantCode(t, begin("s2", "r1"), contracts.CodeConflict)
	if _, err := s.Session(t.Context(), "s2"); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("the session of a run that was there: %v", err)
	}
	got, err := s.Session(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "session", exampleSession("s1", 0), got)
	run, err := s.LoadRun(t.Context(), "r1")
	if err != nil || run.Run.SessionID != "s1" || run.Run.Owner != "one" || len(run.Nodes) != 1 {
		t.Errorf("run %+v, %v", run, err)
	}
	// Of several concurrent calls one succeeds, as with CreateSession.
	var refused sync.Map
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if err := begin("s3", fmt.Sprint("many", i)); err != nil {
				refused.Store(i, contracts.CodeOf(err))
			}
		})
	}
	all.Wait()
	count := 0
	refused.Range(func(_, code any) bool {
		count++
		if code != contracts.CodeConflict {
			t.Errorf("refused as %v", code)
		}
		return true
	})
	runs, err := s.ListRuns(t.Context(), execution.RunFilter{SessionID: "s3"})
	if err != nil || count != 7 || len(runs.Items) != 1 {
		t.Errorf("%d were refused, and there are %d runs, %v", count, len(runs.Items), err)
	}
}

func sessionsAreListed(t *testing.T, s Opened) {
	for i, id := range []string{"s1", "s2", "s3"} {
		session := exampleSession(id, i)
		if id == "s2" {
			session.Owner.ID = "ben"
		}
		createSession(t, s, session)
	}
	lists := map[string]struct {
		filter orchestrator.SessionFilter
		want   []string
	}{
		"all":    {want: []string{"s3", "s2", "s1"}},
		"owner":  {filter: orchestrator.SessionFilter{Owner: "ana"}, want: []string{"s3", "s1"}},
		"before": {filter: orchestrator.SessionFilter{Before: day().Add(2 * time.Minute)}, want: []string{"s2", "s1"}},
		"limit":  {filter: orchestrator.SessionFilter{Limit: 1}, want: []string{"s3"}},
	}
	for name, test := range lists {
		got, err := s.ListSessions(t.Context(), test.filter)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, session := range got.Items {
			ids = append(ids, session.ID)
		}
		same(t, "sessions by "+name, test.want, ids)
	}
}

func sessionsArePaged(t *testing.T, s Opened) {
	for i, id := range []string{"s1", "s2", "s3", "s4", "s5"} {
		createSession(t, s, exampleSession(id, i/4)) // four began at the same moment
	}
	var ids []string
	f := orchestrator.SessionFilter{Owner: "ana", Limit: 2}
	for pages := 0; pages == 0 || f.Cursor != ""; pages++ {
		got, err := s.ListSessions(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, session := range got.Items {
			ids = append(ids, session.ID)
		}
		f.Cursor = got.Next
	}
	same(t, "sessions, page by page", []string{"s5", "s4", "s3", "s2", "s1"}, ids)
	_, err := s.ListSessions(t.Context(), orchestrator.SessionFilter{Cursor: "nonsense", Limit: 1})
	wantCode(t, err, contracts.CodeInvalid)
}

func sessionIsRenamed(t *testing.T, s Opened) {
	want := exampleSession("s1", 0)
	createSession(t, s, want)
	want.Name, want.UpdatedAt, want.Delivered, want.Repeats = "holidays", day().Add(time.Hour), true, []int{1, 3}
	saved, err := s.SaveSession(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	want.Version = 1
	same(t, "session as saved", want, saved)
	got, err := s.Session(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "session", want, got)
}

func sessionIsSavedOnceAVersion(t *testing.T, s Opened) {
	session := exampleSession("s1", 0)
	createSession(t, s, session)
	saved := race(t, func(n int) error {
		mine := session
		mine.Name = fmt.Sprintf("name %d", n)
		_, err := s.SaveSession(t.Context(), mine)
		return err
	})
	got, err := s.Session(t.Context(), "s1")
	if err != nil || got.Version != 1 || got.Name != fmt.Sprintf("name %d", saved) {
		t.Errorf("got %q of version %d, %v; writer %d has won", got.Name, got.Version, err, saved)
	}
}

// race calls write concurrently for the same version. Exactly one call may succeed, all others must
// return conflict. It returns the number of the winner.
func race(t *testing.T, write func(n int) error) int {
	t.Helper()
	const many = 16
	won := make(chan int, many)
	var wg sync.WaitGroup
	for n := range many {
		wg.Go(func() {
			switch err := write(n); {
			case err == nil:
				won <- n
			case contracts.CodeOf(err) != contracts.CodeConflict:
				t.Errorf("writer %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	close(won)
	if len(won) != 1 {
		t.Fatalf("%d writers have won", len(won))
	}
	return <-won
}

func unknownRows(t *testing.T, s Opened) {
	ctx := t.Context()
	_, err := s.Session(ctx, "nobody")
	wantCode(t, err, contracts.CodeNotFound)
	_, err = s.SaveSession(ctx, exampleSession("nobody", 0))
	wantCode(t, err, contracts.CodeNotFound)
	wantCode(t, s.DeleteSession(ctx, "nobody"), contracts.CodeNotFound)
	_, err = s.SaveTurn(ctx, exampleTurn("nobody", "k"))
	wantCode(t, err, contracts.CodeNotFound)
	_, err = s.Turn(ctx, exampleTurn("nobody", "k").TurnKey)
	wantCode(t, err, contracts.CodeNotFound)
	_, err = s.Preview(ctx, "ana", "hash", day())
	wantCode(t, err, contracts.CodeNotFound)
	if err := s.Done(ctx, "nothing"); err != nil {
		t.Errorf("done: %v", err)
	}
	if err := s.Retry(ctx, "nothing", day(), 1); err != nil {
		t.Errorf("retry: %v", err)
	}
}

func sessionIsDeleted(t *testing.T, s Opened) {
	createSession(t, s, exampleSession("s1", 0))
	createSession(t, s, exampleSession("s2", 1))
	entry := contracts.LedgerEntry{Seq: 1, At: day(), RunID: "r1", Kind: contracts.LedgerPlan}
	if err := entry.Seal(""); err != nil {
		t.Fatal(err)
	}
	for run, session := range map[string]string{"r1": "s1", "r2": "s2"} {
		first := execution.Transition{
			At: day(), Finished: true, State: contracts.RunCompleted, Gates: []contracts.Interrupt{gate("g"+run, session, run)},
			Events: []contracts.Event{{Type: contracts.EventDone}},
			Blobs:  []execution.Blob{{SHA256: "only " + run, Kind: "artifact", Body: []byte("x")}, {SHA256: "shared", Kind: "artifact", Body: []byte("y")}},
		}
		if run == "r1" {
			first.Ledger = []contracts.LedgerEntry{entry}
		}
		createRun(t, s, run, session, first)
		if _, _, err := s.BeginTurn(t.Context(), exampleTurn(session, "k")); err != nil {
			t.Fatal(err)
		}
	}
	act := execution.AdminAction{Kind: contracts.ActSessionDeleted, Actor: "ana", KeyID: "k1", From: "10.0.0.1", Subject: "s1", Detail: map[string]any{"runs": 1}}
	if err := s.DeleteSession(execution.WithAdminAction(t.Context(), act), "s1"); err != nil {
		t.Fatal(err)
	}
	wantGone(t, s, "s1", "r1")
	wantBuried(t, s, "r1", 2)
	wantBuried(t, s, execution.SessionChain("s1"), 1)
	wantCode(t, s.DeleteSession(execution.WithAdminAction(t.Context(), act), "s1"), contracts.CodeNotFound)
	acts, err := s.Ledger(t.Context(), execution.AdminChain, 0, 0)
	if err != nil || len(acts) != 1 || acts[0].Kind != act.Kind || acts[0].Actor != "ana" || acts[0].KeyID != "k1" || acts[0].From != "10.0.0.1" || acts[0].NodeID != "s1" {
		t.Errorf("what was done is recorded once, what was refused is not: %+v, %v", acts, err)
	}
	if _, err := s.Blob(t.Context(), "shared"); err != nil {
		t.Errorf("the other session's run still names the content: %v", err)
	}
	wantWhole(t, s, "s2", "r2")
}

// wantBuried checks that a chain of n entries ends with a deletion entry.
func wantBuried(t *testing.T, s Opened, chain string, n int) {
	t.Helper()
	entries, err := s.Ledger(t.Context(), chain, 0, 0)
	if err != nil || len(entries) != n {
		t.Fatalf("ledger entries must stay, and one more must end them: got %v, %v", entries, err)
	}
	last := entries[n-1]
	if last.Kind != contracts.LedgerDeleted || last.Key != execution.GoneByRequest || last.Actor != "ana" || last.KeyID != "k1" {
		t.Errorf("the tombstone of %s is %+v", chain, last)
	}
	if err := execution.VerifyChain(entries); err != nil {
		t.Errorf("chain %s: %v", chain, err)
	}
}

func wantGone(t *testing.T, s Opened, session, run string) {
	t.Helper()
	ctx := t.Context()
	_, err := s.Session(ctx, session)
	wantCode(t, err, contracts.CodeNotFound)
	_, err = s.LoadRun(ctx, run)
	wantCode(t, err, contracts.CodeNotFound)
	_, err = execution.GetInterrupt(ctx, s, "g"+run)
	wantCode(t, err, contracts.CodeNotFound)
	_, err = s.Blob(ctx, "only "+run)
	wantCode(t, err, contracts.CodeNotFound)
	events, err := s.Events(ctx, session, 0, 0)
	if err != nil || len(events) != 0 {
		t.Errorf("events: got %v, %v; want none", events, err)
	}
	turns, err := s.ListTurns(ctx, orchestrator.TurnFilter{SessionID: session})
	if err != nil || len(turns) != 0 {
		t.Errorf("turns: got %v, %v; want none", turns, err)
	}
	due, err := s.Claim(ctx, lookingAt(day().Add(time.Hour), 0))
	for _, d := range due {
		if d.ID == "interrupt-g"+run {
			t.Errorf("a notice of the deleted session is due, %v", err)
		}
	}
}

func wantWhole(t *testing.T, s Opened, session, run string) {
	t.Helper()
	ctx := t.Context()
	if _, err := s.Session(ctx, session); err != nil {
		t.Error(err)
	}
	if _, err := s.LoadRun(ctx, run); err != nil {
		t.Error(err)
	}
	if _, err := execution.GetInterrupt(ctx, s, "g"+run); err != nil {
		t.Error(err)
	}
	turns, err := s.ListTurns(ctx, orchestrator.TurnFilter{SessionID: session})
	if err != nil || len(turns) != 1 {
		t.Errorf("turns of %s: got %v, %v; want one", session, turns, err)
	}
}

func openRunKeepsSession(t *testing.T, s Opened) {
	createSession(t, s, exampleSession("s1", 0))
	createRun(t, s, "r1", "s1", execution.Transition{Finished: true, Gates: []contracts.Interrupt{gate("gr1", "s1", "r1")}})
	createRun(t, s, "r2", "s1", execution.Transition{})
	if _, _, err := s.BeginTurn(t.Context(), exampleTurn("s1", "k")); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.DeleteSession(t.Context(), "s1"), contracts.CodeConflict)
	wantWhole(t, s, "s1", "r1")
}

// idleTalkIsSwept has sessions that began long ago: one is idle, one has a run, one an open
// question, one an unfinished turn, one a recent turn and an old one with its settled question.
func idleTalkIsSwept(t *testing.T, s Opened) {
	since := day().Add(24 * time.Hour)
	for _, id := range []string{"idle", "runs", "asks", "goes on", "young"} {
		createSession(t, s, exampleSession(id, 0))
		began(t, s, id, "old", day(), orchestrator.TurnAnswered)
	}
	createRun(t, s, "r1", "runs", execution.Transition{At: day()})
	asked(t, s, "asks", "q1", contracts.InterruptOpen)
	began(t, s, "goes on", "still", day(), "")
	asked(t, s, "young", "q2", contracts.InterruptAnswered)
	began(t, s, "young", "new", since, orchestrator.TurnAnswered)
	if _, err := s.SweepSessions(t.Context(), since); err != nil {
		t.Fatal(err)
	}
	left, err := s.ListSessions(t.Context(), orchestrator.SessionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var ids, turns []string
	for _, session := range left.Items {
		ids = append(ids, session.ID)
		found, err := s.ListTurns(t.Context(), orchestrator.TurnFilter{SessionID: session.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range found {
			turns = append(turns, session.ID+"/"+turn.Key)
		}
	}
	same(t, "sessions that are left", []string{"young", "runs", "goes on", "asks"}, ids)
	same(t, "turns that are left", []string{"young/new", "goes on/still"}, turns)
	if _, err := execution.GetInterrupt(t.Context(), s, "q1"); err != nil {
		t.Errorf("the open question is gone: %v", err)
	}
	_, err = execution.GetInterrupt(t.Context(), s, "q2")
	wantCode(t, err, contracts.CodeNotFound)
	executiontest.WantTaken(t, s, "questions", "turns")
}

// began stores a turn of a session.
func began(t *testing.T, s Opened, session, key string, at time.Time, outcome orchestrator.TurnOutcome) {
	t.Helper()
	turn := exampleTurn(session, key)
	turn.Conversation, turn.CreatedAt, turn.Outcome = session, at, outcome
	if _, _, err := s.BeginTurn(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
}

// asked stores a question of a session that belongs to no run.
func asked(t *testing.T, s Opened, session, id string, status contracts.InterruptStatus) {
	t.Helper()
	q := gate(id, session, "")
	q.Type, q.Action = contracts.InterruptClarification, nil
	if err := s.OpenInterrupt(t.Context(), q, contracts.Event{SessionID: session, Type: contracts.EventInterrupt}); err != nil {
		t.Fatal(err)
	}
	if status == contracts.InterruptOpen {
		return
	}
	if _, err := execution.UpdateInterrupt(t.Context(), s, id, func(i *contracts.Interrupt, _ time.Time) error {
		i.Status = status
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
