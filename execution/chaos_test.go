package execution_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/internal/sample"
)

// scenario is a run with a fault at every write to the store.
type scenario struct {
	nodes func(w *world) []contracts.Node
	// answer is a person's decision at a gate, by default approve; unknown outcomes are settled
	// truthfully. cancel reports when the run is cancelled.
	answer func(w *world, g contracts.Interrupt) contracts.Resume
	cancel func(w *world, s execution.Snapshot) bool
	// want may have several states if the result depends on timing.
	want []contracts.RunState
}

// losing applies the first call of each key and loses its reply, or loses the call itself.
func (w *world) losing(applied bool) func(context.Context, execution.Call) execution.Reply {
	var mu sync.Mutex
	lost := map[string]bool{}
	return func(_ context.Context, c execution.Call) execution.Reply {
		time.Sleep(20 * time.Millisecond) // bubble time
		mu.Lock()
		first := !lost[c.Context.NodeID]
		lost[c.Context.NodeID] = true
		mu.Unlock()
		if first && !applied {
			return broken
		}
		reply := w.apply(c)
		if first {
			return broken
		}
		return reply
	}
}

// lookedUp declares a slow read that reports whether a key took effect, and a write that is
// reconciled and read back with it.
func (w *world) lookedUp(meta contracts.Metadata, do func(context.Context, execution.Call) execution.Reply) {
	w.read("find", func(_ context.Context, c execution.Call) execution.Reply {
		time.Sleep(200 * time.Millisecond) // bubble time
		key, _ := c.Parameters["key"].(string)
		return facts(map[string]any{"applied": w.applied()[key] > 0})
	})
	w.read("list", answering(map[string]any{"items": []any{"a", "b", "c"}}))
	byKey := map[string]any{"key": "${context.idempotency_key}"}
	if meta.Idempotency == contracts.IdempotencyNone {
		meta.Reconcile = &contracts.CapabilityCall{Capability: "find", ParamMap: byKey}
	}
	meta.Verify = &contracts.VerifyRule{
		Capability: "find", ParamMap: byKey, Assertions: []contracts.Condition{{Path: "facts.applied", Equals: new(any(true))}},
	}
	meta.Locks = []string{"item:{item}"}
	w.declare("order", meta, do)
}

func (w *world) twoOrders() []contracts.Node {
	return []contracts.Node{
		w.node("n1", "order", map[string]any{"item": "a"}), w.node("n2", "order", map[string]any{"item": "b"}),
		w.node("n3", "find", map[string]any{"key": "x"}, "n1"),
	}
}

func slowly(do func(context.Context, execution.Call) execution.Reply) func(context.Context, execution.Call) execution.Reply {
	return func(ctx context.Context, c execution.Call) execution.Reply {
		time.Sleep(300 * time.Millisecond) // bubble time
		return do(ctx, c)
	}
}

func scenarios() map[string]scenario {
	completed := []contracts.RunState{contracts.RunCompleted}
	return map[string]scenario{
		"lost answers are looked up": {want: completed, nodes: func(w *world) []contracts.Node {
			w.lookedUp(unkeyed(), w.losing(true))
			return w.twoOrders()
		}},
		"lost calls are looked up": {want: completed, nodes: func(w *world) []contracts.Node {
			w.lookedUp(unkeyed(), w.losing(false))
			return w.twoOrders()
		}},
		"lost answers are asked for again": {want: completed, nodes: func(w *world) []contracts.Node {
			w.lookedUp(keyedWrite(), w.losing(true))
			return w.twoOrders()
		}},
		"parameters are edited": {want: completed, nodes: func(w *world) []contracts.Node {
			w.lookedUp(keyedWrite(), slowly(w.applying))
			return w.twoOrders()
		}, answer: func(_ *world, g contracts.Interrupt) contracts.Resume {
			if len(g.Requesters) > 1 {
				return approve()
			}
			return contracts.Resume{Decision: contracts.DecisionEdit, EditedParams: map[string]any{"item": "edited " + g.NodeID}}
		}},
		"a person settles": {want: completed, nodes: func(w *world) []contracts.Node {
			meta := unkeyed()
			w.read("find", answering(nil))
			w.declare("order", meta, w.losing(false))
			return w.twoOrders()
		}},
		"accepted work is asked for": {want: completed, nodes: func(w *world) []contracts.Node {
			w.read("find", answering(nil))
			w.declare("order", unkeyed(), w.accepting(700*time.Millisecond))
			return w.twoOrders()
		}},
		"the run is cancelled while it writes": {
			want: []contracts.RunState{contracts.RunCancelled, contracts.RunCompleted}, nodes: func(w *world) []contracts.Node {
				w.lookedUp(keyedWrite(), slowly(w.applying))
				return w.twoOrders()
			}, cancel: func(w *world, _ execution.Snapshot) bool { return len(w.callsOf("order")) > 0 },
		},
		"the run is cancelled after it wrote": {
			want: []contracts.RunState{contracts.RunCancelled, contracts.RunCompleted}, nodes: func(w *world) []contracts.Node {
				w.lookedUp(unkeyed(), w.losing(true))
				return w.twoOrders()
			}, cancel: func(w *world, _ execution.Snapshot) bool { return len(w.applied()) > 0 },
		},
		"a list is gone through": {want: completed, nodes: func(w *world) []contracts.Node {
			w.lookedUp(keyedWrite(), slowly(w.applying))
			each := w.node("n2", "order", map[string]any{"item": "${item}"}, "n1")
			each.ForEach = &contracts.ForEach{Items: "${steps.n1.facts.items}", MaxConcurrency: 2}
			return []contracts.Node{w.node("n1", "list", nil), each, w.node("n3", "find", map[string]any{"key": "x"}, "n2")}
		}},
	}
}

