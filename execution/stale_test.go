package execution_test

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// edited is an object whose version others may change at any time; a write names the version that
// it was made for.
type edited struct{ version atomic.Int64 }

const concurrentEdit = "domain.concurrent_edit"

func (e *edited) now() string { return "v" + strconv.FormatInt(e.version.Load(), 10) }

func (e *edited) look(context.Context, execution.Call) execution.Reply {
	return facts(map[string]any{"base": []any{map[string]any{"value": e.now(), "label": e.now()}}})
}

func (e *edited) write(w *world) func(context.Context, execution.Call) execution.Reply {
	return func(_ context.Context, c execution.Call) execution.Reply {
		if c.Parameters["base"] == e.now() {
			return w.apply(c)
		}
		return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{
			Error: &contracts.ToolError{Type: concurrentEdit, Message: "the thing was changed meanwhile", Effect: contracts.EffectNone},
		}}
	}
}

// staleNodes look up a version, write with it, and read after it.
func (w *world) staleNodes(e *edited) []contracts.Node {
	w.read("look", e.look)
	w.read("after", answering(map[string]any{"seen": true}))
	w.declare("write", keyedWrite(), e.write(w))
	choice := contracts.Node{
		NodeID: "n2", Kind: contracts.KindHuman, Role: contracts.RolePreChoose, DependsOn: []string{"n1"}, Required: true,
		Human: &contracts.HumanStep{
			Interrupt: contracts.InterruptClarification, Prompt: "Which base?", OptionsFrom: "${steps.n1.facts.base}",
			Choose: contracts.ChooseAsk, Param: "base", ResponseSchema: map[string]any{"type": "string"},
		},
	}
	write := w.node("n3", "write", map[string]any{"base": "${steps.n2.facts.value}"}, "n2")
	write.On = []contracts.Rule{{
		Error: concurrentEdit, Goto: "n1", Max: contracts.MaxLookupRepeats, Region: []string{"n1", "n2", "n3"},
	}}
	return []contracts.Node{w.node("n1", "look", nil), choice, write, w.node("n4", "after", nil, "n3")}
}

func onlyGate(t *testing.T, w *world, r *execution.Runner, id string) contracts.Interrupt {
	t.Helper()
	for _, g := range w.gates(r, id, 1) {
		return g
	}
	return contracts.Interrupt{}
}

// TestWhatWasChangedBehindAGateIsAskedAboutAnew checks that a change between the gate and the
// approval is not overwritten; the difference is shown, and approved again.
func TestWhatWasChangedBehindAGateIsAskedAboutAnew(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		e := &edited{}
		nodes := w.staleNodes(e)
		r := w.runner()
		id := w.submit(r, nodes...)
		first := onlyGate(t, w, r, id)
		e.version.Store(1) // a colleague
		w.decide(r, first, contracts.Resume{Decision: contracts.DecisionApprove})
		second := onlyGate(t, w, r, id)
		if len(w.applied()) != 0 {
			t.Fatalf("it was written over the colleague's edit: %v", w.applied())
		}
		if second.ActionSHA256 == first.ActionSHA256 || !strings.HasPrefix(second.Reason, "stale_approval:") ||
			!strings.Contains(second.Reason, "the thing was changed meanwhile") {
			t.Errorf("the new gate says: %s", second.Reason)
		}
		changed := map[string]any{}
		for _, d := range second.Difference {
			changed[d.Pointer] = d.After
		}
		if changed["/parameters/base"] != "v1" {
			t.Errorf("the difference is %v", second.Difference)
		}
		w.decide(r, second, contracts.Resume{Decision: contracts.DecisionApprove})
		v := w.ended(r, id)
		if v.State != contracts.RunCompleted || len(w.applied()) != 1 || len(w.callsOf("after")) != 1 {
			t.Errorf("%s, writes %v, reads after it %d, nodes %v", v.State, w.applied(), len(w.callsOf("after")), states(v))
		}
		replay, err := r.Replay(t.Context(), id)
		if err != nil || len(replay.Differences) != 0 {
			t.Errorf("replay: %v %v", err, replay.Differences)
		}
	})
}

// TestWhoEditsFasterThanPeopleApproveIsToldSo checks that look-ups are repeated only a limited
// number of times.
func TestWhoEditsFasterThanPeopleApproveIsToldSo(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		e := &edited{}
		nodes := w.staleNodes(e)
		r := w.runner()
		id := w.submit(r, nodes...)
		for range contracts.MaxLookupRepeats + 1 {
			g := onlyGate(t, w, r, id)
			e.version.Add(1)
			w.decide(r, g, contracts.Resume{Decision: contracts.DecisionApprove})
		}
		v := w.ended(r, id)
		if v.State != contracts.RunFailed || len(w.applied()) != 0 || len(w.callsOf("after")) != 0 {
			t.Errorf("%s, writes %v, reads after it %d", v.State, w.applied(), len(w.callsOf("after")))
		}
	})
}

// TestARejectedSecondLookIsTheEnd checks that the first approval does not count for the second
// gate.
func TestARejectedSecondLookIsTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		e := &edited{}
		nodes := w.staleNodes(e)
		r := w.runner()
		id := w.submit(r, nodes...)
		g := onlyGate(t, w, r, id)
		e.version.Store(1)
		w.decide(r, g, contracts.Resume{Decision: contracts.DecisionApprove})
		w.decide(r, onlyGate(t, w, r, id), contracts.Resume{Decision: contracts.DecisionReject})
		if v := w.ended(r, id); len(w.applied()) != 0 || v.State == contracts.RunCompleted {
			t.Errorf("%s, writes %v", v.State, w.applied())
		}
	})
}
