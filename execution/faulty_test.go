package execution_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// hooked is a store with injected errors; nil hooks change nothing.
type hooked struct {
	execution.Store

	commit func(context.Context, execution.Transition) (execution.Committed, error)
	renew  func() error
	load   func() error
	wake   func()
}

// Commit calls the hook.
func (h *hooked) Commit(ctx context.Context, t execution.Transition) (execution.Committed, error) {
	if h.commit != nil {
		return h.commit(ctx, t)
	}
	return h.Store.Commit(ctx, t)
}

// RenewLeases fails if the hook does.
func (h *hooked) RenewLeases(ctx context.Context, owner string, held []execution.Lease, ttl time.Duration) (map[string]int64, error) {
	if h.renew != nil {
		if err := h.renew(); err != nil {
			return nil, err
		}
	}
	return h.Store.RenewLeases(ctx, owner, held, ttl)
}

// LoadRun fails if the hook does.
func (h *hooked) LoadRun(ctx context.Context, id string) (execution.Snapshot, error) {
	if h.load != nil {
		if err := h.load(); err != nil {
			return execution.Snapshot{}, err
		}
	}
	return h.Store.LoadRun(ctx, id)
}

// NextWake calls the hook.
func (h *hooked) NextWake(ctx context.Context) (time.Time, error) {
	if h.wake != nil {
		h.wake()
	}
	return h.Store.NextWake(ctx)
}

func unavailable() error { return contracts.Errorf(contracts.CodeUnavailable, "the store is away") }

func approve() contracts.Resume { return contracts.Resume{Decision: contracts.DecisionApprove} }

func named(name string) func(*execution.Config) {
	return func(c *execution.Config) { c.Replica = name }
}

// frozen is a replica whose heartbeat stops when the flag is set.
func (w *world) frozen(flag *atomic.Bool, options ...func(*execution.Config)) *execution.Runner {
	return w.runnerOn(&hooked{Store: w.store, renew: func() error {
		if flag.Load() {
			return unavailable()
		}
		return nil
	}}, append(options, named("frozen"))...)
}

func TestPlacesOfALostRunAreGivenBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var flag atomic.Bool
		w.read("slow", func(ctx context.Context, _ execution.Call) execution.Reply {
			if flag.Load() {
				return facts(nil)
			}
			<-ctx.Done()
			return broken
		})
		first := w.frozen(&flag, func(c *execution.Config) { c.MaxCalls = 1 })
		lost := w.submit(first, w.node("n1", "slow", nil))
		time.Sleep(time.Second) // bubble time
		flag.Store(true)
		time.Sleep(15 * time.Second) // bubble time
		w.ended(w.runner(named("other")), lost)
		flag.Store(false)
		time.Sleep(15 * time.Second) // bubble time
		flag.Store(true)
		id := w.submit(first, w.node("n1", "slow", nil))
		if v := w.until(first, id, "ended soon", func(v contracts.RunView) bool {
			return v.State.Terminal() || time.Since(v.CreatedAt) > time.Minute
		}); !v.State.Terminal() {
			t.Errorf("the node is %s for %q", v.Nodes[0].State, v.Nodes[0].QueuedFor)
		}
	})
}

func TestAnApprovedWriteDoesNotWaitForTheGateOfAnother(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		started, goOn := make(chan struct{}, 2), make(chan struct{})
		w.declare("first", keyedWrite(), func(_ context.Context, c execution.Call) execution.Reply {
			started <- struct{}{}
			<-goOn
			return w.apply(c)
		})
		w.declare("changing", keyedWrite(), w.applying)
		w.declare("third", keyedWrite(), w.applying)
		r := w.runner()
		id := w.submit(r, w.node("n1", "first", nil), w.node("n2", "changing", nil), w.node("n3", "third", nil))
		open := w.gates(r, id, 3)
		w.decide(r, open["n1"], approve())
		<-started
		w.decide(r, open["n2"], approve())
		w.decide(r, open["n3"], approve())
		w.until(r, id, "queued", func(v contracts.RunView) bool {
			return states(v)["n2"] == contracts.NodeQueued && states(v)["n3"] == contracts.NodeQueued
		})
		m := keyedWrite()
		m.RiskLevel = contracts.RiskHigh
		w.declare("changing", m, w.applying)
		close(goOn)
		v := w.until(r, id, "n3 done", func(v contracts.RunView) bool {
			return states(v)["n3"].Terminal()
		})
		if time.Since(v.CreatedAt) > time.Minute || states(v)["n2"] != contracts.NodeAwaitingApproval {
			t.Errorf("states %v after %s", states(v), time.Since(v.CreatedAt))
		}
	})
}

