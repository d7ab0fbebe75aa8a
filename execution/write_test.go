package execution_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// faulty answers the first calls of a write with the given replies, after or before applying it;
// every later call is applied and answered.
func (w *world) faulty(applyFirst bool, replies ...execution.Reply) func(context.Context, execution.Call) execution.Reply {
	var n atomic.Int64
	return func(_ context.Context, c execution.Call) execution.Reply {
		i := int(n.Add(1)) - 1
		if i >= len(replies) {
			return w.apply(c)
		}
		if applyFirst {
			w.apply(c)
		}
		return replies[i]
	}
}

var (
	broken  = execution.Reply{Kind: execution.ReplyBroken, Message: "connection reset"}
	notSent = execution.Reply{Kind: execution.ReplyNotSent, Message: "connection refused"}
	busy    = execution.Reply{Kind: execution.ReplyBusy, RetryAfter: time.Millisecond}
)

func refusal(retryable bool, effect contracts.Effect) execution.Reply {
	return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{
		Error: &contracts.ToolError{Type: contracts.ErrUpstream, Message: "no", Retryable: retryable, Effect: effect},
	}}
}

func unkeyed() contracts.Metadata {
	m := keyedWrite()
	m.Idempotency = contracts.IdempotencyNone
	return m
}

func TestWriteIsDoneExactlyOnceOrSurfaced(t *testing.T) {
	t.Parallel()
	completed, unknown, failed := contracts.NodeCompleted, contracts.NodeOutcomeUnknown, contracts.NodeFailed
	cases := map[string]struct {
		meta       contracts.Metadata
		applyFirst bool
		replies    []execution.Reply
		want       contracts.NodeState
		effects    int
	}{
		"a keyed write whose answer was lost is sent again":           {keyedWrite(), true, []execution.Reply{broken}, completed, 1},
		"a keyed write that was lost before it arrived is sent again": {keyedWrite(), false, []execution.Reply{broken, notSent}, completed, 1},
		"an unkeyed write whose answer was lost is never sent again":  {unkeyed(), true, []execution.Reply{broken}, unknown, 1},
		"an unkeyed write that may be lost is never sent again":       {unkeyed(), false, []execution.Reply{broken}, unknown, 0},
		"an unkeyed write that was not sent is sent again":            {unkeyed(), false, []execution.Reply{notSent, notSent}, completed, 1},
		"an unkeyed write after 429 is sent again":                    {unkeyed(), false, []execution.Reply{busy, busy, busy}, completed, 1},
		"a refusal without effect that is retryable is sent again":    {unkeyed(), false, []execution.Reply{refusal(true, contracts.EffectNone)}, completed, 1},
		"a refusal without effect that is final fails":                {unkeyed(), false, []execution.Reply{refusal(false, contracts.EffectNone)}, failed, 0},
		"a failure that says nothing of its effect is unknown":        {unkeyed(), true, []execution.Reply{refusal(false, "")}, unknown, 1},
		"a 400 fails": {keyedWrite(), false, []execution.Reply{{Kind: execution.ReplyInvalid, Message: "bad"}}, failed, 0},
		"a 409 fails": {keyedWrite(), false, []execution.Reply{{Kind: execution.ReplyConflict, Message: "other parameters"}}, failed, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.declare("order", c.meta, w.faulty(c.applyFirst, c.replies...))
				r := w.runner()
				id := w.submit(r, w.node("n1", "order", map[string]any{"item": "a"}))
				w.decide(r, w.gates(r, id, 1)["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
				v := w.until(r, id, string(c.want), func(v contracts.RunView) bool { return states(v)["n1"] == c.want })
				total := 0
				for _, n := range w.applied() {
					total += n
				}
				if total != c.effects {
					t.Errorf("the domain did it %d times, want %d (error %+v)", total, c.effects, v.Nodes[0].Error)
				}
			})
		})
	}
}

func TestKeyedWriteThatNeverAnswersBecomesUnknownNotFailed(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), func(_ context.Context, c execution.Call) execution.Reply {
			w.apply(c)
			return broken
		})
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		w.decide(r, w.gates(r, id, 1)["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
		w.until(r, id, "unknown", func(v contracts.RunView) bool {
			return states(v)["n1"] == contracts.NodeOutcomeUnknown
		})
		calls := w.callsOf("order")
		if len(calls) != contracts.RepeatableAttempts {
			t.Fatalf("sent %d times, want %d attempts", len(calls), contracts.RepeatableAttempts)
		}
		for _, c := range calls {
			if c.Context.IdempotencyKey != calls[0].Context.IdempotencyKey || !c.SendKey {
				t.Errorf("attempt %d carried key %q (header %v)", c.Context.Attempt, c.Context.IdempotencyKey, c.SendKey)
			}
		}
	})
}

func TestReconcileDecidesAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		applied bool
		lookup  any
		want    contracts.NodeState
		effects int
		resent  bool
	}{
		"a yes completes the write":                {applied: true, lookup: true, want: contracts.NodeCompleted, effects: 1},
		"a no that is believed sends it once more": {applied: false, lookup: false, want: contracts.NodeCompleted, effects: 1},
		"no answer asks a person":                  {applied: true, lookup: nil, want: contracts.NodeOutcomeUnknown, effects: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				meta := unkeyed()
				meta.Reconcile = &contracts.CapabilityCall{Capability: "find", ParamMap: map[string]any{"key": "${context.idempotency_key}"}}
				w.declare("order", meta, w.faulty(c.applied, broken))
				w.read("find", func(_ context.Context, call execution.Call) execution.Reply {
					return facts(map[string]any{"applied": c.lookup, "asked": call.Parameters["key"]})
				})
				r := w.runner()
				id := w.submit(r, w.node("n1", "order", map[string]any{"item": "a"}))
				w.decide(r, w.gates(r, id, 1)["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
				w.until(r, id, string(c.want), func(v contracts.RunView) bool {
					return states(v)["n1"] == c.want
				})
				if got := w.callsOf("find")[0].Parameters["key"]; got != id+"/n1/1" {
					t.Errorf("looked up key %v", got)
				}
				total := 0
				for _, n := range w.applied() {
					total += n
				}
				if total != c.effects {
					t.Errorf("the domain did it %d times, want %d", total, c.effects)
				}
			})
		})
	}
}

func TestAPersonSettlesAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	t.Run("as applied: nothing is sent again", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			w.declare("order", unkeyed(), w.faulty(true, broken))
			r := w.runner()
			id := w.submit(r, w.node("n1", "order", nil))
			w.decide(r, w.gates(r, id, 1)["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
			w.until(r, id, "unknown", func(v contracts.RunView) bool { return states(v)["n1"] == contracts.NodeOutcomeUnknown })
			w.decide(r, w.gates(r, id, 1)["n1"], contracts.Resume{Response: contracts.AnswerApplied})
			if v := w.ended(r, id); v.State != contracts.RunCompleted || len(w.callsOf("order")) != 1 {
				t.Errorf("state %s after %d calls", v.State, len(w.callsOf("order")))
			}
		})
	})
	t.Run("as not applied: it is asked anew and gets another key", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			w.declare("order", unkeyed(), w.faulty(false, broken))
			r := w.runner()
			id := w.submit(r, w.node("n1", "order", nil))
			w.decide(r, w.gates(r, id, 1)["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
			w.until(r, id, "unknown", func(v contracts.RunView) bool { return states(v)["n1"] == contracts.NodeOutcomeUnknown })
			w.decide(r, w.gates(r, id, 1)["n1"], contracts.Resume{Response: contracts.AnswerNotApplied})
			w.until(r, id, "gated again", func(v contracts.RunView) bool { return states(v)["n1"] == contracts.NodeAwaitingApproval })
			w.decide(r, w.gates(r, id, 1)["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
			if v := w.ended(r, id); v.State != contracts.RunCompleted {
				t.Fatalf("state %s", v.State)
			}
			calls := w.callsOf("order")
			if got := calls[len(calls)-1].Context.IdempotencyKey; got != id+"/n1/2" {
				t.Errorf("sent with key %s, want n to grow", got)
			}
		})
	})
}

func TestVerifyReadsAWriteBack(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		seen any
		want contracts.VerdictStatus
	}{
		"what is read back as asked verifies the run":  {"a", contracts.VerdictVerified},
		"what is read back differently blocks the run": {"b", contracts.VerdictBlocked},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				meta := keyedWrite()
				meta.Verify = &contracts.VerifyRule{
					Capability: "find", ParamMap: map[string]any{"id": "${result.facts.id}"},
					Assertions: []contracts.Condition{{Path: "facts.item", Equals: new(any("${params.item}"))}},
				}
				w.declare("order", meta, w.applying)
				w.read("find", answering(map[string]any{"item": c.seen}))
				r := w.runner()
				id := w.submit(r, w.node("n1", "order", map[string]any{"item": "a"}))
				w.decide(r, w.gates(r, id, 1)["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
				if v := w.ended(r, id); v.Verdict.Status != c.want {
					t.Errorf("verdict %+v, want %s", v.Verdict, c.want)
				}
				if got := w.callsOf("find")[0].Parameters["id"]; got != id+"/n1/1" {
					t.Errorf("read back %v", got)
				}
			})
		})
	}
}

