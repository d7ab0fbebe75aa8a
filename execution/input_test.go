package execution_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/executiontest"
)

// asksFor is a reply that asks before anything is executed.
func asksFor(effect contracts.Effect, questions ...contracts.InputQuestion) execution.Reply {
	return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{Summary: "it asks", Error: &contracts.ToolError{
		Type: contracts.ErrNeedsInput, Message: "it asks", Effect: effect,
		Needs: &contracts.InputRequest{Questions: questions, State: "kept"},
	}}}
}

func sizeAndColour() []contracts.InputQuestion {
	return []contracts.InputQuestion{
		{ID: "size", Prompt: "Which size?", Schema: map[string]any{"type": "integer", "minimum": 1}},
		{ID: "colour", Prompt: "Which colour?", Options: []contracts.InterruptOption{{ID: "1", Label: "Red", Value: "r"}}, Optional: true},
	}
}

// asking is a capability that asks for a size and a colour, and then continues.
func asking(effect contracts.Effect, then func(context.Context, execution.Call) execution.Reply) func(context.Context, execution.Call) execution.Reply {
	return func(ctx context.Context, c execution.Call) execution.Reply {
		if c.Context.Input == nil {
			return asksFor(effect, sizeAndColour()...)
		}
		return then(ctx, c)
	}
}

func (w *world) answer(r *execution.Runner, i contracts.Interrupt, response any) {
	w.t.Helper()
	w.decide(r, i, contracts.Resume{Response: response})
}

func TestAReadThatAsksGoesOnWithTheAnswersDaysLaterAndAfterARestart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("look", asking(contracts.EffectNone, func(_ context.Context, c execution.Call) execution.Reply {
			return facts(map[string]any{"state": c.Context.Input.State, "answers": c.Context.Input.Answers})
		}))
		first := w.runner()
		id := w.submit(first, w.node("n1", "look", map[string]any{"item": "a"}))
		size := w.gates(first, id, 1)["n1"]
		if size.Type != contracts.InterruptClarification || size.Prompt != "shop.look asks: Which size?" {
			t.Errorf("%s %q", size.Type, size.Prompt)
		}
		if _, err := first.Decide(t.Context(), size.InterruptID, contracts.Resume{Response: "huge"}, decision.Decider{ID: "bob", May: anybody}); contracts.CodeOf(err) != contracts.CodeInvalid {
			t.Errorf("an answer that does not fit is taken: %v", err)
		}
		w.answer(first, size, 3)
		w.until(first, id, "asked for the colour", func(v contracts.RunView) bool {
			return len(v.Interrupts) == 1 && v.Interrupts[0].InterruptID != size.InterruptID
		})
		if err := first.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(72 * time.Hour) // bubble time
		second := w.runner()
		w.answer(second, w.gates(second, id, 1)["n1"], "skip")
		v := w.ended(second, id)
		calls := w.callsOf("look")
		if v.State != contracts.RunCompleted || len(calls) != 2 {
			t.Fatalf("the run is %s after %d calls", v.State, len(calls))
		}
		if got := fmt.Sprint(calls[1].Context.Input, calls[1].Parameters); got != "&{kept map[size:3]} map[item:a]" {
			t.Error(got)
		}
	})
}

func TestQuestionsThatMayBeSkippedAreSkippedAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		colour := sizeAndColour()[1]
		questions := []contracts.InputQuestion{colour, colour, colour}
		questions[1].ID, questions[2].ID = "second", "third"
		w.read("look", func(_ context.Context, c execution.Call) execution.Reply {
			if c.Context.Input == nil {
				return asksFor(contracts.EffectNone, questions...)
			}
			return facts(nil)
		})
		r := w.runner()
		id := w.submit(r, w.node("n1", "look", nil))
		w.answer(r, w.gates(r, id, 1)["n1"], "skip rest")
		w.ended(r, id)
		if calls := w.callsOf("look"); len(calls) != 2 || len(calls[1].Context.Input.Answers) != 0 {
			t.Errorf("%d calls", len(calls))
		}
	})
}

