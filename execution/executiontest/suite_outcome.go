package executiontest

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

func outcomeSentences() sentences {
	return sentences{
		"an intent comes back as it was committed":                          intentComesBack,
		"no intent is committed once the run is to be cancelled":            noIntentAfterCancel,
		"an intent of the same node and number, key or nonce is refused":    intentOnce,
		"the first outcome of a nonce is kept and wakes the run":            firstOutcome,
		"of many outcomes of a nonce exactly one is kept":                   oneOutcome,
		"an outcome is recorded whatever became of the lease":               outcomeWithoutLease,
		"an outcome is consumed once, by its own run":                       consumedOnce,
		"a consumed intent is no signal any more, but stays in the run":     consumedIsNoSignal,
		"the operation of accepted work is kept":                            operationIsKept,
		"an unknown nonce is not found":                                     unknownNonce,
		"a cancel and an intent that race never both go through unnoticed":  cancelRacesIntent,
		"a refused intent leaves the rest of its transition undone as well": refusedIntentUndoesAll,
	}
}

func intent(run, node string, n int) execution.Intent {
	key := fmt.Sprintf("%s/%s/%d", run, node, n)
	return execution.Intent{
		RunID: run, NodeID: node, N: n, Key: key, ActionSHA256: "hash", Nonce: "nonce of " + key, Capability: "alpha.change", Digest: "digest",
		Instance: "test", Parameters: json.RawMessage(`{"to":"blue"}`), Principal: contracts.Principal{ID: "ana", OnBehalfOf: "eve"},
		Phase: "apply", Deadline: day().Add(time.Minute), CreatedAt: day(),
	}
}

func outcome(summary string) execution.Outcome {
	return execution.Outcome{Kind: execution.ReplyResult, At: day(), Result: &contracts.ToolResult{
		OK: true, Summary: summary, Facts: map[string]any{"n": 1.0}, Data: contracts.NewOpaque(json.RawMessage(`{"raw":true}`)),
		Artifacts: map[string]json.RawMessage{"all": json.RawMessage(`[1]`)},
	}}
}

// announced returns a run with committed intents of node n1.
func announced(t *testing.T, s execution.Store, intents ...execution.Intent) execution.Lease {
	t.Helper()
	return create(t, s, exampleRun("r1"), execution.Transition{At: day(), Intents: intents})
}

func record(t *testing.T, s execution.Store, nonce string, o execution.Outcome) bool {
	t.Helper()
	first, err := s.RecordOutcome(t.Context(), nonce, o)
	if err != nil {
		t.Fatalf("record an outcome: %v", err)
	}
	return first
}

func intentComesBack(t *testing.T, s execution.Store) {
	want := []execution.Intent{intent("r1", "n1", 1), intent("r1", "n1", 2), intent("r1", "n2", 1)}
	lease := announced(t, s, want[0])
	commit(t, s, lease, execution.Transition{Intents: want[1:]})
	same(t, "intents", want, load(t, s, "r1").Intents)
	signals, err := s.ReadSignals(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "intents as signals", want, signals.Intents)
}

func noIntentAfterCancel(t *testing.T, s execution.Store) {
	lease := announced(t, s, intent("r1", "n1", 1))
	if err := s.RequestCancel(t.Context(), "r1", "ana"); err != nil {
		t.Fatal(err)
	}
	refused(t, s, lease, execution.Transition{Intents: []execution.Intent{intent("r1", "n2", 1)}}, contracts.CodeConflict)
	commit(t, s, lease, execution.Transition{State: contracts.RunCancelling})
}

func intentOnce(t *testing.T, s execution.Store) {
	lease := announced(t, s, intent("r1", "n1", 1))
	sameKey, sameNonce := intent("r1", "n2", 1), intent("r1", "n3", 1)
	sameKey.Key = intent("r1", "n1", 1).Key
	sameNonce.Nonce = intent("r1", "n1", 1).Nonce
	samePlace := intent("r1", "n1", 1)
	samePlace.Key, samePlace.Nonce = "other key", "other nonce"
	for name, in := range map[string]execution.Intent{"key": sameKey, "nonce": sameNonce, "node and number": samePlace} {
		_, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Intents: []execution.Intent{in}})
		if contracts.CodeOf(err) != contracts.CodeConflict {
			t.Errorf("the same %s: got %v, want conflict", name, err)
		}
	}
	if got := len(load(t, s, "r1").Intents); got != 1 {
		t.Errorf("the run has %d intents", got)
	}
}

func firstOutcome(t *testing.T, s execution.Store) {
	in := intent("r1", "n1", 1)
	announced(t, s, in)
	if !record(t, s, in.Nonce, outcome("first")) {
		t.Error("the first outcome was dropped")
	}
	if record(t, s, in.Nonce, outcome("second")) {
		t.Error("the second outcome was kept")
	}
	signals, err := s.ReadSignals(t.Context(), "r1")
	if err != nil || len(signals.Intents) != 1 {
		t.Fatalf("got %+v, %v", signals, err)
	}
	same(t, "outcome", outcome("first").Result.Summary, signals.Intents[0].Outcome.Result.Summary)
	same(t, "raw output", `{"raw":true}`, string(signals.Intents[0].Outcome.Result.Data.Reveal()))
	same(t, "artifacts", outcome("").Result.Artifacts, signals.Intents[0].Outcome.Result.Artifacts)
	if signals.WakeSeq != 1 {
		t.Errorf("the run was woken %d times, want once", signals.WakeSeq)
	}
}

