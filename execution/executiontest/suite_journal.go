package executiontest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

func journalSentences() sentences {
	return sentences{
		"content is stored once by its hash and found with or without prefix": contentByHash,
		"raw output is given until it expires":                                rawOutputExpires,
		"a sweep deletes ended runs with all of their rows":                   sweepDeletesEnded,
		"a sweep keeps runs that are open, and those that ended later":        sweepKeepsOpen,
		"a sweep keeps ledger entries, ends them, and deletes their payloads": sweepKeepsLedger,
		"content that an open run names is never collected":                   namedContentStays,
		"events go on with the next number after a sweep":                     numbersGoOn,
		"a refused commit does not harm the others that go with it":           refusalHarmsOnlyItself,
		"a key that a swept run held is free":                                 sweepFreesLocks,
	}
}

// hashOf returns a well-formed hash.
func hashOf(digit string) string { return strings.Repeat(digit, 64) }

func blob(digit string) execution.Blob {
	return execution.Blob{SHA256: hashOf(digit), Kind: "artifact", Body: []byte("content " + digit)}
}

func contentByHash(t *testing.T, s execution.Store) {
	create(t, s, exampleRun("r1"), execution.Transition{Blobs: []execution.Blob{blob("a")}})
	again := blob("a")
	again.Body = []byte("not stored again")
	create(t, s, exampleRun("r2"), execution.Transition{Blobs: []execution.Blob{again}})
	for _, name := range []string{hashOf("a"), "sha256:" + hashOf("a")} {
		body, err := s.Blob(t.Context(), name)
		if err != nil || string(body) != "content a" {
			t.Errorf("%s: got %q, %v", name, body, err)
		}
	}
	_, err := s.Blob(t.Context(), hashOf("b"))
	wantCode(t, err, contracts.CodeNotFound)
}

func rawOutputExpires(t *testing.T, s execution.Store) {
	lease := create(t, s, exampleRun("r1"))
	later, gone := time.Now().Add(time.Hour), time.Now().Add(-time.Second)
	commit(t, s, lease, execution.Transition{Data: []execution.NodeData{
		{NodeID: "n1", Body: []byte("first"), ExpiresAt: later}, {NodeID: "n2", Body: []byte("old"), ExpiresAt: gone},
	}})
	commit(t, s, lease, execution.Transition{Data: []execution.NodeData{{NodeID: "n1", Body: []byte("second"), ExpiresAt: later}}})
	body, err := s.NodeData(t.Context(), "r1", "n1")
	if err != nil || string(body) != "second" {
		t.Errorf("got %q, %v; want the last output", body, err)
	}
	_, err = s.NodeData(t.Context(), "r1", "n2")
	wantCode(t, err, contracts.CodeNotFound)
	swept, err := s.Sweep(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "swept", execution.Swept{Data: 1}, swept)
	if _, err := s.Sweep(t.Context(), time.Time{}); err != nil { // it deletes nothing, and records nothing
		t.Fatal(err)
	}
	WantTaken(t, s, "raw data")
	if _, err = s.NodeData(t.Context(), "r1", "n1"); err != nil {
		t.Errorf("output was swept before its time: %v", err)
	}
}

