package execution_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
)

// choose is the node n2, a choice among the results of n1.
func choose(rule contracts.Choose) contracts.Node {
	return contracts.Node{
		NodeID: "n2", Kind: contracts.KindHuman, Role: contracts.RolePreChoose, DependsOn: []string{"n1"}, Required: true,
		Human: &contracts.HumanStep{
			Interrupt: contracts.InterruptClarification, Prompt: "Which one?", OptionsFrom: "${steps.n1.facts.matches}", Choose: rule, Param: "who",
			ResponseSchema: map[string]any{"type": "string", "pattern": "^w[0-9]$"},
		},
	}
}

func match(value, label string) map[string]any { return map[string]any{"value": value, "label": label} }

func TestChooseNodeAsksOnlyWhenItMust(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		matches []any
		rule    contracts.Choose
		answer  any
		want    any
	}{
		"one match is taken":                 {[]any{match("w1", "Ana")}, contracts.ChooseAsk, nil, "w1"},
		"several are asked by label":         {[]any{match("w1", "Ana"), match("w2", "Bea")}, contracts.ChooseAsk, "bea", "w2"},
		"several are asked by number":        {[]any{match("w1", "Ana"), match("w2", "Bea")}, contracts.ChooseAsk, "1", "w1"},
		"a bare number by its digits":        {[]any{12345678.0, 87654321.0}, contracts.ChooseAsk, "87654321", 87654321.0},
		"the first is taken where declared":  {[]any{match("w1", "Ana"), match("w2", "Bea")}, contracts.ChooseFirst, nil, "w1"},
		"none is asked for the value itself": {[]any{}, contracts.ChooseAsk, "w7", "w7"},
		"several fail where declared":        {[]any{match("w1", "Ana"), match("w2", "Bea")}, contracts.ChooseFail, nil, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.read("search", answering(map[string]any{"matches": c.matches}))
				w.read("get", func(_ context.Context, call execution.Call) execution.Reply {
					return facts(map[string]any{"who": call.Parameters["who"]})
				})
				r := w.runner()
				id := w.submit(r,
					w.node("n1", "search", nil), choose(c.rule),
					w.node("n3", "get", map[string]any{"who": "${steps.n2.facts.value}"}, "n2"))
				if c.answer != nil {
					g := w.gates(r, id, 1)["n2"]
					if _, err := r.Decide(t.Context(), g.InterruptID, contracts.Resume{Response: "nobody"},
						decision.Decider{ID: "ana", May: anybody}); contracts.CodeOf(err) != contracts.CodeInvalid {
						t.Errorf("an answer that fits nothing: %v", err)
					}
					w.decide(r, g, contracts.Resume{Response: c.answer})
				}
				v := w.ended(r, id)
				if got := v.Nodes[2].Facts["who"]; got != c.want {
					t.Errorf("got %v, want %v (state %s)", got, c.want, v.State)
				}
			})
		})
	}
}

// TestOnlyAWriteAsksAboutANameThatIsOnlyNear checks that a match which the search declares inexact
// is taken for a read, and asked about for a write.
func TestOnlyAWriteAsksAboutANameThatIsOnlyNear(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		near := match("w1", "Ana")
		near["exact"] = false
		w.read("search", answering(map[string]any{"matches": []any{near}}))
		who := func(_ context.Context, call execution.Call) execution.Reply {
			return facts(map[string]any{"who": call.Parameters["who"]})
		}
		w.read("get", who)
		w.declare("put", contracts.Metadata{ApprovalRequired: new(false), SideEffectClass: contracts.ClassWriteReversible, RiskLevel: contracts.RiskLow}, who)
		r := w.runner()
		params := map[string]any{"who": "${steps.n2.facts.value}"}
		read := w.submit(r, w.node("n1", "search", nil), choose(contracts.ChooseAsk), w.node("n3", "get", params, "n2"))
		if v := w.ended(r, read); v.Nodes[2].Facts["who"] != "w1" {
			t.Errorf("the read got %v", v.Nodes[2].Facts)
		}
		write := w.submit(r, w.node("n1", "search", nil), choose(contracts.ChooseAsk), w.node("n3", "put", params, "n2"))
		gate := w.gates(r, write, 1)["n2"]
		if gate.Type != contracts.InterruptClarification || len(gate.Options) != 1 {
			t.Errorf("the write asks %+v", gate)
		}
	})
}