func TestAWriteDoesNotWaitForTheLockOfAnother(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		meta := keyedWrite()
		meta.Locks = []string{"item:{item}"}
		started, goOn := make(chan struct{}, 2), make(chan struct{})
		w.declare("slow", keyedWrite(), func(_ context.Context, c execution.Call) execution.Reply {
			started <- struct{}{}
			<-goOn
			return w.apply(c)
		})
		w.declare("order", meta, w.applying)
		m := meta
		m.Idempotency = contracts.IdempotencyNone
		w.declare("losing", m, w.faulty(true, broken))
		r := w.runner()
		holder := w.submit(r, w.node("n1", "losing", map[string]any{"item": "a"}))
		w.decide(r, w.gates(r, holder, 1)["n1"], approve())
		w.until(r, holder, "unknown", func(v contracts.RunView) bool { return states(v)["n1"] == contracts.NodeOutcomeUnknown })
		id := w.submit(r, w.node("n1", "slow", nil), w.node("n2", "order", map[string]any{"item": "a"}), w.node("n3", "order", map[string]any{"item": "b"}))
		open := w.gates(r, id, 3)
		w.decide(r, open["n1"], approve())
		<-started
		w.decide(r, open["n2"], approve())
		w.decide(r, open["n3"], approve())
		w.until(r, id, "queued", func(v contracts.RunView) bool {
			return states(v)["n2"] == contracts.NodeQueued && states(v)["n3"] == contracts.NodeQueued
		})
		close(goOn)
		v := w.until(r, id, "n3 done", func(v contracts.RunView) bool { return states(v)["n3"].Terminal() })
		if time.Since(v.CreatedAt) > time.Minute || states(v)["n2"] != contracts.NodeQueued {
			t.Errorf("states %v after %s", states(v), time.Since(v.CreatedAt))
		}
	})
}

func TestAcceptedWorkThatNeverEndsTimesOut(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("job", contracts.Metadata{SideEffectClass: contracts.ClassRead, TimeoutMS: 20_000}, func(context.Context, execution.Call) execution.Reply {
			return execution.Reply{Kind: execution.ReplyAccepted, Operation: "op", RetryAfter: 5 * time.Second}
		})
		r := w.runner()
		v := w.ended(r, w.submit(r, w.node("n1", "job", nil)))
		if took := time.Since(v.CreatedAt); v.State != contracts.RunFailed || took > 10*time.Minute {
			t.Errorf("state %s after %s and %d polls", v.State, took, len(w.callsOf("job")))
		}
	})
}

func TestReadBackThatNeverHoldsEndsAfterItsTime(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		meta := keyedWrite()
		meta.Verify = &contracts.VerifyRule{
			Capability: "find", WithinMS: 60_000, Assertions: []contracts.Condition{{Path: "facts.there", Equals: new(any(true))}},
		}
		w.declare("order", meta, w.applying)
		w.read("find", answering(map[string]any{"there": false}))
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		w.decide(r, w.gates(r, id, 1)["n1"], approve())
		v := w.ended(r, id)
		if took := time.Since(v.CreatedAt); v.Verdict.Status != contracts.VerdictBlocked || took > 10*time.Minute {
			t.Errorf("verdict %+v after %s and %d looks", v.Verdict, took, len(w.callsOf("find")))
		}
	})
}

