package execution_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

func keyedWrite() contracts.Metadata {
	return contracts.Metadata{
		SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: contracts.IdempotencyKeyed,
		RiskLevel: contracts.RiskMedium, TimeoutMS: 2000,
	}
}

func (w *world) applying(_ context.Context, c execution.Call) execution.Reply { return w.apply(c) }

func TestReadsJoinAndFinish(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("price", func(_ context.Context, c execution.Call) execution.Reply {
			return facts(map[string]any{"symbol": c.Parameters["symbol"]})
		})
		r := w.runner()
		id := w.submit(r,
			w.node("n1", "price", map[string]any{"symbol": "A"}),
			w.node("n2", "price", map[string]any{"symbol": "B"}),
			join("n3", "n1", "n2"),
			w.node("n4", "price", map[string]any{"symbol": "${steps.n3.facts.items[1].facts.symbol}"}, "n3"),
		)
		v := w.ended(r, id)
		if v.State != contracts.RunCompleted || v.Verdict.Status != contracts.VerdictVerified {
			t.Fatalf("state %s, verdict %+v", v.State, v.Verdict)
		}
		if got := v.Nodes[3].Facts["symbol"]; got != "B" {
			t.Errorf("n4 read %v from the join, want B", got)
		}
	})
}

func TestThreeGatesAreDecidedEachOnItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("order", keyedWrite(), w.applying)
		w.read("stock", answering(map[string]any{"n": 1}))
		r := w.runner()
		id := w.submit(r,
			w.node("n1", "order", map[string]any{"item": "a"}),
			w.node("n2", "order", map[string]any{"item": "b"}),
			w.node("n3", "order", map[string]any{"item": "c"}),
			w.node("n4", "stock", nil, "n3"),
		)
		open := w.gates(r, id, 3)
		w.decide(r, open["n2"], contracts.Resume{Decision: contracts.DecisionApprove})
		w.decide(r, open["n3"], contracts.Resume{Decision: contracts.DecisionReject, Comment: "no"})
		v := w.until(r, id, "half decided", func(v contracts.RunView) bool {
			s := states(v)
			return s["n2"].Terminal() && s["n3"].Terminal()
		})
		want := map[string]contracts.NodeState{
			"n1": contracts.NodeAwaitingApproval, "n2": contracts.NodeCompleted,
			"n3": contracts.NodeRejected, "n4": contracts.NodeSkipped,
		}
		if diff := cmp.Diff(want, states(v)); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		if got := w.gates(r, id, 1)["n1"].InterruptID; got != open["n1"].InterruptID {
			t.Errorf("the third gate changed its id from %s to %s", open["n1"].InterruptID, got)
		}
		w.decide(r, open["n1"], contracts.Resume{Decision: contracts.DecisionApprove})
		if v := w.ended(r, id); v.State != contracts.RunRejected {
			t.Errorf("state %s, want rejected", v.State)
		}
		if diff := cmp.Diff(map[string]int{id + "/n1/1": 1, id + "/n2/1": 1}, w.applied()); diff != "" {
			t.Errorf("effects (-want +got):\n%s", diff)
		}
	})
}

// TestAFollowUpTellsWhatAListCameTo checks that the summary of a join has the results of its
// members, up to the length of a summary, and that their facts can be read by name.
func TestAFollowUpTellsWhatAListCameTo(t *testing.T) {
	t.Parallel()
	price := func(_ context.Context, c execution.Call) execution.Reply {
		symbol, _ := c.Parameters["symbol"].(string)
		if symbol == "gone" {
			return execution.Reply{Kind: execution.ReplyInvalid, Message: "no such symbol"}
		}
		return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{
			OK: true, Summary: symbol + " is at 40 USD", Facts: map[string]any{"symbol": symbol, "price": 40.0},
		}}
	}
	many := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprintf("S%02d", i)
	}
	cases := map[string]struct {
		symbols []string
		message string
		prices  any
	}{
		"all of them":             {[]string{"A", "B"}, "A is at 40 USD; B is at 40 USD", []any{40.0, 40.0}},
		"one that was not found":  {[]string{"A", "gone", "B"}, "2 of 3: A is at 40 USD; B is at 40 USD", []any{40.0, 40.0}},
		"more than a summary can": {many, joined(many[:16]) + "; and 14 more", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.read("price", price)
				w.read("notify", func(_ context.Context, c execution.Call) execution.Reply { return facts(c.Parameters) })
				var nodes []contracts.Node
				var ids []string
				for i, symbol := range c.symbols {
					n := w.node(fmt.Sprint("p", i), "price", map[string]any{"symbol": symbol})
					n.Required = false
					nodes, ids = append(nodes, n), append(ids, n.NodeID)
				}
				nodes = append(nodes, join("all", ids...),
					w.node("tell", "notify", map[string]any{"message": "${steps.all.summary}", "prices": "${steps.all.facts.price}"}, "all"))
				r := w.runner()
				v := w.ended(r, w.submit(r, nodes...))
				told := v.Nodes[len(v.Nodes)-1].Facts
				message, _ := told["message"].(string)
				if message != c.message || len([]rune(message)) > contracts.MaxSummaryChars {
					t.Errorf("told %q (%d characters), want %q", message, len([]rune(message)), c.message)
				}
				if c.prices != nil && !cmp.Equal(told["prices"], c.prices) {
					t.Errorf("prices %v, want %v", told["prices"], c.prices)
				}
			})
		})
	}
}

// TestAConditionOnAListIsOneOnItsMembers checks that a follow-up with a condition on a price runs
// if one of several prices meets it, and that its text has the prices, not JSON.
func TestAConditionOnAListIsOneOnItsMembers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prices  []any
		message string // "" for none
	}{
		"one is high enough":  {[]any{12.5, 45.0}, "prices: 12.5, 45"},
		"none is high enough": {[]any{12.5, 39.0}, ""},
		"a list of one":       {[]any{40.0}, "prices: 40"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.read("price", func(_ context.Context, c execution.Call) execution.Reply { return facts(c.Parameters) })
				w.read("notify", func(_ context.Context, c execution.Call) execution.Reply { return facts(c.Parameters) })
				var nodes []contracts.Node
				var ids []string
				for i, price := range c.prices {
					n := w.node(fmt.Sprint("p", i), "price", map[string]any{"price": price})
					nodes, ids = append(nodes, n), append(ids, n.NodeID)
				}
				tell := w.node("tell", "notify", map[string]any{"message": "prices: ${steps.all.facts.price}"}, "all")
				tell.When, tell.Required = &contracts.Condition{Path: "steps.all.facts.price", GTE: new(any(40))}, false
				r := w.runner()
				v := w.ended(r, w.submit(r, append(nodes, join("all", ids...), tell)...))
				told := v.Nodes[len(v.Nodes)-1]
				if message, _ := told.Facts["message"].(string); message != c.message || (told.State == contracts.NodeSkipped) != (c.message == "") {
					t.Errorf("%s, told %q, want %q", told.State, message, c.message)
				}
			})
		})
	}
}

func joined(symbols []string) string {
	texts := make([]string, len(symbols))
	for i, s := range symbols {
		texts[i] = s + " is at 40 USD"
	}
	return strings.Join(texts, "; ")
}
