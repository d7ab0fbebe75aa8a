package executiontest

import (
	"context"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// sentences are statements about a store, each with its test.
type sentences map[string]func(t *testing.T, s execution.Store)

// Run checks that the stores returned by open, each empty, fulfil the port.
func Run(t *testing.T, open func(t *testing.T) execution.Store) {
	t.Helper()
	all := sentences{}
	for _, part := range []sentences{
		runSentences(), commitSentences(), leaseSentences(), gateSentences(),
		outcomeSentences(), lockSentences(), journalSentences(),
		{"what a run tells of itself is read from what is stored": figuresOfWhatIsStored},
	} {
		maps.Copy(all, part)
	}
	for name, test := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// day is the time of the suite's examples. It is in the past, so that nothing in them expires
// during a test.
func day() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC) }

func exampleRun(id string) execution.Run {
	return execution.Run{
		ID: id, SessionID: "session of " + id, Format: execution.Format, Owner: "one", State: contracts.RunRunning,
		Plan: contracts.Plan{
			PlanID: "plan", RunID: id, Goal: "compare <two> things", PlanHash: "hash",
			Nodes:             []contracts.Node{{NodeID: "n1", Kind: contracts.KindTool, Params: map[string]any{"size": 3.5, "id": 7.0}}},
			CapabilityDigests: map[string]string{"alpha.read": "digest"},
			Owner:             contracts.Principal{ID: "ana", Roles: []string{"operator"}},
		},
		CreatedAt: day(), UpdatedAt: day(),
	}
}

// create inserts a run that is leased for an hour and returns its lease.
func create(t *testing.T, s execution.Store, run execution.Run, first ...execution.Transition) execution.Lease {
	t.Helper()
	if err := s.CreateRun(t.Context(), run, time.Hour, one(first)); err != nil {
		t.Fatalf("create run %s: %v", run.ID, err)
	}
	return execution.Lease{RunID: run.ID, Owner: run.Owner, Epoch: 1}
}

func one(transitions []execution.Transition) execution.Transition {
	if len(transitions) == 0 {
		return execution.Transition{At: day()}
	}
	return transitions[0]
}

func commit(t *testing.T, s execution.Store, lease execution.Lease, tr execution.Transition) execution.Committed {
	t.Helper()
	tr.Lease = lease
	if tr.At.IsZero() {
		tr.At = day().Add(time.Minute)
	}
	done, err := s.Commit(t.Context(), tr)
	if err != nil {
		t.Fatalf("commit on run %s: %v", lease.RunID, err)
	}
	return done
}

// refused checks that a transition is refused with a code.
func refused(t *testing.T, s execution.Store, lease execution.Lease, tr execution.Transition, code contracts.Code) {
	t.Helper()
	tr.Lease = lease
	_, err := s.Commit(t.Context(), tr)
	wantCode(t, err, code)
}

func load(t *testing.T, s execution.Store, runID string) execution.Snapshot {
	t.Helper()
	snapshot, err := s.LoadRun(t.Context(), runID)
	if err != nil {
		t.Fatalf("load run %s: %v", runID, err)
	}
	return snapshot
}

func wakeSeq(t *testing.T, s execution.Store, runID string) int64 {
	t.Helper()
	signals, err := s.ReadSignals(t.Context(), runID)
	if err != nil {
		t.Fatalf("read the signals of run %s: %v", runID, err)
	}
	return signals.WakeSeq
}

// park parks a run that has processed all of its wake-ups.
func park(t *testing.T, s execution.Store, lease execution.Lease, wakeAt time.Time) {
	t.Helper()
	done := commit(t, s, lease, execution.Transition{
		State: contracts.RunWaiting, Park: true, SeenWakeSeq: wakeSeq(t, s, lease.RunID), WakeAt: wakeAt,
	})
	if !done.Parked {
		t.Fatalf("run %s was not parked", lease.RunID)
	}
}

func finish(t *testing.T, s execution.Store, lease execution.Lease) {
	t.Helper()
	commit(t, s, lease, execution.Transition{State: contracts.RunCompleted, Finished: true})
}

func event(kind contracts.EventType, node string) contracts.Event {
	return contracts.Event{Type: kind, NodeID: node, At: day(), Payload: json.RawMessage(`{"a":1}`)}
}

// link appends n sealed entries to a chain.
func link(t *testing.T, runID string, seq int64, head string, n int) []contracts.LedgerEntry {
	t.Helper()
	var entries []contracts.LedgerEntry
	for range n {
		seq++
		e := contracts.LedgerEntry{Seq: seq, At: day(), RunID: runID, Kind: contracts.LedgerIntent, Actor: "ana"}
		if err := e.Seal(head); err != nil {
			t.Fatal(err)
		}
		head = e.Hash
		entries = append(entries, e)
	}
	return entries
}

func wantCode(t *testing.T, err error, want contracts.Code) {
	t.Helper()
	if got := contracts.CodeOf(err); got != want {
		t.Errorf("got error %v with code %q, want code %q", err, got, want)
	}
}

// same compares values; nil and empty are equal.
func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// detached returns a context for goroutines of a test, which must wait for them.
func detached(t *testing.T) context.Context { return context.WithoutCancel(t.Context()) }