// TestAWriteThatAsksIsApprovedWithTheAnswersAndDoneOnce checks that the answers are part of the
// approved action, that a person who answers is a contributor, and that the write has one effect.
func TestAWriteThatAsksIsApprovedWithTheAnswersAndDoneOnce(t *testing.T) {
	t.Parallel()
	for name, meta := range map[string]contracts.Metadata{"keyed": keyedWrite(), "unkeyed": unkeyed()} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.declare("order", meta, asking(contracts.EffectNone, w.applying))
				r := w.runner()
				id := w.submit(r, w.node("n1", "order", map[string]any{"item": "a"}))
				before := w.gates(r, id, 1)["n1"]
				w.decide(r, before, approve())
				asked := func(i contracts.Interrupt) contracts.Interrupt {
					v := w.until(r, id, "asking on", func(v contracts.RunView) bool {
						return len(v.Interrupts) == 1 && v.Interrupts[0].InterruptID != i.InterruptID
					})
					return v.Interrupts[0]
				}
				size := asked(before)
				w.answer(r, size, 3)
				colour := asked(size)
				w.answer(r, colour, "1")
				gate := asked(colour)
				if gate.Type != contracts.InterruptWriteApproval || gate.ActionSHA256 == before.ActionSHA256 || len(w.applied()) != 0 {
					t.Fatalf("%s, the same action: %v, effects %v", gate.Type, gate.ActionSHA256 == before.ActionSHA256, w.applied())
				}
				if shown := fmt.Sprint(gate.Action.Evidence); !strings.Contains(shown, "answer to Which size? 3") || !strings.Contains(shown, "answer to Which colour? r") {
					t.Errorf("the gate does not show the answers: %s", shown)
				}
				if !strings.Contains(fmt.Sprint(gate.Requesters), "bob") {
					t.Errorf("who answered has no part in it: %v", gate.Requesters)
				}
				w.decide(r, gate, approve())
				v := w.ended(r, id)
				if v.State != contracts.RunCompleted || len(w.applied()) != 1 || len(w.callsOf("order")) != 2 {
					t.Errorf("%s, effects %v after %d calls", v.State, w.applied(), len(w.callsOf("order")))
				}
			})
		})
	}
}

func TestAWriteThatAsksAfterItMayHaveDoneSomethingIsInDoubt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", unkeyed(), asking(contracts.EffectUnknown, w.applying))
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		w.decide(r, w.gates(r, id, 1)["n1"], approve())
		v := w.until(r, id, "in doubt", func(v contracts.RunView) bool { return states(v)["n1"] == contracts.NodeOutcomeUnknown })
		if len(w.callsOf("order")) != 1 || len(v.Interrupts) != 1 {
			t.Errorf("%d calls, asked %v", len(w.callsOf("order")), v.Interrupts)
		}
	})
}

func TestWhatCannotBeAskedFails(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reply execution.Reply
		want  string
	}{
		"no question":           {asksFor(contracts.EffectNone), "asks what cannot be asked"},
		"one without a text":    {asksFor(contracts.EffectNone, contracts.InputQuestion{ID: "a"}), "asks what cannot be asked"},
		"the same id twice":     {asksFor(contracts.EffectNone, contracts.InputQuestion{ID: "a", Prompt: "A?"}, contracts.InputQuestion{ID: "a", Prompt: "B?"}), "two questions"},
		"a schema that is none": {asksFor(contracts.EffectNone, contracts.InputQuestion{ID: "a", Prompt: "A?", Schema: map[string]any{"type": 7}}), "schema"},
		"a link that is none":   {asksFor(contracts.EffectNone, contracts.InputQuestion{ID: "a", Prompt: "A?", Link: "javascript:alert(1)"}), "link"},
		"the same for ever":     {asksFor(contracts.EffectNone, contracts.InputQuestion{ID: "a", Prompt: "A?"}), "again and again"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.read("look", func(context.Context, execution.Call) execution.Reply { return c.reply })
				r := w.runner()
				id := w.submit(r, w.node("n1", "look", nil))
				last := ""
				for {
					v := w.until(r, id, "asking, or ended", func(v contracts.RunView) bool {
						return v.State.Terminal() || len(v.Interrupts) == 1 && v.Interrupts[0].InterruptID != last
					})
					if v.State.Terminal() {
						if e := v.Nodes[0].Error; e == nil || !strings.Contains(e.Message, c.want) {
							t.Errorf("%+v", e)
						}
						return
					}
					last = v.Interrupts[0].InterruptID
					w.answer(r, v.Interrupts[0], "x")
				}
			})
		})
	}
}

