package execution_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/planner/workflow/workflowtest"
)

// travel is a domain with writes that declare compensations, and a workflow that has no own steps
// for that.
const travel = `{"schema_version": "1", "domain": "travel", "version": "1", "capabilities": [
  {"name": "hold", "description": "Hold a seat.", "schema": {"type": "object", "required": ["seat"], "properties": {"seat": {"type": "string"}}},
   "output_schema": {"type": "object", "properties": {"id": {"type": "string"}}},
   "metadata": {"side_effect_class": "write_reversible", "idempotency": "keyed", "compensation": {"capability": "release", "param_map": {"id": "${result.facts.id}"}}}},
  {"name": "release", "description": "Release a seat.", "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
   "output_schema": {"type": "object", "properties": {"id": {"type": "string"}}},
   "metadata": {"side_effect_class": "write_reversible", "idempotency": "keyed", "compensation": {"capability": "hold", "param_map": {"seat": "A"}}}},
  {"name": "pay", "description": "Pay.", "schema": {"type": "object", "required": ["sum"], "properties": {"sum": {"type": "number"}}},
   "output_schema": {"type": "object", "properties": {"id": {"type": "string"}}},
   "metadata": {"side_effect_class": "write_reversible", "idempotency": "keyed", "compensation": {"capability": "refund", "param_map": {"id": "${result.facts.id}", "sum": "${params.sum}"}}}},
  {"name": "refund", "description": "Give money back.", "schema": {"type": "object", "required": ["id", "sum"], "properties": {"id": {"type": "string"}, "sum": {"type": "number"}}},
   "metadata": {"side_effect_class": "write_irreversible", "idempotency": "keyed",
     "verify": {"capability": "balance", "param_map": {"id": "${params.id}"}, "assertions": [{"path": "facts.paid", "equals": false}]}}},
  {"name": "balance", "description": "Look whether something is paid.", "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
   "output_schema": {"type": "object", "properties": {"paid": {"type": "boolean"}}},
   "metadata": {"side_effect_class": "read"}}],
 "workflows": [{"name": "book", "schema": {"type": "object", "required": ["seats"], "properties": {"seats": {"type": "array", "items": {"type": "string"}}}}, "metadata": {},
  "steps": [
   {"id": "seats", "kind": "tool", "tool": "hold", "for_each": {"items": "${params.seats}"}, "params": {"seat": "${item}"}},
   {"id": "money", "kind": "tool", "tool": "pay", "depends_on": ["seats"], "params": {"sum": "${round.n == 1 ? 10.0 : 7.0}"}},
   {"id": "look", "kind": "human", "depends_on": ["money"], "human": {"interrupt": "result_review", "prompt": "Good?", "allow": ["accept", "iterate", "rollback"]},
    "on": [{"answer": "iterate", "goto": "money", "max": 2}]}],
  "result": {"summary": "${steps.look.facts.decision}"}},
 {"name": "haggle", "schema": {"type": "object", "properties": {}}, "metadata": {},
  "steps": [
   {"id": "money", "kind": "tool", "tool": "pay", "params": {"sum": "${round.n == 1 ? 10.0 : 7.0}"}},
   {"id": "look", "kind": "human", "depends_on": ["money"], "human": {"interrupt": "result_review", "prompt": "Good?", "allow": ["accept", "rollback"]}},
   {"id": "last", "kind": "human", "depends_on": ["look"], "human": {"interrupt": "result_review", "prompt": "Once more?", "allow": ["accept", "iterate"]},
    "on": [{"answer": "iterate", "goto": "money", "max": 2}]}]}]}`

// agency is a world with the travel domain that records its effects in order.
type agency struct {
	*studio

	done []string
	paid map[string]bool
	// says are the errors of calls, by their effects.
	says map[string]*contracts.ToolError
}