// accepting answers a write with 202 and executes it later; polling never starts another one.
func (w *world) accepting(after time.Duration) func(context.Context, execution.Call) execution.Reply {
	var mu sync.Mutex
	begun := map[string]time.Time{}
	return func(_ context.Context, c execution.Call) execution.Reply {
		mu.Lock()
		defer mu.Unlock()
		op := c.Context.Operation
		if op == "" {
			op = fmt.Sprint("op", len(begun))
			begun[op] = time.Now()
			w.apply(c)
		}
		if at, ok := begun[op]; ok && time.Since(at) > after {
			return facts(map[string]any{"op": op})
		}
		return execution.Reply{Kind: execution.ReplyAccepted, Operation: op, RetryAfter: 300 * time.Millisecond}
	}
}

// effectsOf counts the effects of a node, under all keys.
func (w *world) effectsOf(node string) int {
	total := 0
	for key, n := range w.applied() {
		if strings.Contains(key, "/"+node+"/") {
			total += n
		}
	}
	return total
}

// play answers interrupts and cancels at the right time, until the run ends or the server is dead.
func (w *world) play(ctx context.Context, sc scenario, r *execution.Runner, id string, dead <-chan struct{}) bool {
	w.t.Helper()
	for turn := range 1000 {
		pause := 100 * time.Millisecond // bubble time
		if turn > 50 {
			pause = 2 * time.Second
		}
		select {
		case <-dead:
			return false
		case <-time.After(pause):
		}
		s, err := w.store.LoadRun(ctx, id)
		if err != nil {
			return false
		}
		if s.Run.FinishedAt != nil {
			return true
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		if sc.cancel != nil && sc.cancel(w, s) {
			_ = r.Cancel(short, id, "ana")
		}
		for _, g := range s.Gates {
			if g.Status == contracts.InterruptOpen {
				w.answerOne(short, sc, r, g)
			}
		}
		cancel()
	}
	body, _ := w.store.LoadRun(ctx, id)
	w.t.Fatalf("the run never ended: %+v", body.Nodes)
	return false
}

func (w *world) answerOne(ctx context.Context, sc scenario, r *execution.Runner, g contracts.Interrupt) {
	body := approve()
	switch {
	case g.Type == contracts.InterruptOutcomeUnknown && w.effectsOf(g.NodeID) > 0:
		body = contracts.Resume{Response: contracts.AnswerApplied}
	case g.Type == contracts.InterruptOutcomeUnknown:
		body = contracts.Resume{Response: contracts.AnswerNotApplied}
	case sc.answer != nil:
		body = sc.answer(w, g)
	}
	if body.Decision == contracts.DecisionApprove {
		body.ActionSHA256 = g.ActionSHA256
	}
	_, _ = r.Decide(ctx, g.InterruptID, body, decision.Decider{ID: "bob", May: anybody})
}

// sound checks the invariants of a run after any fault.
func (w *world) sound(sc scenario, r *execution.Runner, id string) {
	w.t.Helper()
	ctx := w.t.Context()
	v, err := r.View(ctx, id)
	if err != nil {
		w.t.Fatal(err)
	}
	fits := false
	for _, s := range sc.want {
		fits = fits || s == v.State
	}
	if !fits || (v.State == contracts.RunCompleted && v.Verdict.Status == contracts.VerdictBlocked) {
		w.t.Errorf("state %s, verdict %+v, states %v", v.State, v.Verdict, states(v))
	}
	for _, n := range v.Nodes {
		if !strings.HasSuffix(n.Tool, ".order") || n.ForEach != nil {
			continue
		}
		done, want := w.effectsOf(n.NodeID), 0
		if n.State == contracts.NodeCompleted {
			want = 1
		}
		if done != want {
			w.t.Errorf("%s is %s and was done %d times", n.NodeID, n.State, done)
		}
	}
	if len(v.Interrupts) > 0 {
		w.t.Errorf("%d questions are open", len(v.Interrupts))
	}
	w.accounts(r, id)
}

func (w *world) accounts(r *execution.Runner, id string) {
	w.t.Helper()
	ctx := w.t.Context()
	if replayed, err := r.Replay(ctx, id); err != nil || len(replayed.Differences) > 0 {
		w.t.Errorf("replay %+v, %v", replayed, err)
	}
	if left, err := w.store.Locks(ctx, contracts.Page{}); err != nil || len(left.Items) > 0 {
		w.t.Errorf("locks left: %v, %v", left, err)
	}
	entries, err := w.store.Ledger(ctx, id, 0, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if e.Kind != contracts.LedgerDecision && e.Kind != contracts.LedgerSettled {
			continue
		}
		if seen[e.PayloadSHA256] {
			w.t.Errorf("a decision on %s is in the ledger twice", e.NodeID)
		}
		seen[e.PayloadSHA256] = true
	}
	s, err := w.store.LoadRun(ctx, id)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, i := range s.Intents {
		if !i.Consumed {
			w.t.Errorf("the intent %s is left open", i.Key)
		}
	}
}

func TestKilledAtEveryWriteOfEveryScenario(t *testing.T) { //nolint:tparallel // they share what the first has counted
	t.Parallel()
	for name, sc := range scenarios() {
		writes := 0
		t.Run(name+", unharmed", func(t *testing.T) {
			bubbleNow(t, func(t *testing.T, w *world) {
				t.Helper()
				k := executiontest.KillAt(w.store, 0, executiontest.Before)
				nodes := sc.nodes(w)
				r := w.runnerOn(k)
				id := w.submit(r, nodes...)
				w.play(t.Context(), sc, r, id, k.Dead())
				w.sound(sc, r, id)
				writes = k.Writes()
			})
		})
		for n, at := range moments(t, writes) {
			t.Run(fmt.Sprintf("%s, killed %s write %d", name, at, n), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					t.Helper()
					w.killed(sc, n, at)
				})
			})
		}
	}
}

