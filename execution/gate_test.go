package execution_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
)

func TestApprovalIsBoundToWhatRuns(t *testing.T) {
	t.Parallel()
	change := map[string]struct {
		do      func(w *world)
		pointer string
	}{
		"a capability that changed needs a new approval that shows the difference": {
			do: func(w *world) {
				m := keyedWrite()
				m.RiskLevel = contracts.RiskHigh
				w.declare("order", m, w.applying)
			},
			pointer: "/capability_digest",
		},
		"a policy that became stricter needs a new approval": {
			do: func(w *world) {
				m := keyedWrite()
				m.Approval = &contracts.ApprovalRule{Quorum: 2}
				w.declare("order", m, w.applying)
			},
			pointer: "/policy/approval/quorum",
		},
	}
	for name, c := range change {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				started, goOn := make(chan struct{}, 2), make(chan struct{})
				w.declare("other", keyedWrite(), func(_ context.Context, call execution.Call) execution.Reply {
					started <- struct{}{}
					<-goOn
					return w.apply(call)
				})
				w.declare("order", keyedWrite(), w.applying)
				r := w.runner()
				id := w.submit(r, w.node("n1", "other", nil), w.node("n2", "order", map[string]any{"item": "a"}))
				open := w.gates(r, id, 2)
				w.decide(r, open["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
				<-started // n2 must wait now, although it is approved
				w.decide(r, open["n2"], contracts.Resume{Decision: contracts.DecisionApprove})
				w.until(r, id, "queued behind n1", func(v contracts.RunView) bool { return states(v)["n2"] == contracts.NodeQueued })
				c.do(w)
				close(goOn)
				again := w.gates(r, id, 1)["n2"]
				if len(w.callsOf("order")) != 0 {
					t.Fatal("it was sent on a stale approval")
				}
				if again.ActionSHA256 == open["n2"].ActionSHA256 || again.Code == open["n2"].Code {
					t.Error("the new gate has the old hash or code")
				}
				if !hasPointer(again.Difference, c.pointer) {
					t.Errorf("difference %+v does not name %s", again.Difference, c.pointer)
				}
				if _, err := r.Decide(t.Context(), open["n2"].InterruptID, contracts.Resume{
					Decision: contracts.DecisionApprove, ActionSHA256: open["n2"].ActionSHA256,
				}, decision.Decider{ID: "eve", May: anybody}); contracts.CodeOf(err) != contracts.CodeConflict {
					t.Errorf("deciding the old gate again: %v, want conflict", err)
				}
			})
		})
	}
}

func hasPointer(diff []contracts.FieldDifference, pointer string) bool {
	for _, d := range diff {
		if d.Pointer == pointer {
			return true
		}
	}
	return false
}

func TestEditSupersedesAndNeverApproves(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", map[string]any{"item": "a"}))
		first := w.gates(r, id, 1)["n1"]
		w.decide(r, first, contracts.Resume{Decision: contracts.DecisionEdit, EditedParams: map[string]any{"item": "b"}})
		second := w.until(r, id, "asked again", func(v contracts.RunView) bool {
			return len(v.Interrupts) == 1 && v.Interrupts[0].InterruptID != first.InterruptID
		}).Interrupts[0]
		if second.Action.Parameters["item"] != "b" || !hasPointer(second.Difference, "/parameters/item") {
			t.Errorf("the new gate shows %v with difference %v", second.Action.Parameters, second.Difference)
		}
		if diff := cmp.Diff([]string{"ana", "bob"}, second.Requesters); diff != "" {
			t.Errorf("requesters (-want +got):\n%s", diff)
		}
		w.decide(r, second, contracts.Resume{Decision: contracts.DecisionApprove})
		w.ended(r, id)
		if got := w.callsOf("order")[0].Parameters["item"]; got != "b" {
			t.Errorf("sent item %v", got)
		}
	})
}

func TestWrongDecisionsAreRefused(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		g := w.gates(r, id, 1)["n1"]
		cases := map[string]struct {
			body contracts.Resume
			may  func(contracts.Interrupt, contracts.Decision) error
			want contracts.Code
		}{
			"an approval of another action":    {contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: "00"}, anybody, contracts.CodeStaleApproval},
			"an approval that names no action": {contracts.Resume{Decision: contracts.DecisionApprove}, anybody, contracts.CodeInvalid},
			"a word that is no decision":       {contracts.Resume{Decision: "yes"}, anybody, contracts.CodeInvalid},
			"an edit without parameters":       {contracts.Resume{Decision: contracts.DecisionEdit}, anybody, contracts.CodeInvalid},
			"an answer in place of a decision": {contracts.Resume{Response: "approve"}, anybody, contracts.CodeInvalid},
			"somebody who may not": {
				contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: g.ActionSHA256},
				func(contracts.Interrupt, contracts.Decision) error {
					return contracts.Errorf(contracts.CodeForbidden, "no")
				},
				contracts.CodeForbidden,
			},
		}
		for name, c := range cases {
			_, err := r.Decide(t.Context(), g.InterruptID, c.body, decision.Decider{ID: "eve", May: c.may})
			if got := contracts.CodeOf(err); got != c.want {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
		if len(w.callsOf("order")) != 0 || w.gates(r, id, 1)["n1"].InterruptID != g.InterruptID {
			t.Error("a refused decision changed something")
		}
	})
}

func TestGateExpiresOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		m := keyedWrite()
		m.Approval = &contracts.ApprovalRule{ExpiresS: 3600}
		w.declare("order", m, w.applying)
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		g := w.gates(r, id, 1)["n1"]
		time.Sleep(time.Hour + time.Minute) // bubble time
		v := w.ended(r, id)
		if v.State != contracts.RunRejected || v.Nodes[0].Error.Message != "the approval expired" {
			t.Errorf("state %s, error %+v", v.State, v.Nodes[0].Error)
		}
		_, err := r.Decide(t.Context(), g.InterruptID, contracts.Resume{
			Decision: contracts.DecisionApprove, ActionSHA256: g.ActionSHA256,
		}, decision.Decider{ID: "bob", May: anybody})
		if contracts.CodeOf(err) != contracts.CodeConflict {
			t.Errorf("approving an expired gate: %v, want conflict", err)
		}
	})
}

func TestQuorumNeedsSeveralPeople(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		m := keyedWrite()
		m.Approval = &contracts.ApprovalRule{Quorum: 2}
		w.declare("order", m, w.applying)
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		g := w.gates(r, id, 1)["n1"]
		if got := w.decide(r, g, contracts.Resume{Decision: contracts.DecisionApprove}); got.Status != contracts.InterruptOpen {
			t.Fatalf("status %s after one of two approvals", got.Status)
		}
		if len(w.callsOf("order")) != 0 {
			t.Fatal("sent after one of two approvals")
		}
		w.decide(r, g, contracts.Resume{Decision: contracts.DecisionApprove})
		if v := w.ended(r, id); v.State != contracts.RunCompleted {
			t.Errorf("state %s", v.State)
		}
	})
}

func TestGateIsDecidedWhileAReadIsRunning(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		w.read("slow", func(context.Context, execution.Call) execution.Reply {
			time.Sleep(5 * time.Second) // bubble time
			return facts(nil)
		})
		r := w.runner()
		id := w.submit(r, w.node("n1", "slow", nil), w.node("n2", "order", nil))
		w.decide(r, w.gates(r, id, 1)["n2"], contracts.Resume{Decision: contracts.DecisionApprove})
		w.until(r, id, "written while reading", func(v contracts.RunView) bool {
			s := states(v)
			return s["n2"] == contracts.NodeCompleted && s["n1"] == contracts.NodeRunning
		})
		w.ended(r, id)
	})
}

func TestGoneCapabilityAsksAPerson(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		r := w.runner()
		id := w.submit(r, w.node("n1", "order", nil))
		g := w.gates(r, id, 1)["n1"]
		w.mu.Lock()
		gone := w.caps["order"]
		delete(w.caps, "order")
		w.rebuild()
		w.mu.Unlock()
		w.decide(r, g, contracts.Resume{Decision: contracts.DecisionApprove})
		asked := w.until(r, id, "asking", func(v contracts.RunView) bool {
			return len(v.Interrupts) == 1 && v.Interrupts[0].Type == contracts.InterruptCapabilityChanged
		}).Interrupts[0]
		w.mu.Lock()
		w.caps["order"] = gone
		w.rebuild()
		w.mu.Unlock()
		w.decide(r, asked, contracts.Resume{Response: contracts.AnswerRetry})
		if v := w.ended(r, id); v.State != contracts.RunCompleted {
			t.Errorf("state %s", v.State)
		}
	})
}

// A run may be taken by a server that does not have a domain yet which another server has just
// registered. It refreshes its catalog before it asks a person about a missing capability.
func TestAServerThatLagsBehindAsksNobody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		w.read("peek", answering(nil))
		w.read("slow", func(context.Context, execution.Call) execution.Reply {
			time.Sleep(time.Second)
			return facts(nil)
		})
		r := w.runner()
		id := w.submit(r, w.node("n1", "slow", nil), w.node("n2", "peek", nil, "n1"), w.node("n3", "order", nil))
		gate := w.gates(r, id, 1)["n3"]
		w.mu.Lock()
		order, peek := w.caps["order"], w.caps["peek"]
		delete(w.caps, "order")
		delete(w.caps, "peek")
		w.rebuild()
		w.learned = func() {
			w.caps["order"], w.caps["peek"] = order, peek
			w.rebuild()
		}
		w.mu.Unlock()
		w.decide(r, gate, contracts.Resume{Decision: contracts.DecisionApprove})
		if v := w.ended(r, id); v.State != contracts.RunCompleted {
			t.Errorf("state %s: %v", v.State, states(v))
		}
	})
}