func newAgency(t *testing.T, w *world) *agency {
	t.Helper()
	a := &agency{studio: &studio{world: w}, paid: map[string]bool{}, says: map[string]*contracts.ToolError{}}
	var document map[string]any
	if err := json.Unmarshal([]byte(travel), &document); err != nil {
		t.Fatal(err)
	}
	w.catalog = workflowtest.CatalogOf(t, map[string]map[string]any{"travel": document})
	if r := workflowtest.Check(t, w.catalog, "travel"); len(r.Findings) > 0 {
		t.Fatal(r.Findings)
	}
	for _, name := range []string{"hold", "release", "pay", "refund", "balance"} {
		w.caps[name] = &capability{do: a.do}
	}
	return a
}

func (a *agency) do(_ context.Context, c execution.Call) execution.Reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, _ := c.Parameters["id"].(string)
	if c.Entry.Capability.Name == "balance" {
		return facts(map[string]any{"paid": a.paid[id]})
	}
	key := c.Context.IdempotencyKey
	if r, ok := a.seen[key]; ok {
		return execution.Reply{Kind: execution.ReplyResult, Result: r}
	}
	what := c.Entry.Capability.Name
	for _, name := range []string{"seat", "id", "sum"} {
		if value := c.Parameters[name]; value != nil {
			what += fmt.Sprint(" ", value)
		}
	}
	if e := a.says[what]; e != nil {
		return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{Error: e}}
	}
	a.done = append(a.done, what)
	a.effects[key]++
	r := contracts.ToolResult{OK: true, Summary: what, Facts: map[string]any{}}
	switch c.Entry.Capability.Name {
	case "hold":
		r.Facts["id"] = fmt.Sprint("seat-", c.Parameters["seat"])
	case "pay":
		made := fmt.Sprintf("pay-%v", c.Parameters["sum"])
		r.Facts["id"], a.paid[made] = made, true
	case "refund":
		a.paid[id] = false
	}
	a.seen[key] = r
	return execution.Reply{Kind: execution.ReplyResult, Result: r}
}

func (a *agency) book(r *execution.Runner) string {
	return a.start(r, "travel.book", map[string]any{"seats": []any{"A", "B"}})
}

// TestARollbackTakesBackEveryWriteOfEveryRoundTheLastFirst also covers writes with equal
// timestamps: the clock of a journal is coarse.
func TestARollbackTakesBackEveryWriteOfEveryRoundTheLastFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := newAgency(t, w)
		began := time.Now()
		r := w.runner(func(c *execution.Config) { c.Now = func() time.Time { return began } })
		id := a.book(r)
		v := a.answers(r, id, map[string][]any{"look": {"iterate: cheaper", "rollback"}})
		// Two seats and two payments were made; people approved each, and each compensation.
		want := []string{
			"hold A", "hold B", "pay 10", "pay 7",
			"refund pay-7 7", "refund pay-10 10", "release seat-B", "release seat-A",
		}
		if diff := cmp.Diff(want, a.done); diff != "" {
			t.Errorf("what was done (-want +got):\n%s", diff)
		}
		if v.State != contracts.RunCompleted || nodeOf(t, v, "result").Summary != "rollback" {
			t.Errorf("the run is %s: %v", v.State, states(v))
		}
		gates := 0
		for _, n := range v.Nodes {
			if n.CompensatesNode == "" {
				continue
			}
			gates++
			if n.Attempts != 1 || n.State != contracts.NodeCompleted {
				t.Errorf("%s is %s after %d calls", n.NodeID, n.State, n.Attempts)
			}
			if strings.HasSuffix(n.Tool, ".refund") && !slices.ContainsFunc(n.Checks, func(c contracts.Check) bool { return c.OK && c.Name == "read_back" }) {
				t.Errorf("%s was not read back: %v", n.NodeID, n.Checks)
			}
		}
		if gates != 4 {
			t.Errorf("%d writes are taken back, and 4 were made", gates)
		}
		replayed, err := r.Replay(t.Context(), id)
		if err != nil || len(replayed.Differences) > 0 {
			t.Errorf("replay: %v %v", err, replayed.Differences)
		}
		s, err := w.store.LoadRun(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := execution.CompletedCall(s, "money"); contracts.CodeOf(err) != contracts.CodeConflict {
			t.Errorf("what was taken back can be undone once more: %v", err)
		}
	})
}

