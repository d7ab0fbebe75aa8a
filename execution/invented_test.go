package execution_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/internal/sample"
	"github.com/manifold-run/manifold/planner/workflow/workflowtest"
)

// lab is a world with a random workflow of reads, writes, questions, repeats, branches and loops.
// The results of its calls depend only on the seed and the node, not on the order in which they
// end.
type lab struct {
	*studio

	seed, order uint64
	steps       []map[string]any
	admitted    bool

	guard    sync.Mutex // guards the fields below
	approved map[string]bool
	sent     map[string]int // calls that were sent, by node
	effects  map[string]int // effects that were requested and possible, by idempotency key
	saw      map[string]map[string]any
	faults   []string
}

func (l *lab) fate(n uint64, about ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, l.seed, about)
	return h.Sum64() % n
}

// invent creates the workflow. Each calling step returns which instances of earlier steps it has
// read.
func (l *lab) invent() {
	rnd := rand.New(rand.NewPCG(l.seed, 29))
	size := 3 + rnd.IntN(6)
	for i := range size {
		deps := []any{}
		saw := map[string]any{}
		for j := range i {
			if rnd.IntN(3) == 0 || j == i-1 && rnd.IntN(2) == 0 {
				id := fmt.Sprint("s", j)
				deps = append(deps, id)
				saw[id] = "${steps." + id + ".state}"
				if before := l.steps[j]; before["for_each"] == nil && (before["kind"] == "tool" || before["kind"] == "set") {
					saw[id] = "${has(steps." + id + ".facts.me) ? steps." + id + ".facts.me : steps." + id + ".state}"
				}
			}
		}
		step := map[string]any{"id": fmt.Sprint("s", i), "depends_on": deps}
		l.kind(rnd, step, saw, deps)
		if rnd.IntN(4) == 0 {
			step["when"] = fmt.Sprintf("${round.n in [%d, %d]}", 1+rnd.IntN(3), 1+rnd.IntN(3))
		}
		if rnd.IntN(5) == 0 {
			step["continue_on_error"] = true
		}
		if _, has := step["on"]; !has && rnd.IntN(3) == 0 {
			step["on"] = []any{map[string]any{"when": fmt.Sprintf("${round.n < %d}", 2+rnd.IntN(3)), "goto": fmt.Sprint("s", rnd.IntN(i+1)), "max": 1 + rnd.IntN(2)}}
		}
		l.steps = append(l.steps, step)
	}
}

func (l *lab) kind(rnd *rand.Rand, step, saw map[string]any, deps []any) {
	switch kind := rnd.IntN(10); {
	case kind < 3:
		step["kind"], step["tool"], step["params"] = "tool", "look", map[string]any{"saw": saw}
	case kind < 6:
		step["kind"], step["tool"], step["params"] = "tool", "put", map[string]any{"saw": saw}
	case kind < 7 && len(deps) > 0:
		step["kind"], step["tool"], step["params"] = "tool", []string{"look", "put"}[rnd.IntN(2)], map[string]any{"saw": saw, "item": "${item}"}
		step["for_each"] = map[string]any{"items": []string{"${params.list}", "${[]}", "${params.none}"}[rnd.IntN(3)], "max_concurrency": 2}
	case kind < 8 && len(deps) > 1:
		step["kind"] = "join"
	case kind < 9:
		step["kind"] = "human"
		step["human"] = map[string]any{"interrupt": "result_review", "prompt": "Good?", "allow": []any{"accept", "iterate"}}
		step["on"] = []any{map[string]any{"answer": "iterate", "goto": step["id"], "max": 1}}
		if len(deps) > 0 {
			step["on"] = []any{map[string]any{"answer": "iterate", "goto": deps[0], "max": 1 + rnd.IntN(2)}}
		}
	default:
		step["kind"], step["set"] = "set", map[string]any{"me": "${string(round.n)}"}
	}
}