func TestARefusedRepeatDoesNotUndoADoubt(t *testing.T) {
	t.Parallel()
	many := []execution.Reply{broken}
	for range 20 {
		many = append(many, notSent)
	}
	shortWindow := keyedWrite()
	shortWindow.IdempotencyWindowS = 1800
	cases := map[string]struct {
		meta    contracts.Metadata
		replies []execution.Reply
	}{
		"a refused credential":               {keyedWrite(), []execution.Reply{broken, {Kind: execution.ReplyUnauthorized, Message: "no"}}},
		"a refused request":                  {keyedWrite(), []execution.Reply{broken, {Kind: execution.ReplyInvalid, Message: "no"}}},
		"a domain that cannot be reached":    {keyedWrite(), many},
		"a capability that changed":          {keyedWrite(), []execution.Reply{broken, {Kind: execution.ReplyChanged, Message: "no"}}},
		"a key that may be forgotten by now": {shortWindow, []execution.Reply{broken, {Kind: execution.ReplyBusy, RetryAfter: time.Hour}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.declare("order", c.meta, w.faulty(true, c.replies...))
				r := w.runner()
				id := w.submit(r, w.node("n1", "order", nil))
				w.decide(r, w.gates(r, id, 1)["n1"], approve())
				v := w.until(r, id, "settled", func(v contracts.RunView) bool {
					s := states(v)["n1"]
					return s.Terminal() || s == contracts.NodeOutcomeUnknown
				})
				if got := states(v)["n1"]; got != contracts.NodeOutcomeUnknown {
					t.Errorf("state %s, want outcome_unknown: the first attempt took effect (calls %d)", got, len(w.callsOf("order")))
				}
			})
		})
	}
}

func TestABusyDomainDoesNotKeepADoubtfulWriteForEver(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		meta := keyedWrite()
		meta.WaitMaxS = 3600
		var n atomic.Int64
		w.declare("order", meta, func(_ context.Context, c execution.Call) execution.Reply {
			if n.Add(1) == 1 {
				w.apply(c)
				return broken
			}
			return execution.Reply{Kind: execution.ReplyBusy, RetryAfter: time.Minute}
		})
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		w.decide(r, w.gates(r, id, 1)["n1"], approve())
		w.until(r, id, "unknown", func(v contracts.RunView) bool { return states(v)["n1"] == contracts.NodeOutcomeUnknown })
	})
}

func TestALateOutcomeSettlesWhatAPersonWasAsked(t *testing.T) {
	t.Parallel()
	for name, busyWith := range map[string]time.Duration{
		"while the run is parked": 0, "while the run is active": 10 * time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				var flag atomic.Bool
				meta := unkeyed()
				meta.TimeoutMS = 28_000
				w.declare("order", meta, func(_ context.Context, c execution.Call) execution.Reply {
					flag.Store(true)
					reply := w.apply(c)
					time.Sleep(25 * time.Second) // bubble time
					return reply
				})
				w.read("get", func(context.Context, execution.Call) execution.Reply {
					time.Sleep(min(busyWith, 29*time.Second)) // bubble time
					return facts(nil)
				})
				first := w.frozen(&flag)
				nodes := []contracts.Node{w.node("n1", "order", nil)}
				if busyWith > 0 {
					nodes = append(nodes, w.node("n2", "get", nil))
				}
				id := w.submit(first, nodes...)
				second := w.runner(named("second"))
				w.decide(first, w.gates(first, id, 1)["n1"], approve())
				w.until(second, id, "unknown", func(v contracts.RunView) bool { return states(v)["n1"] == contracts.NodeOutcomeUnknown })
				v := w.ended(second, id)
				if states(v)["n1"] != contracts.NodeCompleted || len(v.Interrupts) != 0 || len(w.callsOf("order")) != 1 {
					t.Errorf("states %v, %d questions open, %d calls", states(v), len(v.Interrupts), len(w.callsOf("order")))
				}
			})
		})
	}
}