// WantTaken checks the recorded deletions by retention, one for each kind of rows.
func WantTaken(t *testing.T, s execution.Store, what ...string) {
	t.Helper()
	acts, err := s.Ledger(t.Context(), execution.AdminChain, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var taken []string
	for _, act := range acts {
		if act.Kind != contracts.ActSwept {
			continue
		}
		taken = append(taken, act.NodeID)
		if payload, err := s.Payload(t.Context(), act); act.Actor != "system" || err != nil || !strings.Contains(string(payload), `{"count":`) {
			t.Errorf("it says %+v with %q, %v", act, payload, err)
		}
	}
	same(t, "what was taken, by the acts", what, taken)
}

// ended inserts a finished run with rows of every kind.
func ended(t *testing.T, s execution.Store, id string, at time.Time, blobs ...execution.Blob) {
	t.Helper()
	g := gate("gate of "+id, "")
	g.RunID, g.SessionID = id, "session of "+id
	create(t, s, exampleRun(id), execution.Transition{
		At: at, Nodes: []execution.NodeRecord{{NodeID: "n1", State: contracts.NodeCompleted}}, Gates: []contracts.Interrupt{g},
		Intents: []execution.Intent{intent(id, "n1", 1)}, Events: []contracts.Event{event(contracts.EventDone, "")}, Blobs: blobs,
		Data:   []execution.NodeData{{NodeID: "n1", Body: []byte("raw"), ExpiresAt: time.Now().Add(time.Hour)}},
		Ledger: link(t, id, 0, "", 2), Payloads: [][]byte{[]byte("the plan of " + id), nil}, State: contracts.RunCompleted, Finished: true,
	})
}

func sweep(t *testing.T, s execution.Store, before time.Time, want execution.Swept) {
	t.Helper()
	swept, err := s.Sweep(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "swept", want, swept)
}

func sweepDeletesEnded(t *testing.T, s execution.Store) {
	ended(t, s, "r1", day(), blob("a"), blob("b"))
	sweep(t, s, day().Add(time.Hour), execution.Swept{Runs: 1, Blobs: 2})
	ctx := t.Context()
	_, err := s.LoadRun(ctx, "r1")
	wantCode(t, err, contracts.CodeNotFound)
	_, err = execution.GetInterrupt(ctx, s, "gate of r1")
	wantCode(t, err, contracts.CodeNotFound)
	wantCode(t, s.RecordOperation(ctx, intent("r1", "n1", 1).Nonce, "op"), contracts.CodeNotFound)
	_, err = s.NodeData(ctx, "r1", "n1")
	wantCode(t, err, contracts.CodeNotFound)
	_, err = s.Blob(ctx, hashOf("a"))
	wantCode(t, err, contracts.CodeNotFound)
	same(t, "events", []contracts.Event{}, events(t, s, "session of r1"))
	runs, err := s.ListRuns(ctx, execution.RunFilter{})
	if err != nil || len(runs.Items) != 0 {
		t.Errorf("runs: got %+v, %v", runs, err)
	}
}

func sweepKeepsOpen(t *testing.T, s execution.Store) {
	create(t, s, exampleRun("open"), execution.Transition{At: day(), Nodes: []execution.NodeRecord{{NodeID: "n1"}}, Blobs: []execution.Blob{blob("a")}})
	park(t, s, create(t, s, exampleRun("parked")), time.Time{})
	ended(t, s, "later", day().Add(time.Hour))
	sweep(t, s, day().Add(time.Hour), execution.Swept{})
	for _, id := range []string{"open", "parked", "later"} {
		load(t, s, id)
	}
	if _, err := s.Blob(t.Context(), hashOf("a")); err != nil {
		t.Error(err)
	}
}

func sweepKeepsLedger(t *testing.T, s execution.Store) {
	ended(t, s, "r1", day())
	before, err := s.Ledger(t.Context(), "r1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if payload, err := s.Payload(t.Context(), before[0]); err != nil || string(payload) != "the plan of r1" {
		t.Errorf("the payload of the first entry is %q, %v", payload, err)
	}
	_, err = s.Payload(t.Context(), before[1])
	wantCode(t, err, contracts.CodeNotFound)
	sweep(t, s, day().Add(time.Hour), execution.Swept{Runs: 1})
	after, err := s.Ledger(t.Context(), "r1", 0, 0)
	if err != nil || len(after) != 3 {
		t.Fatalf("got %+v, %v; want both entries and a tombstone", after, err)
	}
	same(t, "ledger", before, after[:2])
	if last := after[2]; last.Kind != contracts.LedgerDeleted || last.Key != execution.GoneByRetention || last.Actor != "system" {
		t.Errorf("the tombstone is %+v", last)
	}
	if err := execution.VerifyChain(after); err != nil {
		t.Errorf("the chain: %v", err)
	}
	rest, err := s.Ledger(t.Context(), "r1", before[0].Seq, 1)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the entry after the first", before[1:], rest)
	_, err = s.Payload(t.Context(), before[0])
	wantCode(t, err, contracts.CodeNotFound)
}

func namedContentStays(t *testing.T, s execution.Store) {
	ref := func(digit string) map[string]any {
		return map[string]any{"file": map[string]any{"$artifact": "sha256:" + hashOf(digit)}}
	}
	ended(t, s, "r1", day(), blob("a"), blob("b"), blob("c"), blob("d"), blob("e"))
	planned := exampleRun("r2")
	planned.Plan.Nodes[0].Params = ref("a")
	announced := intent("r2", "n1", 1)
	announced.Parameters = []byte(`{"file":{"$artifact":"sha256:` + hashOf("b") + `"}}`)
	lease := create(t, s, planned, execution.Transition{Intents: []execution.Intent{announced}})
	commit(t, s, lease, execution.Transition{Nodes: []execution.NodeRecord{
		{NodeID: "n1", CallRow: execution.CallRow{Params: ref("c")}, Result: &execution.Result{Artifacts: contracts.ArtifactRefs{"out": "sha256:" + hashOf("d")}}},
	}})
	sweep(t, s, day().Add(time.Hour), execution.Swept{Runs: 1, Blobs: 1})
	for _, digit := range []string{"a", "b", "c", "d"} {
		if _, err := s.Blob(t.Context(), hashOf(digit)); err != nil {
			t.Errorf("content %s is named by an open run: %v", digit, err)
		}
	}
	_, err := s.Blob(t.Context(), hashOf("e"))
	wantCode(t, err, contracts.CodeNotFound)
}

func numbersGoOn(t *testing.T, s execution.Store) {
	ended(t, s, "r1", day())
	sweep(t, s, day().Add(time.Hour), execution.Swept{Runs: 1})
	next := exampleRun("r2")
	next.SessionID = "session of r1"
	create(t, s, next, execution.Transition{Events: []contracts.Event{event(contracts.EventNodeStart, "n1")}})
	if got := events(t, s, "session of r1"); len(got) != 1 || got[0].Seq != 2 {
		t.Errorf("got %+v; want one event with number 2", got)
	}
}

// refusalHarmsOnlyItself commits good and bad transitions concurrently, so that a store with group
// commit has them in one batch.
func refusalHarmsOnlyItself(t *testing.T, s execution.Store) {
	const runs, rounds = 20, 5
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range runs {
		lease := create(t, s, exampleRun(fmt.Sprintf("r%d", i)))
		bad := i%2 == 1
		if bad {
			lease.Epoch++
		}
		wg.Go(func() {
			<-start
			for n := range rounds {
				_, err := s.Commit(detached(t), execution.Transition{Lease: lease, Nodes: []execution.NodeRecord{{NodeID: fmt.Sprintf("n%d", n)}}})
				if got := contracts.CodeOf(err); (got == contracts.CodeLeaseLost) != bad || !bad && err != nil {
					t.Errorf("commit of %s: %v", lease.RunID, err)
				}
			}
		})
	}
	close(start)
	wg.Wait()
	for i := range runs {
		want := rounds * (1 - i%2)
		if got := len(load(t, s, fmt.Sprintf("r%d", i)).Nodes); got != want {
			t.Errorf("run r%d has %d nodes, want %d", i, got, want)
		}
	}
}

func sweepFreesLocks(t *testing.T, s execution.Store) {
	a, b, _ := three(t, s)
	mustTake(t, s, a, "n1", "k1")
	mustWait(t, s, b, "n1", "k1")
	park(t, s, b, time.Time{})
	finish(t, s, a)
	sweep(t, s, day().Add(time.Hour), execution.Swept{Runs: 1})
	same(t, "due runs", []string{"b"}, due(t, s))
	mustTake(t, s, acquire(t, s, "b", "one", time.Hour), "n1", "k1")
}