// TestALoopAroundARollbackTakesBackItsOwnRound checks that the second round does not undo again
// what the first has undone, and that the loop continues only after the rollback.
func TestALoopAroundARollbackTakesBackItsOwnRound(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := newAgency(t, w)
		r := w.runner()
		id := a.start(r, "travel.haggle", map[string]any{})
		v := a.answers(r, id, map[string][]any{"look": {"rollback", "rollback"}, "last": {"iterate: cheaper", "accept"}})
		if diff := cmp.Diff([]string{"pay 10", "refund pay-10 10", "pay 7", "refund pay-7 7"}, a.done); diff != "" {
			t.Errorf("what was done (-want +got):\n%s", diff)
		}
		if v.State != contracts.RunCompleted || nodeOf(t, v, "look-undo#2[0]").CompensatesNode != "money#2" {
			t.Errorf("the run is %s: %v", v.State, states(v))
		}
		if replayed, err := r.Replay(t.Context(), id); err != nil || len(replayed.Differences) > 0 {
			t.Errorf("replay: %v %v", err, replayed.Differences)
		}
	})
}

func TestWhatIsTakenBackWaitsForItsGateAndForTheOneBefore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := newAgency(t, w)
		r := w.runner()
		id := a.book(r)
		v := a.upTo(r, id, "rollback", "look-undo[0]")
		if len(v.Interrupts) != 1 || len(a.done) != 3 {
			t.Fatalf("one call asks, and nothing is done: %v, %v", v.Interrupts, a.done)
		}
		gate := v.Interrupts[0]
		if gate.Type != contracts.InterruptWriteApproval || gate.Action.Parameters["id"] != "pay-10" || gate.Action.Parameters["sum"] != 10.0 {
			t.Errorf("the gate shows %+v", gate.Action)
		}
		if !slices.Contains(gate.Requesters, "bob") {
			t.Errorf("who said rollback asks for it: %v", gate.Requesters)
		}
		if !slices.ContainsFunc(gate.Evidence, func(e contracts.EvidenceItem) bool { return e.NodeID == "money" && e.Value == "pay-10" }) {
			t.Errorf("the gate does not say what it rests on: %v", gate.Evidence)
		}
	})
}

func TestWhereTakingBackEndsTheRestStaysAndIsSaid(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fails  string
		answer contracts.Decision
		run    contracts.RunState
		node   contracts.NodeState
	}{
		"a gate is rejected": {"", contracts.DecisionReject, contracts.RunRejected, contracts.NodeRejected},
		"a call fails":       {"refund pay-10 10", contracts.DecisionApprove, contracts.RunFailed, contracts.NodeFailed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				a := newAgency(t, w)
				if tc.fails != "" {
					a.says[tc.fails] = &contracts.ToolError{Type: contracts.ErrPrecondition, Message: "too late", Effect: contracts.EffectNone}
				}
				r := w.runner()
				id := a.book(r)
				v := a.upTo(r, id, "rollback", "look-undo[0]")
				w.decide(r, v.Interrupts[0], contracts.Resume{Decision: tc.answer})
				v = w.ended(r, id)
				got := states(v)
				if v.State != tc.run || got["look-undo[0]"] != tc.node || got["look-undo[1]"] != contracts.NodeSkipped || got["look-undo"] != tc.node {
					t.Errorf("the run is %s: %v", v.State, got)
				}
				if len(a.done) != 3 {
					t.Errorf("done is %v", a.done)
				}
			})
		})
	}
}