func TestEditKeepsTheEvidenceOfWhatItDidNotTouch(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		w.read("search", answering(map[string]any{"matches": []any{match("w1", "Ana of the third floor")}}))
		r := w.runner()
		id := w.submit(r,
			w.node("n1", "search", nil), choose(contracts.ChooseAsk),
			w.node("n3", "order", map[string]any{"who": "${steps.n2.facts.value}", "n": 1}, "n2"))
		first := w.gates(r, id, 1)["n3"]
		w.decide(r, first, contracts.Resume{Decision: contracts.DecisionEdit, EditedParams: map[string]any{"who": "w1", "n": 2}})
		second := w.until(r, id, "asked again", func(v contracts.RunView) bool {
			return len(v.Interrupts) == 1 && v.Interrupts[0].InterruptID != first.InterruptID
		}).Interrupts[0]
		if want := "Order in Shop? n: 2; who: Ana of the third floor"; second.Prompt != want {
			t.Errorf("prompt %q, want %q", second.Prompt, want)
		}
		if len(second.Evidence) != 2 {
			t.Errorf("evidence %+v", second.Evidence)
		}
	})
}

// TestTheVerdictSaysWhatTheRunTook compares the metrics in the verdict of ended runs with those of
// the whole run, with and without human wait time.
func TestTheVerdictSaysWhatTheRunTook(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		w.read("look", func(context.Context, execution.Call) execution.Reply {
			time.Sleep(3 * time.Second)
			return facts(nil)
		})
		r := w.runner()
		alone := w.ended(r, w.submit(r, w.node("n1", "look", nil)))
		id := w.submit(r, w.node("n1", "look", nil), w.node("n2", "order", nil, "n1"))
		gate := w.gates(r, id, 1)["n2"]
		time.Sleep(time.Hour)
		w.decide(r, gate, contracts.Resume{Decision: contracts.DecisionApprove})
		asked := w.ended(r, id)
		for name, v := range map[string]contracts.RunView{"alone": alone, "asked": asked} {
			if v.Verdict == nil || v.Verdict.Timing == nil || *v.Verdict.Timing != v.Timing {
				t.Errorf("%s: verdict %+v, the run took %+v", name, v.Verdict, v.Timing)
			}
		}
		if alone.Timing.HumanMS != 0 || asked.Timing.HumanMS < time.Hour.Milliseconds() {
			t.Errorf("waited for people: %+v, %+v", alone.Timing, asked.Timing)
		}
	})
}

// TestALongValueIsCutWithinItsQuotationMarks checks values that a prompt shows in part.
func TestALongValueIsCutWithinItsQuotationMarks(t *testing.T) {
	t.Parallel()
	for value, shown := range map[string]string{
		"2 days; the rest":                 `"2 days; the rest"`,
		"2 days" + strings.Repeat(";", 90): `"2 days` + strings.Repeat(";", 71) + `…"`,
		strings.Repeat("ab", 60):           strings.Repeat("ab", 39) + "a…",
		strings.Repeat("a", 85) + ";":      strings.Repeat("a", 79) + "…",
		strings.Repeat(`";`, 60):           `"` + strings.Repeat(`\";`, 25) + `\"…"`,
	} {
		t.Run(value, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.declare("order", keyedWrite(), w.applying)
				r := w.runner()
				gate := w.gates(r, w.submit(r, w.node("n1", "order", map[string]any{"plan": value, "start": "Monday"})), 1)["n1"]
				if want := "Order in Shop? plan: " + shown + "; start: Monday"; gate.Prompt != want {
					t.Errorf("prompt\n%s, want\n%s", gate.Prompt, want)
				}
			})
		})
	}
}

func TestGoneInstanceIsNeverWrittenTo(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		w.instances("north", "south")
		r := w.runner()
		n := w.node("n1", "order", nil)
		n.Instance = "north"
		id := w.submit(r, n)
		g := w.gates(r, id, 1)["n1"]
		w.instances("south")
		w.decide(r, g, contracts.Resume{Decision: contracts.DecisionApprove})
		w.until(r, id, "asking", func(v contracts.RunView) bool {
			return len(v.Interrupts) == 1 && v.Interrupts[0].Type == contracts.InterruptCapabilityChanged
		})
		if got := len(w.callsOf("order")); got != 0 {
			t.Errorf("written %d times to an instance that is gone", got)
		}
	})
}