// TestAWriteAsksWhetherOneNearNameIsMeant checks matches of a search that does not declare whether
// they are exact: they are compared with the search text. One near name is a question for a write,
// which can be answered with yes, and never for a read.
func TestAWriteAsksWhetherOneNearNameIsMeant(t *testing.T) {
	t.Parallel()
	for query, asks := range map[string]bool{
		"Helena Duarte": false, "helena": false, "DUARTE": false, "w-12": false,
		"Helen Duarte": true, "Elena": true, "Helena Duarte Costa": true,
	} {
		t.Run(query, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.read("search", answering(map[string]any{"matches": []any{map[string]any{"value": "w-12", "label": "Helena Duarte, Counsel", "name": "Helena Duarte"}}}))
				who := func(_ context.Context, call execution.Call) execution.Reply {
					return facts(map[string]any{"who": call.Parameters["who"]})
				}
				w.read("get", who)
				w.declare("put", contracts.Metadata{ApprovalRequired: new(false), SideEffectClass: contracts.ClassWriteReversible, RiskLevel: contracts.RiskLow}, who)
				r := w.runner()
				submit := func(capability string) string {
					search := w.node("n1", "search", map[string]any{"query": query})
					search.Role = contracts.RolePreSearch
					return w.submit(r, search, choose(contracts.ChooseAsk), w.node("n3", capability, map[string]any{"who": "${steps.n2.facts.value}"}, "n2"))
				}
				if v := w.ended(r, submit("get")); v.Nodes[2].Facts["who"] != "w-12" {
					t.Errorf("the read got %v", v.Nodes[2].Facts)
				}
				write := submit("put")
				if asks {
					gate := w.gates(r, write, 1)["n2"]
					if !strings.Contains(gate.Prompt, "Did you mean Helena Duarte") || len(gate.Options) != 1 {
						t.Errorf("the write asks %+v", gate)
					}
					w.decide(r, gate, contracts.Resume{Response: gate.Options[0].ID})
				}
				if v := w.ended(r, write); v.Nodes[2].Facts["who"] != "w-12" {
					t.Errorf("the write got %v", v.Nodes[2].Facts)
				}
			})
		})
	}
}

// TestANameThatStandsWholeInTheSentence checks that if a part of a name was searched for, and the
// sentence has the whole name, that match is taken and no other.
func TestANameThatStandsWholeInTheSentence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sentence string // the sentence with "Sales"
		found    []string
		class    contracts.WordClass // of the next word
		want     string              // "" means a question
	}{
		"whole":                          {"the Sales agent", []string{"Sales Agent", "Sales desk"}, contracts.WordCommand, "Sales Agent"},
		"the only one, and whole":        {"the Sales agent", []string{"Sales Agent"}, contracts.WordCommand, "Sales Agent"},
		"only near":                      {"the Sales agent", []string{"Sales desk"}, contracts.WordCommand, ""},
		"a part of a longer word":        {"the Sales agents", []string{"Sales agent"}, contracts.WordCommand, ""},
		"two of that name":               {"the Sales agent", []string{"Sales agent", "Sales agent"}, contracts.WordCommand, ""},
		"one within the other":           {"the big Sales agent", []string{"Sales agent", "big Sales agent"}, contracts.WordCommand, ""},
		"the rest is another request":    {"the Sales agent", []string{"Sales agent"}, contracts.WordOther, ""},
		"it begins before what was read": {"the big Sales agent", []string{"big Sales agent"}, contracts.WordUnresolved, "big Sales agent"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				var matches []any
				for _, name := range c.found {
					matches = append(matches, map[string]any{"value": name, "label": name, "name": name, "exact": false})
				}
				w.read("search", answering(map[string]any{"matches": matches}))
				w.declare("put", contracts.Metadata{ApprovalRequired: new(false), SideEffectClass: contracts.ClassWriteReversible, RiskLevel: contracts.RiskLow},
					func(_ context.Context, call execution.Call) execution.Reply {
						return facts(map[string]any{"who": call.Parameters["who"]})
					})
				search := w.node("n1", "search", map[string]any{"query": "Sales"})
				search.Role = contracts.RolePreSearch
				put := w.node("n3", "put", map[string]any{"who": "${steps.n2.facts.value}"}, "n2")
				at := strings.Index(c.sentence, "Sales")
				put.Utterance = &contracts.Utterance{Text: c.sentence, Words: []contracts.WordUse{
					{Span: [2]int{0, at}, Class: contracts.WordCommand},
					{Span: [2]int{at, at + len("Sales")}, Class: contracts.WordValue, Parameter: "who"},
					{Span: [2]int{at + len("Sales "), len(c.sentence)}, Class: c.class},
				}}
				r := w.runner()
				id := w.submit(r, search, choose(contracts.ChooseAsk), put)
				if c.want == "" {
					if gate := w.gates(r, id, 1)["n2"]; len(gate.Options) == 0 {
						t.Errorf("it asks %+v", gate)
					}
					return
				}
				if v := w.ended(r, id); v.Nodes[2].Facts["who"] != c.want {
					t.Errorf("it got %v", v.Nodes[2].Facts)
				}
			})
		})
	}
}

