package execution_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/internal/sample"
)

// crashPlan has everything that can be lost: parallel reads, a join, two writes with gates that are
// read back, and a read after a write. Writes that cannot be repeated are looked up instead.
func (w *world) crashPlan(idempotency contracts.Idempotency) []contracts.Node {
	w.read("get", answering(map[string]any{"n": 1}))
	w.read("find", func(_ context.Context, c execution.Call) execution.Reply {
		key, _ := c.Parameters["key"].(string)
		return facts(map[string]any{"applied": w.applied()[key] > 0})
	})
	meta := keyedWrite()
	meta.Idempotency = idempotency
	byKey := map[string]any{"key": "${context.idempotency_key}"}
	meta.Reconcile = &contracts.CapabilityCall{Capability: "find", ParamMap: byKey}
	meta.Verify = &contracts.VerifyRule{
		Capability: "find", ParamMap: byKey, Assertions: []contracts.Condition{{Path: "facts.applied", Equals: new(any(true))}},
	}
	meta.Locks = []string{"item:{item}"}
	w.declare("order", meta, w.applying)
	return []contracts.Node{
		w.node("n1", "get", nil), w.node("n2", "get", nil), join("n3", "n1", "n2"),
		w.node("n4", "order", map[string]any{"item": "a"}, "n3"),
		w.node("n5", "order", map[string]any{"item": "b"}, "n3"),
		w.node("n6", "get", nil, "n4"),
	}
}

// drive approves every gate, as a person at a restarted server does, until the run has ended or the
// server is dead.
func (w *world) drive(ctx context.Context, r *execution.Runner, id string, dead <-chan struct{}) bool {
	return w.answers(ctx, r, id, dead, approval)
}

func approval(g contracts.Interrupt) contracts.Resume {
	return contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: g.ActionSHA256}
}

// answers decides every interrupt, until the run has ended or the server is dead.
func (w *world) answers(ctx context.Context, r *execution.Runner, id string, dead <-chan struct{}, resume func(contracts.Interrupt) contracts.Resume) bool {
	for {
		select {
		case <-dead:
			return false
		case <-time.After(50 * time.Millisecond):
		}
		s, err := w.store.LoadRun(ctx, id)
		if contracts.CodeOf(err) == contracts.CodeNotFound {
			return false
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if s.Run.State.Terminal() {
			return true
		}
		for _, g := range s.Gates {
			if g.Status != contracts.InterruptOpen {
				continue
			}
			short, cancel := context.WithTimeout(ctx, time.Second)
			_, err := r.Decide(short, g.InterruptID, resume(g), decision.Decider{ID: "bob", May: anybody})
			cancel()
			if err != nil && contracts.CodeOf(err) != contracts.CodeConflict && short.Err() == nil {
				select {
				case <-dead:
				default:
					w.t.Fatal(err)
				}
			}
		}
	}
}

func TestKilledBeforeAndAfterEveryWriteNothingIsLostOrDoneTwice(t *testing.T) { //nolint:tparallel // they share what the first has counted
	t.Parallel()
	for _, kind := range []contracts.Idempotency{contracts.IdempotencyKeyed, contracts.IdempotencyNone} {
		writes := 0
		t.Run(string(kind)+" unharmed", func(t *testing.T) {
			counted(t, kind, &writes)
		})
		if writes < 10 {
			t.Fatalf("only %d writes to the store", writes)
		}
		for n, at := range moments(t, writes) {
			t.Run(fmt.Sprintf("%s killed %s write %d", kind, at, n), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					t.Helper()
					w.survive(kind, n, at)
				})
			})
		}
	}
}

// moments returns the moments at which the server of a test is killed: a share of them, and all in
// nightly runs.
func moments(t *testing.T, writes int) iter.Seq2[int, executiontest.Moment] {
	t.Helper()
	tried := sample.Of(t, 2*writes, 4)
	return func(yield func(int, executiontest.Moment) bool) {
		for _, i := range tried {
			if !yield(1+i/2, []executiontest.Moment{executiontest.Before, executiontest.After}[i%2]) {
				return
			}
		}
	}
}

func counted(t *testing.T, kind contracts.Idempotency, writes *int) {
	t.Helper()
	bubbleNow(t, func(t *testing.T, w *world) {
		t.Helper()
		k := executiontest.KillAt(w.store, 0, executiontest.Before)
		nodes := w.crashPlan(kind)
		r := w.runnerOn(k)
		id := w.submit(r, nodes...)
		if !w.drive(t.Context(), r, id, k.Dead()) {
			t.Fatal("the run did not end")
		}
		*writes = k.Writes()
	})
}