func (w *world) killed(sc scenario, n int, at executiontest.Moment) {
	w.t.Helper()
	ctx := w.t.Context()
	plan := w.plan(sc.nodes(w)...)
	plan.RunID = "run_crash"
	k := executiontest.KillAt(w.store, n, at)
	first := w.runnerOn(k)
	go func() { _, _ = first.Submit(ctx, "s1", plan) }()
	done := w.play(ctx, sc, first, plan.RunID, k.Dead())
	if !done {
		time.Sleep(time.Second) // bubble time: the domain still works
	}
	second := w.runner()
	if !done && !w.play(ctx, sc, second, plan.RunID, nil) { // there was no run yet
		if _, err := second.Submit(ctx, "s1", plan); err != nil {
			w.t.Fatal(err)
		}
		w.play(ctx, sc, second, plan.RunID, nil)
	}
	k.Bury()
	w.sound(sc, second, plan.RunID)
}

func TestTheAnswerOfEveryCommitMayBeLost(t *testing.T) {
	t.Parallel()
	for name, sc := range scenarios() {
		for _, i := range sample.Of(t, 14, 2) {
			n := i + 1
			t.Run(fmt.Sprintf("%s, answer %d is lost", name, n), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					t.Helper()
					nodes, commits := sc.nodes(w), 0
					var mu sync.Mutex
					r := w.runnerOn(&hooked{Store: w.store, commit: func(ctx context.Context, tr execution.Transition) (execution.Committed, error) {
						done, err := w.store.Commit(ctx, tr)
						mu.Lock()
						defer mu.Unlock()
						if commits++; commits == n && err == nil {
							return execution.Committed{}, unavailable()
						}
						return done, err
					}})
					id := w.submit(r, nodes...)
					w.play(t.Context(), sc, r, id, nil)
					w.sound(sc, r, id)
				})
			})
		}
	}
}

func TestAPausedReplicaDoesNoHarm(t *testing.T) {
	t.Parallel()
	for name, sc := range scenarios() {
		for after := 200 * time.Millisecond; after < 3*time.Second; after += 300 * time.Millisecond {
			t.Run(fmt.Sprintf("%s, paused after %s", name, after), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					t.Helper()
					nodes, began := sc.nodes(w), time.Now()
					pause := func() { // every call of the replica hangs until 20 s have passed
						if d := time.Since(began); d >= after && d < 20*time.Second {
							time.Sleep(20*time.Second - d)
						}
					}
					first := w.runnerOn(&hooked{
						Store: w.store, renew: func() error { pause(); return nil },
						commit: func(ctx context.Context, tr execution.Transition) (execution.Committed, error) {
							pause()
							return w.store.Commit(ctx, tr)
						},
					}, named("first"))
					id := w.submit(first, nodes...)
					second := w.runner(named("second"))
					w.play(t.Context(), sc, second, id, nil)
					time.Sleep(time.Minute) // bubble time: the first wakes up
					w.sound(sc, second, id)
				})
			})
		}
	}
}