func TestForEachExpandsAndJoins(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("list", answering(map[string]any{"ids": []any{"a", "b", "c"}}))
		w.read("get", func(_ context.Context, c execution.Call) execution.Reply {
			if c.Parameters["id"] == "b" {
				return execution.Reply{Kind: execution.ReplyInvalid, Message: "no such id"}
			}
			return facts(map[string]any{"id": c.Parameters["id"]})
		})
		r := w.runner()
		each := w.node("n2", "get", map[string]any{"id": "${item}"}, "n1")
		each.ForEach = &contracts.ForEach{Items: "${steps.n1.facts.ids}", MaxConcurrency: 2}
		after := w.node("n3", "get", map[string]any{"id": "${steps.n2.facts.items[2].facts.id}"}, "n2")
		id := w.submit(r, w.node("n1", "list", nil), each, after)
		v := w.ended(r, id)
		want := map[string]contracts.NodeState{
			"n1": contracts.NodeCompleted, "n2": contracts.NodeCompleted, "n3": contracts.NodeCompleted,
			"n2[0]": contracts.NodeCompleted, "n2[1]": contracts.NodeFailed, "n2[2]": contracts.NodeCompleted,
		}
		if diff := cmp.Diff(want, states(v)); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		if v.State != contracts.RunDegraded || v.Verdict.Status != contracts.VerdictDegraded {
			t.Errorf("state %s, verdict %s", v.State, v.Verdict.Status)
		}
		if got := v.Nodes[2].Facts["id"]; got != "c" {
			t.Errorf("n3 read %v", got)
		}
		if replayed, err := r.Replay(t.Context(), id); err != nil || len(replayed.Differences) > 0 {
			t.Errorf("replay %+v, %v", replayed, err)
		}
	})
}

func TestLimitsBoundWhatRunsAtOnce(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		meta  contracts.Metadata
		group int
		most  int64
	}{
		"no limit runs all":                        {contracts.Metadata{SideEffectClass: contracts.ClassRead}, 0, 12},
		"the capability's own limit":               {contracts.Metadata{SideEffectClass: contracts.ClassRead, MaxConcurrency: 3}, 0, 3},
		"the array rule's limit":                   {contracts.Metadata{SideEffectClass: contracts.ClassRead, MaxConcurrency: 8}, 4, 4},
		"a sequential read goes one at a time":     {contracts.Metadata{SideEffectClass: contracts.ClassRead, ExecutionMode: contracts.ModeSequential}, 0, 1},
		"chunks begin when the last one has ended": {contracts.Metadata{SideEffectClass: contracts.ClassRead, ExecutionMode: contracts.ModeParallelChunked, ChunkSize: 5}, 0, 5},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				var under, most atomic.Int64
				w.declare("get", c.meta, func(context.Context, execution.Call) execution.Reply {
					most.Store(max(most.Load(), under.Add(1)))
					time.Sleep(time.Second) // bubble time
					under.Add(-1)
					return facts(nil)
				})
				r := w.runner()
				var nodes []contracts.Node
				for i := range 12 {
					n := w.node(fmt.Sprintf("n%d", i), "get", nil)
					n.Group, n.GroupLimit = "g", c.group
					nodes = append(nodes, n)
				}
				v := w.ended(r, w.submit(r, nodes...))
				if v.State != contracts.RunCompleted || most.Load() != c.most {
					t.Errorf("state %s, %d at once, want %d", v.State, most.Load(), c.most)
				}
			})
		})
	}
}