func oneOutcome(t *testing.T, s execution.Store) {
	in := intent("r1", "n1", 1)
	announced(t, s, in)
	var kept atomic.Int32
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			first, err := s.RecordOutcome(detached(t), in.Nonce, outcome(fmt.Sprint(i)))
			if err != nil {
				t.Errorf("record: %v", err)
			}
			if first {
				kept.Add(1)
			}
		})
	}
	wg.Wait()
	if kept.Load() != 1 || wakeSeq(t, s, "r1") != 1 {
		t.Errorf("%d outcomes were kept, the run was woken %d times; want 1 and 1", kept.Load(), wakeSeq(t, s, "r1"))
	}
}

func outcomeWithoutLease(t *testing.T, s execution.Store) {
	run, in := exampleRun("r1"), intent("r1", "n1", 1)
	if err := s.CreateRun(t.Context(), run, over, execution.Transition{Intents: []execution.Intent{in}}); err != nil {
		t.Fatal(err)
	}
	acquire(t, s, "r1", "two", time.Hour)
	if !record(t, s, in.Nonce, outcome("late")) {
		t.Error("the outcome was dropped")
	}
}

func consumedOnce(t *testing.T, s execution.Store) {
	in := intent("r1", "n1", 1)
	lease := announced(t, s, in)
	other := create(t, s, exampleRun("r2"))
	record(t, s, in.Nonce, outcome("done"))
	refused(t, s, other, execution.Transition{Consume: []string{in.Nonce}}, contracts.CodeConflict)
	refused(t, s, lease, execution.Transition{Consume: []string{"no such nonce"}}, contracts.CodeConflict)
	refused(t, s, lease, execution.Transition{Consume: []string{in.Nonce, in.Nonce}}, contracts.CodeConflict)
	commit(t, s, lease, execution.Transition{Consume: []string{in.Nonce}})
	refused(t, s, lease, execution.Transition{Consume: []string{in.Nonce}}, contracts.CodeConflict)
}

func consumedIsNoSignal(t *testing.T, s execution.Store) {
	in := intent("r1", "n1", 1)
	lease := announced(t, s, in, intent("r1", "n2", 1))
	record(t, s, in.Nonce, outcome("done"))
	commit(t, s, lease, execution.Transition{Consume: []string{in.Nonce}})
	signals, err := s.ReadSignals(t.Context(), "r1")
	if err != nil || len(signals.Intents) != 1 || signals.Intents[0].NodeID != "n2" {
		t.Errorf("signals: got %+v, %v; want n2 only", signals.Intents, err)
	}
	if got := load(t, s, "r1").Intents; len(got) != 2 || !got[0].Consumed || got[0].Outcome == nil || got[1].Consumed {
		t.Errorf("intents of the run: %+v", got)
	}
}

func operationIsKept(t *testing.T, s execution.Store) {
	in := intent("r1", "n1", 1)
	announced(t, s, in)
	if err := s.RecordOperation(t.Context(), in.Nonce, "op-7"); err != nil {
		t.Fatal(err)
	}
	if got := load(t, s, "r1").Intents[0].Operation; got != "op-7" {
		t.Errorf("the operation is %q", got)
	}
}

func unknownNonce(t *testing.T, s execution.Store) {
	_, err := s.RecordOutcome(t.Context(), "nothing", outcome("x"))
	wantCode(t, err, contracts.CodeNotFound)
	wantCode(t, s.RecordOperation(t.Context(), "nothing", "op"), contracts.CodeNotFound)
}

// cancelRacesIntent checks that an intent that was committed is older than the cancel request,
// whichever is first.
func cancelRacesIntent(t *testing.T, s execution.Store) {
	lease := create(t, s, exampleRun("r1"))
	var accepted atomic.Int32
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			_, err := s.Commit(detached(t), execution.Transition{Lease: lease, Intents: []execution.Intent{intent("r1", "n1", n+1)}})
			if err == nil {
				accepted.Add(1)
			} else if contracts.CodeOf(err) != contracts.CodeConflict {
				t.Errorf("commit: %v", err)
			}
		})
	}
	wg.Go(func() {
		if err := s.RequestCancel(detached(t), "r1", "ana"); err != nil {
			t.Errorf("cancel: %v", err)
		}
	})
	wg.Wait()
	if got := len(load(t, s, "r1").Intents); got != int(accepted.Load()) {
		t.Errorf("%d intents were accepted, %d are stored", accepted.Load(), got)
	}
	refused(t, s, lease, execution.Transition{Intents: []execution.Intent{intent("r1", "n2", 1)}}, contracts.CodeConflict)
}

func refusedIntentUndoesAll(t *testing.T, s execution.Store) {
	lease := announced(t, s, intent("r1", "n1", 1))
	refused(t, s, lease, execution.Transition{
		Nodes:   []execution.NodeRecord{{NodeID: "n1", State: contracts.NodeRunning}},
		Intents: []execution.Intent{intent("r1", "n2", 1), intent("r1", "n1", 1)},
	}, contracts.CodeConflict)
	if got := load(t, s, "r1"); len(got.Nodes) != 0 || len(got.Intents) != 1 {
		t.Errorf("got %d nodes and %d intents", len(got.Nodes), len(got.Intents))
	}
}