// TestKilledAtEveryWriteWhileACallAsks checks that no answer is lost, and no write executed twice.
func TestKilledAtEveryWriteWhileACallAsks(t *testing.T) {
	t.Parallel()
	for _, kind := range []contracts.Idempotency{contracts.IdempotencyKeyed, contracts.IdempotencyNone} {
		for n, at := range moments(t, 20) {
			t.Run(fmt.Sprintf("%s killed %s write %d", kind, at, n), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					nodes := w.crashPlan(kind)[3:4]
					nodes[0].DependsOn = nil
					w.mu.Lock()
					w.caps["order"].do = asking(contracts.EffectNone, w.applying)
					w.mu.Unlock()
					k := executiontest.KillAt(w.store, n, at)
					first, plan := w.runnerOn(k), w.plan(nodes...)
					plan.RunID = "run_asks"
					submitted := make(chan struct{})
					go func() {
						defer close(submitted)
						_, _ = first.Submit(t.Context(), "s1", plan)
					}()
					select {
					case <-submitted:
					case <-k.Dead():
					}
					done := w.replies(first, plan.RunID, k.Dead())
					k.Bury()
					second := w.runner()
					if !done && !w.replies(second, plan.RunID, nil) { // the client never got an answer and asks again
						if _, err := second.Submit(t.Context(), "s1", plan); err != nil {
							t.Fatal(err)
						}
						w.replies(second, plan.RunID, nil)
					}
					if v := w.ended(second, plan.RunID); v.State != contracts.RunCompleted {
						t.Errorf("the run is %s", v.State)
					}
					if replayed, err := second.Replay(t.Context(), plan.RunID); err != nil || len(replayed.Differences) > 0 {
						t.Errorf("replay %+v, %v", replayed, err)
					}
					if got := w.applied(); len(got) != 1 {
						t.Errorf("%d effects: %v", len(got), got)
					}
					for _, c := range w.callsOf("order") {
						if in := c.Context.Input; in != nil && fmt.Sprint(in.Answers) != "map[colour:r size:3]" {
							t.Errorf("sent with %v", in.Answers)
						}
					}
				})
			})
		}
	}
}

// replies approves gates and answers questions, until the run has ended or its server is dead.
func (w *world) replies(r *execution.Runner, id string, dead <-chan struct{}) bool {
	w.t.Helper()
	return w.answers(w.t.Context(), r, id, dead, func(g contracts.Interrupt) contracts.Resume {
		switch {
		case g.Type.IsGate():
			return approval(g)
		case g.Type == contracts.InterruptOutcomeUnknown:
			w.t.Fatal("a call that only asked is in doubt")
		case strings.Contains(g.Prompt, "colour"):
			return contracts.Resume{Response: "1"}
		}
		return contracts.Resume{Response: 3}
	})
}

func TestTheProgressOfAcceptedWorkIsAnEvent(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		meta := contracts.Metadata{SideEffectClass: contracts.ClassRead, TimeoutMS: 60_000}
		w.declare("copy", meta, func(context.Context, execution.Call) execution.Reply {
			n := len(w.callsOf("copy"))
			if n > 3 {
				return facts(nil)
			}
			return execution.Reply{Kind: execution.ReplyAccepted, Operation: "op", Progress: &contracts.Progress{Done: float64(min(n, 2)), Total: 9, Message: "copying"}}
		})
		r := w.runner()
		id := w.submit(r, w.node("n1", "copy", nil))
		w.ended(r, id)
		events, err := w.store.Events(t.Context(), "s1", 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, e := range events {
			if e.Type == contracts.EventProgress {
				said = append(said, e.NodeID+" "+e.Summary)
			}
		}
		if got := fmt.Sprint(said); got != "[n1 1 of 9: copying n1 2 of 9: copying]" {
			t.Error(got)
		}
	})
}