func TestRateLimitSpreadsCalls(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.declare("get", contracts.Metadata{SideEffectClass: contracts.ClassRead, RateLimitPerMin: 2}, answering(nil))
		r := w.runner()
		began := time.Now()
		w.ended(r, w.submit(r, w.node("n1", "get", nil), w.node("n2", "get", nil), w.node("n3", "get", nil)))
		if took := time.Since(began); took < 25*time.Second {
			t.Errorf("three calls at two a minute took %s", took)
		}
	})
}

func TestReadsAreRepeatedAndPolled(t *testing.T) {
	t.Parallel()
	accepted := execution.Reply{Kind: execution.ReplyAccepted, Operation: "op1", RetryAfter: time.Second}
	cases := map[string]struct {
		replies []execution.Reply
		want    contracts.NodeState
		calls   int
	}{
		"a broken read is repeated":               {[]execution.Reply{broken, broken}, contracts.NodeCompleted, 3},
		"after four attempts only the verifier":   {[]execution.Reply{broken, broken, broken, broken}, contracts.NodeFailed, 5},
		"429 does not count as an attempt":        {[]execution.Reply{busy, busy, busy, busy, busy, busy}, contracts.NodeCompleted, 7},
		"accepted work is polled":                 {[]execution.Reply{accepted, accepted}, contracts.NodeCompleted, 3},
		"a lost operation starts the read anew":   {[]execution.Reply{accepted, {Kind: execution.ReplyGone}}, contracts.NodeCompleted, 3},
		"a refusal is final":                      {[]execution.Reply{refusal(false, "")}, contracts.NodeFailed, 1},
		"a refusal that is retryable is repeated": {[]execution.Reply{refusal(true, "")}, contracts.NodeCompleted, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				var n atomic.Int64
				w.read("get", func(context.Context, execution.Call) execution.Reply {
					if i := int(n.Add(1)) - 1; i < len(c.replies) {
						return c.replies[i]
					}
					return facts(nil)
				})
				r := w.runner()
				v := w.ended(r, w.submit(r, w.node("n1", "get", nil)))
				if v.Nodes[0].State != c.want || int(n.Load()) != c.calls {
					t.Errorf("%s after %d calls, want %s after %d (%+v)", v.Nodes[0].State, n.Load(), c.want, c.calls, v.Nodes[0].Error)
				}
			})
		})
	}
}

func TestFailedBranchStopsOnlyWhatDependsOnIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("good", answering(map[string]any{"x": 1}))
		w.read("bad", func(context.Context, execution.Call) execution.Reply {
			return execution.Reply{Kind: execution.ReplyInvalid, Message: "no"}
		})
		r := w.runner()
		bad := w.node("n1", "bad", nil)
		bad.Required = false
		v := w.ended(r, w.submit(r, bad, w.node("n2", "good", nil, "n1"), w.node("n3", "good", nil), join("n4", "n1", "n3"), w.node("n5", "good", nil, "n4")))
		want := map[string]contracts.NodeState{
			"n1": contracts.NodeFailed, "n2": contracts.NodeSkipped, "n3": contracts.NodeCompleted,
			"n4": contracts.NodeCompleted, "n5": contracts.NodeCompleted,
		}
		if diff := cmp.Diff(want, states(v)); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		if v.State != contracts.RunDegraded {
			t.Errorf("state %s, want degraded", v.State)
		}
	})
}

// TestAnEdgeOfOrderDoomsNothing checks that a node which only follows a write waits for its end,
// and runs whatever its outcome; a parallel branch does not wait.
func TestAnEdgeOfOrderDoomsNothing(t *testing.T) {
	t.Parallel()
	for decision, state := range map[contracts.Decision]contracts.NodeState{
		contracts.DecisionApprove: contracts.NodeCompleted, contracts.DecisionReject: contracts.NodeRejected,
	} {
		t.Run(string(decision), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.declare("order", keyedWrite(), w.applying)
				w.read("stock", answering(map[string]any{"n": 1}))
				r := w.runner()
				behind, after := w.node("n2", "stock", nil), w.node("n4", "stock", nil, "n2")
				behind.RunAfter = []string{"n1"}
				id := w.submit(r, w.node("n1", "order", map[string]any{"item": "a"}), behind, w.node("n3", "stock", nil), after)
				w.until(r, id, "beside the gate", func(v contracts.RunView) bool { return states(v)["n3"].Terminal() })
				gate := w.gates(r, id, 1)["n1"]
				v, err := r.View(t.Context(), id)
				if got := states(v)["n2"]; err != nil || got != contracts.NodeBlocked {
					t.Errorf("what comes after an open gate is %s (%v)", got, err)
				}
				w.decide(r, gate, contracts.Resume{Decision: decision})
				v = w.ended(r, id)
				want := map[string]contracts.NodeState{
					"n1": state, "n2": contracts.NodeCompleted, "n3": contracts.NodeCompleted, "n4": contracts.NodeCompleted,
				}
				if diff := cmp.Diff(want, states(v)); diff != "" {
					t.Errorf("states (-want +got):\n%s", diff)
				}
				if replayed, err := r.Replay(t.Context(), id); err != nil || len(replayed.Differences) > 0 {
					t.Errorf("replay %+v, %v", replayed, err)
				}
			})
		})
	}
}