func TestNothingIsSentAgainAfterACancel(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		meta := unkeyed()
		meta.Reconcile = &contracts.CapabilityCall{Capability: "find"}
		began := make(chan struct{}, 9)
		w.declare("order", meta, func(context.Context, execution.Call) execution.Reply {
			began <- struct{}{}
			time.Sleep(time.Second) // bubble time
			return broken
		})
		w.read("find", answering(map[string]any{"applied": false}))
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		w.decide(r, w.gates(r, id, 1)["n1"], approve())
		<-began
		if err := r.Cancel(t.Context(), id, "ana"); err != nil {
			t.Fatal(err)
		}
		v := w.ended(r, id)
		if v.State != contracts.RunCancelled || len(w.callsOf("order")) != 1 {
			t.Errorf("state %s after %d calls", v.State, len(w.callsOf("order")))
		}
	})
}

func TestSettlingAsNotAppliedAfterACancelEndsTheNode(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", unkeyed(), w.faulty(false, broken))
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		w.decide(r, w.gates(r, id, 1)["n1"], approve())
		w.until(r, id, "unknown", func(v contracts.RunView) bool { return states(v)["n1"] == contracts.NodeOutcomeUnknown })
		if err := r.Cancel(t.Context(), id, "ana"); err != nil {
			t.Fatal(err)
		}
		w.decide(r, w.gates(r, id, 1)["n1"], contracts.Resume{Response: contracts.AnswerNotApplied})
		if v := w.ended(r, id); v.State != contracts.RunCancelled || len(v.Interrupts) != 0 {
			t.Errorf("state %s with %d questions open", v.State, len(v.Interrupts))
		}
	})
}

func TestADryRunNeverReachesAWriteThatWouldNotPretend(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		meta := keyedWrite()
		meta.DryRun = true
		w.declare("order", meta, w.applying)
		plan := w.plan(w.node("n1", "order", nil))
		plan.DryRun = true
		w.declare("order", keyedWrite(), w.applying) // it does not honour dry_run any more
		r := w.runner()
		id, err := r.Submit(t.Context(), "s1", plan)
		if err != nil {
			t.Fatal(err)
		}
		if v := w.ended(r, id); v.State != contracts.RunFailed || len(w.callsOf("order")) != 0 {
			t.Errorf("state %s after %d calls", v.State, len(w.callsOf("order")))
		}
	})
}

func TestAStopFailsNoRead(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var flag atomic.Bool
		w.read("slow", func(ctx context.Context, _ execution.Call) execution.Reply {
			if flag.Load() {
				return facts(nil)
			}
			<-ctx.Done()
			return execution.Reply{Kind: execution.ReplyRefused, Message: "cut off"}
		})
		first := w.runner()
		var ids []string
		for range 30 {
			ids = append(ids, w.submit(first, w.node("n1", "slow", nil)))
		}
		time.Sleep(time.Second) // bubble time
		if err := first.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		flag.Store(true)
		second := w.runner()
		for _, id := range ids {
			if v := w.ended(second, id); v.State != contracts.RunCompleted {
				t.Errorf("run %s: %s", id, v.State)
			}
		}
	})
}

func TestARunThatCannotBeLoadedIsNotTriedInAHotLoop(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("get", answering(nil))
		plan := w.plan(w.node("n1", "get", nil))
		var loads atomic.Int64
		id, err := w.runner(func(c *execution.Config) { c.MaxActiveRuns = -1 }).Submit(t.Context(), "s1", plan)
		if err != nil {
			t.Fatal(err)
		}
		w.runnerOn(&hooked{Store: w.store, load: func() error {
			if loads.Add(1) > 1000 {
				time.Sleep(time.Hour) // bubble time: the test has failed, end the loop
			}
			return contracts.Errorf(contracts.CodeInternal, "run %s is damaged", id)
		}})
		time.Sleep(time.Minute) // bubble time
		if got := loads.Load(); got > 20 {
			t.Errorf("loaded %d times in a minute", got)
		}
	})
}