// TestOneWriteIsNotUndoneWhileItsRunMayTakeItBack checks that from the review to the end of the run
// a single undo is refused, also between the answer "rollback" and its calls. Writes that the run
// has left can be undone after its end.
func TestOneWriteIsNotUndoneWhileItsRunMayTakeItBack(t *testing.T) {
	t.Parallel()
	for answer, left := range map[string]bool{"rollback": false, "accept": true} {
		t.Run(answer, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				a := newAgency(t, w)
				r := w.runner()
				id := a.book(r)
				v := a.upTo(r, id, answer, "look")
				undoable := func(when string, want bool) {
					t.Helper()
					s, err := w.store.LoadRun(t.Context(), id)
					if err != nil {
						t.Fatal(err)
					}
					for _, write := range []string{"money", "seats[0]", "seats[1]"} {
						_, _, err := execution.CompletedCall(s, write)
						if (err == nil) != want || err != nil && contracts.CodeOf(err) != contracts.CodeConflict {
							t.Errorf("%s %s: %v", when, write, err)
						}
					}
				}
				undoable("at the review", false)
				w.decide(r, v.Interrupts[0], contracts.Resume{Response: answer})
				for answer == "rollback" && v.State != contracts.RunCompleted {
					undoable("after an answer", false)
					v = a.until(r, id, "asking or over", func(v contracts.RunView) bool { return len(v.Interrupts) > 0 || v.State.Terminal() })
					if len(v.Interrupts) > 0 {
						w.decide(r, v.Interrupts[0], contracts.Resume{Decision: contracts.DecisionApprove})
					}
				}
				w.ended(r, id) // the state does not change any more
				undoable("after the end", left)
			})
		})
	}
}

// upTo answers the review once and approves gates before it, until a node asks.
func (a *agency) upTo(r *execution.Runner, id, answer, asks string) contracts.RunView {
	a.t.Helper()
	for {
		v := a.until(r, id, "asking", func(v contracts.RunView) bool { return len(v.Interrupts) > 0 })
		switch i := v.Interrupts[0]; {
		case i.NodeID == asks:
			return v
		case i.Type == contracts.InterruptWriteApproval:
			a.decide(r, i, contracts.Resume{Decision: contracts.DecisionApprove})
		default:
			a.decide(r, i, contracts.Resume{Response: answer})
		}
	}
}

func TestARollbackKilledAtEveryWriteTakesEachBackOnce(t *testing.T) { //nolint:tparallel // they share what the first has counted
	t.Parallel()
	says := map[string]any{"look": "rollback"}
	writes := 0
	t.Run("unharmed", func(t *testing.T) {
		bubbleNow(t, func(t *testing.T, w *world) {
			a := newAgency(t, w)
			k := executiontest.KillAt(w.store, 0, executiontest.Before)
			r := w.runnerOn(k)
			if !a.tell(t.Context(), r, a.book(r), says, k.Dead()) {
				t.Fatal("the run did not end")
			}
			writes = k.Writes()
		})
	})
	if writes < 15 {
		t.Fatalf("only %d writes to the store", writes)
	}
	for n, at := range moments(t, writes) {
		t.Run(fmt.Sprintf("killed %s write %d", at, n), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) { rolledBackOnce(t, newAgency(t, w), n, at, says) })
		})
	}
}

func rolledBackOnce(t *testing.T, a *agency, n int, at executiontest.Moment, says map[string]any) {
	t.Helper()
	ctx := t.Context()
	plan := a.planned("travel.book", map[string]any{"seats": []any{"A", "B"}})
	plan.RunID = "run_crash"
	k := executiontest.KillAt(a.store, n, at)
	first := a.runnerOn(k)
	go func() { _, _ = first.Submit(ctx, "s1", plan) }()
	time.Sleep(time.Second) // bubble time
	done := a.tell(ctx, first, plan.RunID, says, k.Dead())
	k.Bury()
	second := a.runner()
	if !done && !a.tell(ctx, second, plan.RunID, says, nil) {
		if _, err := second.Submit(ctx, "s1", plan); err != nil {
			t.Fatal(err)
		}
		a.tell(ctx, second, plan.RunID, says, nil)
	}
	v := a.ended(second, plan.RunID)
	if v.State != contracts.RunCompleted || len(a.done) != 6 || a.done[5] != "release seat-A" {
		t.Errorf("the run is %s, done is %v", v.State, a.done)
	}
	for key, times := range a.world.applied() {
		if times != 1 {
			t.Errorf("%s was done %d times", key, times)
		}
	}
}