func TestCancelEndsReadsAndLetsWritesFinish(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		reading, writing := make(chan struct{}), make(chan struct{})
		w.read("slow", func(ctx context.Context, _ execution.Call) execution.Reply {
			close(reading)
			<-ctx.Done()
			return broken
		})
		w.declare("order", keyedWrite(), func(_ context.Context, c execution.Call) execution.Reply {
			close(writing)
			time.Sleep(time.Second) // bubble time
			return w.apply(c)
		})
		r := w.runner()
		id := w.submit(r, w.node("n1", "slow", nil), w.node("n2", "order", nil), w.node("n3", "order", nil), w.node("n4", "slow", nil, "n2"))
		w.decide(r, w.gates(r, id, 2)["n2"], contracts.Resume{Decision: contracts.DecisionApprove})
		<-reading
		<-writing
		if err := r.Cancel(t.Context(), id, "ana"); err != nil {
			t.Fatal(err)
		}
		v := w.ended(r, id)
		want := map[string]contracts.NodeState{
			"n1": contracts.NodeCancelled, "n2": contracts.NodeCompleted, "n3": contracts.NodeCancelled, "n4": contracts.NodeCancelled,
		}
		if diff := cmp.Diff(want, states(v)); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		if v.State != contracts.RunCancelled || len(v.Interrupts) != 0 {
			t.Errorf("state %s, %d gates open", v.State, len(v.Interrupts))
		}
	})
}

func TestBudgetsBoundCallsAndRetries(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		budgets contracts.Budgets
		calls   int
	}{
		"calls":   {contracts.Budgets{MaxToolCalls: 2}, 2},
		"retries": {contracts.Budgets{MaxRetries: 1}, 4},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.read("good", answering(nil))
				w.read("bad", func(context.Context, execution.Call) execution.Reply { return broken })
				r := w.runner()
				last := w.node("n3", "good", nil)
				if c.budgets.MaxRetries > 0 {
					last = w.node("n3", "bad", nil)
				}
				plan := w.plan(w.node("n1", "good", nil), w.node("n2", "good", nil, "n1"), last)
				plan.Nodes[2].DependsOn = []string{"n2"}
				plan.Budgets = c.budgets
				id, err := r.Submit(t.Context(), "s1", plan)
				if err != nil {
					t.Fatal(err)
				}
				v := w.ended(r, id)
				if got := len(w.callsOf("good")) + len(w.callsOf("bad")); got != c.calls || v.State != contracts.RunFailed {
					t.Errorf("%d calls, state %s, want %d calls and a failed run", got, v.State, c.calls)
				}
			})
		})
	}
}

func TestForEachRefusesAListThatIsTooLong(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		ids := make([]any, contracts.MaxNodes)
		for i := range ids {
			ids[i] = i
		}
		w.read("list", answering(map[string]any{"ids": ids}))
		w.read("get", answering(nil))
		r := w.runner()
		each := w.node("n2", "get", map[string]any{"id": "${item}"}, "n1")
		each.ForEach = &contracts.ForEach{Items: "${steps.n1.facts.ids}"}
		v := w.ended(r, w.submit(r, w.node("n1", "list", nil), each))
		if v.State != contracts.RunFailed || v.Nodes[1].Error.Type != contracts.ErrBudget || len(w.callsOf("get")) != 0 {
			t.Errorf("state %s, error %+v after %d calls", v.State, v.Nodes[1].Error, len(w.callsOf("get")))
		}
	})
}