// survive kills the first server at write n, starts a second one on the same store, and checks that
// the work is done, once.
func (w *world) survive(kind contracts.Idempotency, n int, at executiontest.Moment, options ...func(*execution.Config)) {
	w.t.Helper()
	ctx := w.t.Context()
	nodes := w.crashPlan(kind)
	k := executiontest.KillAt(w.store, n, at)
	first := w.runnerOn(k, options...)
	plan := w.plan(nodes...)
	plan.RunID = "run_crash"
	submitted := make(chan struct{})
	go func() {
		defer close(submitted)
		_, _ = first.Submit(ctx, "s1", plan)
	}()
	select {
	case <-submitted:
	case <-k.Dead():
	}
	done := w.drive(ctx, first, plan.RunID, k.Dead())
	k.Bury()
	second := w.runner(options...)
	if !done && !w.drive(ctx, second, plan.RunID, nil) {
		// The client got no response and asks again.
		if _, err := second.Submit(ctx, "s1", plan); err != nil {
			w.t.Fatal(err)
		}
		w.drive(ctx, second, plan.RunID, nil)
	}
	v := w.ended(second, plan.RunID)
	if v.State != contracts.RunCompleted || v.Verdict.Status != contracts.VerdictVerified {
		w.t.Errorf("state %s, verdict %+v", v.State, v.Verdict)
	}
	applied := w.applied()
	for _, node := range []string{"n4", "n5"} {
		if got := applied[plan.RunID+"/"+node+"/1"]; got != 1 {
			w.t.Errorf("%s was done %d times", node, got)
		}
	}
	if len(applied) != 2 {
		w.t.Errorf("effects %v", applied)
	}
	if replayed, err := second.Replay(ctx, plan.RunID); err != nil || len(replayed.Differences) > 0 {
		w.t.Errorf("replay %+v, %v", replayed, err)
	}
	if left, err := w.store.Locks(ctx, contracts.Page{}); err != nil || len(left.Items) > 0 {
		w.t.Errorf("locks left: %v, %v", left, err)
	}
	events, err := w.store.Events(ctx, "s1", 0, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			w.t.Fatalf("event %d has seq %d", i+1, e.Seq)
		}
	}
}

func TestGatesOutliveARestart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		first := w.runner()
		id := w.submit(first, w.node("n1", "order", nil), w.node("n2", "order", nil), w.node("n3", "order", nil))
		before := w.gates(first, id, 3)
		if err := first.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(72 * time.Hour) // bubble time
		second := w.runner()
		after := w.gates(second, id, 3)
		for node, g := range before {
			if after[node].Code != g.Code || after[node].ActionSHA256 != g.ActionSHA256 {
				t.Errorf("the gate of %s changed from %s to %s", node, g.Code, after[node].Code)
			}
		}
		w.decide(second, after["n2"], contracts.Resume{Decision: contracts.DecisionApprove})
		w.until(second, id, "n2 done", func(v contracts.RunView) bool { return states(v)["n2"] == contracts.NodeCompleted })
		w.decide(second, after["n1"], contracts.Resume{Decision: contracts.DecisionReject})
		w.decide(second, after["n3"], contracts.Resume{Decision: contracts.DecisionApprove})
		w.ended(second, id)
		if got := len(w.applied()); got != 2 {
			t.Errorf("%d effects, want 2", got)
		}
	})
}

func TestParkedRunHoldsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		w.gates(r, id, 1)
		w.until(r, id, "parked", func(contracts.RunView) bool { return r.Active() == 0 })
		s, err := w.store.LoadRun(t.Context(), id)
		if err != nil || s.Run.Owner != "" || !s.Run.Parked {
			t.Errorf("owner %q, parked %v, %v", s.Run.Owner, s.Run.Parked, err)
		}
	})
}

func TestStopLetsAWriteFinishAndGivesItsRunBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		began := make(chan struct{})
		w.declare("order", keyedWrite(), func(_ context.Context, c execution.Call) execution.Reply {
			close(began)
			time.Sleep(time.Second) // bubble time
			return w.apply(c)
		})
		w.read("get", answering(nil))
		first := w.runner()
		id := w.submit(first, w.node("n1", "order", nil), w.node("n2", "get", nil, "n1"))
		w.decide(first, w.gates(first, id, 1)["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
		<-began
		if err := first.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := first.Stop(t.Context()); err != nil {
			t.Errorf("second stop: %v", err)
		}
		s, err := w.store.LoadRun(t.Context(), id)
		if err != nil || s.Run.Owner != "" {
			t.Fatalf("owner %q after the stop, %v", s.Run.Owner, err)
		}
		second := w.runner()
		if v := w.ended(second, id); v.State != contracts.RunCompleted || len(w.callsOf("order")) != 1 {
			t.Errorf("state %s after %d writes", v.State, len(w.callsOf("order")))
		}
	})
}

func TestZombieTransitionsAreRefused(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("get", answering(nil))
		w.declare("order", keyedWrite(), w.applying)
		first := w.runner()
		id := w.submit(first, w.node("n1", "order", nil))
		w.gates(first, id, 1)
		lease, err := w.store.AcquireRun(t.Context(), id, "other", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		stale := lease
		stale.Epoch--
		_, err = w.store.Commit(t.Context(), execution.Transition{Lease: stale, At: time.Now()})
		if contracts.CodeOf(err) != contracts.CodeLeaseLost {
			t.Errorf("a commit of an old epoch: %v, want lease_lost", err)
		}
	})
}

func TestStartAndStopUnderLoad(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("get", func(context.Context, execution.Call) execution.Reply {
			time.Sleep(10 * time.Millisecond) // bubble time
			return facts(nil)
		})
		var ids []string
		for round := range 5 {
			r := w.runner(func(c *execution.Config) { c.Replica = fmt.Sprint("r", round) })
			for range 20 {
				ids = append(ids, w.submit(r, w.node("n1", "get", nil), w.node("n2", "get", nil, "n1")))
			}
			time.Sleep(15 * time.Millisecond) // bubble time
			if err := r.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		last := w.runner()
		for _, id := range ids {
			if v := w.ended(last, id); v.State != contracts.RunCompleted {
				t.Errorf("run %s: %s", id, v.State)
			}
		}
	})
}