func newLab(t *testing.T, w *world, seed, order uint64) *lab {
	t.Helper()
	l := &lab{
		studio: &studio{world: w}, seed: seed, order: order, approved: map[string]bool{}, sent: map[string]int{},
		effects: map[string]int{}, saw: map[string]map[string]any{},
	}
	l.invent()
	raw, err := json.Marshal(map[string]any{
		"schema_version": "1", "domain": "lab", "version": "1",
		"capabilities": []any{labCapability("look", "read"), labCapability("put", "write_irreversible")},
		"workflows": []any{map[string]any{
			"name": "w", "schema": map[string]any{"type": "object", "properties": map[string]any{"list": map[string]any{"type": "array"}, "none": map[string]any{"type": "string"}}},
			"metadata": map[string]any{}, "steps": l.steps, "result": map[string]any{"summary": "over"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	w.catalog = workflowtest.CatalogOf(t, map[string]map[string]any{"lab": document})
	l.admitted = len(workflowtest.Check(t, w.catalog, "lab").Findings) == 0
	for _, name := range []string{"look", "put"} {
		w.caps[name] = &capability{do: l.play}
	}
	return l
}

func labCapability(name, class string) map[string]any {
	free := map[string]any{}
	metadata := map[string]any{"side_effect_class": class}
	if class != "read" {
		metadata["idempotency"] = "keyed"
	}
	return map[string]any{
		"name": name, "description": name, "metadata": metadata,
		"schema":        map[string]any{"type": "object", "properties": map[string]any{"saw": free, "item": free}},
		"output_schema": map[string]any{"type": "object", "properties": map[string]any{"me": free}},
	}
}

// play answers a call after a time that depends on the order.
func (l *lab) play(_ context.Context, c execution.Call) execution.Reply {
	node := c.Context.NodeID
	h := fnv.New64a()
	fmt.Fprint(h, l.order, node)
	time.Sleep(time.Duration(1+h.Sum64()%40) * time.Millisecond) // bubble time
	l.guard.Lock()
	defer l.guard.Unlock()
	l.sent[node]++
	seen, _ := c.Parameters["saw"].(map[string]any)
	l.saw[node] = seen
	fails := l.fate(6, "fails", node) == 0
	if c.Entry.Capability.Name == "put" {
		if !l.approved[node] {
			l.faults = append(l.faults, node+" was sent without its gate")
		}
		if !fails {
			l.effects[c.Context.IdempotencyKey]++ // repeats have the same effect: it is keyed
		}
		if !fails && l.lostAnswer(node) && l.sent[node] == 1 {
			return execution.Reply{Kind: execution.ReplyBroken, Message: "the answer was lost"}
		}
	}
	if fails {
		return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{
			Error: &contracts.ToolError{Type: contracts.ErrNotFound, Message: "not there", Effect: contracts.EffectNone},
		}}
	}
	return facts(map[string]any{"me": node})
}

// lostAnswer reports whether the first reply of a write is lost although it was executed.
func (l *lab) lostAnswer(node string) bool { return l.fate(4, "lost", node) == 0 }

// live runs the workflow, killed at a write to the store (0 for never), and returns how each node
// ended.
func (l *lab) live(t *testing.T, kill int, at executiontest.Moment) (ends map[string]string, writes int) {
	t.Helper()
	ctx := t.Context()
	plan := l.planned("lab.w", map[string]any{"list": []any{1.0, 2.0}, "none": "no list"})
	plan.RunID = "run_lab"
	k := executiontest.KillAt(l.store, kill, at)
	r := l.runnerOn(k)
	go func() { _, _ = r.Submit(ctx, "s1", plan) }()
	time.Sleep(time.Second)
	if !l.people(ctx, r, plan.RunID, k.Dead()) {
		k.Bury()
		r = l.runner()
		if !l.people(ctx, r, plan.RunID, nil) {
			if _, err := r.Submit(ctx, "s1", plan); err != nil {
				t.Fatal(err)
			}
			l.people(ctx, r, plan.RunID, nil)
		}
	}
	v := l.ended(r, plan.RunID)
	replayed, err := r.Replay(ctx, plan.RunID)
	if err != nil || len(replayed.Differences) > 0 || replayed.State != v.State {
		t.Errorf("replay: %v %+v, and the run is %s", err, replayed, v.State)
	}
	s, err := l.store.LoadRun(ctx, plan.RunID)
	if err != nil {
		t.Fatal(err)
	}
	ends = map[string]string{"the run": string(v.State)}
	for _, row := range s.Nodes {
		ends[row.NodeID] = string(row.State) + " " + string(row.Skip)
	}
	l.sound(t, v, kill == 0)
	return ends, k.Writes()
}

// people answers at random until the run has ended. It reports false if the server died.
func (l *lab) people(ctx context.Context, r *execution.Runner, id string, dead <-chan struct{}) bool {
	for pause := 5 * time.Millisecond; pause < time.Hour; pause = pause * 11 / 10 {
		select {
		case <-dead:
			return false
		case <-time.After(pause):
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		v, err := r.View(short, id)
		if err == nil && v.State.Terminal() {
			cancel()
			return true
		}
		for _, i := range v.Interrupts {
			body := contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: i.ActionSHA256}
			if i.Type == contracts.InterruptWriteApproval {
				l.guard.Lock()
				l.approved[i.NodeID] = true
				l.guard.Unlock()
			} else {
				body = contracts.Resume{Response: "accept"}
				if l.fate(2, "iterate", i.NodeID) == 0 && slices.Contains(i.Answers, "iterate") {
					body.Response = "iterate: again"
				}
			}
			_, _ = r.Decide(short, i.InterruptID, body, decision.Decider{ID: "bob", May: anybody})
		}
		cancel()
	}
	return false
}

// sound checks the invariants of an ended run.
func (l *lab) sound(t *testing.T, v contracts.RunView, unharmed bool) {
	t.Helper()
	l.guard.Lock()
	defer l.guard.Unlock()
	for _, f := range l.faults {
		t.Error(f)
	}
	newest := map[string]string{}
	for _, n := range v.Nodes {
		if n.Round != nil {
			newest[n.ForNode] = n.NodeID // in the order in which they were appended
		} else if n.Item == nil && newest[n.NodeID] == "" {
			newest[n.NodeID] = n.NodeID
		}
	}
	done := 0
	for _, n := range v.Nodes {
		if n.State == contracts.NodeCompleted && n.Policy != nil && n.Policy.SideEffectClass.Writes() && n.ForEach == nil {
			done++
		}
		if unharmed && l.sent[n.NodeID] > 1 && !l.lostAnswer(n.NodeID) {
			t.Errorf("%s was called %d times, and nothing had gone wrong", n.NodeID, l.sent[n.NodeID])
		}
		step := n.NodeID
		if n.Round != nil {
			step = n.ForNode
		}
		if newest[step] != n.NodeID {
			continue // superseded: what it read no longer counts
		}
		for dep, me := range l.saw[n.NodeID] {
			if text := fmt.Sprint(me); strings.HasPrefix(text, "s") && strings.Contains(text, "#") || text == dep {
				if text != newest[dep] {
					t.Errorf("%s saw %s, which was taken back for %s", n.NodeID, text, newest[dep])
				}
			}
		}
	}
	if done != len(l.effects) {
		t.Errorf("%d writes completed, %d were done: %v", done, len(l.effects), l.effects)
	}
}

// TestInventedWorkflowsEndAsTheyMustWhateverHappens runs random workflows in two orders, and with a
// kill at a random write to the store. They end in the same states; nothing is executed without its
// gate, twice, or on a superseded round; and the ledger explains everything.
func TestInventedWorkflowsEndAsTheyMustWhateverHappens(t *testing.T) {
	t.Parallel()
	wanted := len(sample.Of(t, 60, 3))
	tried := 0
	var kinds sync.Map
	for seed := uint64(1); tried < wanted && seed < 1000; seed++ {
		probe := &lab{studio: &studio{world: &world{t: t, caps: map[string]*capability{}}}, seed: seed}
		probe.invent()
		if !admits(t, probe) {
			continue
		}
		tried++
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			raw, _ := json.MarshalIndent(probe.steps, "", " ")
			var first map[string]string
			writes := 0
			t.Run("one order", func(t *testing.T) {
				bubbleNow(t, func(t *testing.T, w *world) { first, writes = newLab(t, w, seed, 1).live(t, 0, executiontest.Before) })
			})
			same := func(name string, order uint64, kill int, at executiontest.Moment) {
				t.Run(name, func(t *testing.T) {
					bubbleNow(t, func(t *testing.T, w *world) {
						ends, _ := newLab(t, w, seed, order).live(t, kill, at)
						if diff := cmp.Diff(first, ends); diff != "" {
							t.Errorf("it went another way:\n%s\n%s", diff, raw)
						}
					})
				})
			}
			same("another order", 2, 0, executiontest.Before)
			rnd := rand.New(rand.NewPCG(seed, 31))
			same("killed before a write", 1, 1+rnd.IntN(max(writes, 1)), executiontest.Before)
			same("killed after a write, in another order", 3, 1+rnd.IntN(max(writes, 1)), executiontest.After)
			for id, end := range first {
				if strings.Contains(id, "#") {
					kinds.Store("rounds", true)
				}
				if strings.Contains(id, "[") {
					kinds.Store("repeats", true)
				}
				kinds.Store(end, true)
			}
		})
	}
	t.Cleanup(func() {
		for _, must := range []string{"rounds", "repeats", "completed ", "failed ", "skipped when", "skipped upstream_failed", "skipped upstream_skipped"} {
			if _, ok := kinds.Load(must); !ok {
				t.Errorf("no workflow of %d has %s: they are too tame", tried, must)
			}
		}
	})
	if tried < wanted {
		t.Errorf("only %d workflows are admitted", tried)
	}
}

// admits reports whether admission accepts the workflow of a lab, and whether it has a loop.
func admits(t *testing.T, l *lab) bool {
	t.Helper()
	w := &world{t: t, caps: map[string]*capability{}}
	return newLab(t, w, l.seed, 0).admitted
}