func TestLocksKeepWritesOfOtherRunsApart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		meta := keyedWrite()
		meta.Locks = []string{"item:{item}"}
		first, finish := make(chan struct{}, 8), make(chan struct{})
		var under, most atomic.Int64
		w.declare("order", meta, func(_ context.Context, c execution.Call) execution.Reply {
			most.Store(max(most.Load(), under.Add(1)))
			defer under.Add(-1)
			first <- struct{}{}
			<-finish
			return w.apply(c)
		})
		r := w.runner()
		one := w.submit(r, w.node("n1", "order", map[string]any{"item": "a"}))
		two := w.submit(r, w.node("n1", "order", map[string]any{"item": "a"}))
		w.decide(r, w.gates(r, one, 1)["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
		<-first
		w.decide(r, w.gates(r, two, 1)["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
		v := w.until(r, two, "queued for the lock", func(v contracts.RunView) bool { return states(v)["n1"] == contracts.NodeQueued })
		if want := "lock item:a, held by " + one + " n1"; v.Nodes[0].QueuedFor != want {
			t.Errorf("queued for %q, want %q", v.Nodes[0].QueuedFor, want)
		}
		close(finish)
		w.ended(r, one)
		w.ended(r, two)
		if most.Load() != 1 {
			t.Errorf("%d writes ran under one lock", most.Load())
		}
		if left, err := w.store.Locks(t.Context(), contracts.Page{}); err != nil || len(left.Items) != 0 {
			t.Errorf("locks left: %v, %v", left, err)
		}
	})
}

func TestOneWriteAtATimeInARun(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var under, most atomic.Int64
		w.declare("order", keyedWrite(), func(_ context.Context, c execution.Call) execution.Reply {
			most.Store(max(most.Load(), under.Add(1)))
			defer under.Add(-1)
			time.Sleep(time.Millisecond) // bubble time
			return w.apply(c)
		})
		r := w.runner()
		var nodes []contracts.Node
		for _, id := range []string{"n1", "n2", "n3", "n4", "n5"} {
			nodes = append(nodes, w.node(id, "order", map[string]any{"item": id}))
		}
		id := w.submit(r, nodes...)
		for _, g := range w.gates(r, id, len(nodes)) {
			w.decide(r, g, contracts.Resume{Decision: contracts.DecisionApprove})
		}
		v := w.ended(r, id)
		if v.State != contracts.RunCompleted || most.Load() != 1 || len(w.applied()) != 5 {
			t.Errorf("state %s, %d at once, effects %v", v.State, most.Load(), w.applied())
		}
	})
}

func TestLedgerExplainsTheRun(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		w.read("stock", answering(map[string]any{"n": 1}))
		r := w.runner()
		id := w.submit(r, w.node("n1", "stock", nil), w.node("n2", "order", nil, "n1"), w.node("n3", "stock", nil, "n2"))
		w.decide(r, w.gates(r, id, 1)["n2"], contracts.Resume{Decision: contracts.DecisionReject})
		w.ended(r, id)
		entries, err := w.store.Ledger(t.Context(), id, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := execution.VerifyChain(entries); err != nil {
			t.Error(err)
		}
		entries[1].Actor = "mallory"
		if execution.VerifyChain(entries) == nil {
			t.Error("a changed entry was not noticed")
		}
		replayed, err := r.Replay(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(execution.Replayed{RunID: id, Entries: len(entries), State: contracts.RunRejected}, replayed); diff != "" {
			t.Errorf("replay (-want +got):\n%s", diff)
		}
	})
}

// TestAWriteThatNothingReadsBackIsNotVerified checks this whether its manifest requires a verifier
// or not.
func TestAWriteThatNothingReadsBackIsNotVerified(t *testing.T) {
	t.Parallel()
	for name, required := range map[string]bool{"a verifier is asked for": true, "none is asked for": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				meta := keyedWrite()
				meta.SideEffectClass, meta.VerifierRequired, meta.ApprovalRequired = contracts.ClassWriteReversible, &required, new(false)
				meta.RiskLevel = contracts.RiskLow
				w.declare("order", meta, w.applying)
				r := w.runner()
				v := w.ended(r, w.submit(r, w.node("n1", "order", map[string]any{"item": "a"})))
				if v.State != contracts.RunCompleted || v.Verdict.Status != contracts.VerdictDegraded {
					t.Errorf("the run is %s, its verdict %+v", v.State, v.Verdict)
				}
			})
		})
	}
}