func TestAFullReplicaDoesNotLookForTimersAllTheTime(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var looks atomic.Int64
		w.declare("job", contracts.Metadata{SideEffectClass: contracts.ClassRead, TimeoutMS: 60_000}, w.faulty(false, execution.Reply{Kind: execution.ReplyBusy, RetryAfter: 5 * time.Second}))
		w.read("slow", func(context.Context, execution.Call) execution.Reply {
			time.Sleep(25 * time.Second) // bubble time
			return facts(nil)
		})
		r := w.runnerOn(&hooked{Store: w.store, wake: func() { looks.Add(1) }}, func(c *execution.Config) { c.MaxActiveRuns = 1 })
		parked := w.submit(r, w.node("n1", "job", nil))
		w.until(r, parked, "parked", func(contracts.RunView) bool { return r.Active() == 0 })
		w.ended(r, w.submit(r, w.node("n1", "slow", nil)))
		w.ended(r, parked)
		if got := looks.Load(); got > 200 {
			t.Errorf("looked %d times", got)
		}
	})
}

func TestARateLimitTouchesOnlyWhatItLetsGo(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const count = 200
		meta := contracts.Metadata{SideEffectClass: contracts.ClassRead, RateLimitPerMin: 60}
		w.declare("get", meta, answering(nil))
		var rows atomic.Int64
		r := w.runnerOn(&hooked{Store: w.store, commit: func(ctx context.Context, tr execution.Transition) (execution.Committed, error) {
			rows.Add(int64(len(tr.Nodes)))
			return w.store.Commit(ctx, tr)
		}})
		var nodes []contracts.Node
		for i := range count {
			nodes = append(nodes, w.node("n"+string(rune('a'+i/26))+string(rune('a'+i%26)), "get", nil))
		}
		w.ended(r, w.submit(r, nodes...))
		if got := rows.Load(); got > 10*count {
			t.Errorf("%d rows were written for %d nodes", got, count)
		}
	})
}

func TestANegativeLookUpIsBelievedOnlyAfterTheLastAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var n atomic.Int64
		meta := unkeyed()
		meta.Reconcile = &contracts.CapabilityCall{Capability: "find"}
		w.declare("order", meta, func(_ context.Context, c execution.Call) execution.Reply {
			if n.Add(1) == 1 {
				return execution.Reply{Kind: execution.ReplyBusy, RetryAfter: time.Minute}
			}
			go func() {
				time.Sleep(20 * time.Second) // bubble time: the domain is still at it
				w.apply(c)
			}()
			return broken
		})
		w.read("find", func(context.Context, execution.Call) execution.Reply {
			return facts(map[string]any{"applied": len(w.applied()) > 0})
		})
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		w.decide(r, w.gates(r, id, 1)["n1"], approve())
		w.ended(r, id)
		time.Sleep(time.Minute) // bubble time
		if got := w.applied()[id+"/n1/1"]; got != 1 {
			t.Errorf("done %d times", got)
		}
	})
}

func TestAPlanThatCannotEndIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("get", answering(nil))
		r := w.runner()
		for name, nodes := range map[string][]contracts.Node{
			"a circle":             {w.node("n1", "get", nil, "n2"), w.node("n2", "get", nil, "n1")},
			"an id twice":          {w.node("n1", "get", nil), w.node("n1", "get", nil)},
			"a missing dependency": {w.node("n1", "get", nil, "n9")},
		} {
			if _, err := r.Submit(t.Context(), "s1", w.plan(nodes...)); contracts.CodeOf(err) != contracts.CodeInvalid {
				t.Errorf("%s: %v, want invalid", name, err)
			}
		}
	})
}

func TestAnApproverSeesWhatTheConditionRestsOn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("stock", answering(map[string]any{"left": 3}))
		w.declare("order", keyedWrite(), w.applying)
		r := w.runner()
		n2 := w.node("n2", "order", nil, "n1")
		n2.When = &contracts.Condition{Path: "steps.n1.facts.left", LTE: new(any(5))}
		id := w.submit(r, w.node("n1", "stock", nil), n2)
		got := w.gates(r, id, 1)["n2"].Evidence
		if len(got) != 1 || got[0].NodeID != "n1" || got[0].Path != "steps.n1.facts.left" {
			t.Errorf("evidence %+v", got)
		}
	})
}
