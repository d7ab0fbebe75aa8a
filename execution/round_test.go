package execution_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/internal/sample"
	"github.com/manifold-run/manifold/planner"
)

// rounds is a scripted replanner: a draft, a question or an error for each replan; after its end
// there is nothing more.
type rounds struct {
	w    *world
	says []any

	mu    sync.Mutex // guards heard
	heard []execution.ReplanRequest
}

func (r *rounds) Replan(_ context.Context, req execution.ReplanRequest) (execution.ReplanReply, error) {
	r.mu.Lock()
	r.heard = append(r.heard, req)
	r.mu.Unlock()
	reply := execution.ReplanReply{Calls: []contracts.ModelCall{{Purpose: contracts.PurposeUnderstand, Model: "m", Tokens: contracts.Tokens{In: 10, Out: 5}}}}
	if req.Number > len(r.says) {
		return reply, nil
	}
	switch says := r.says[req.Number-1].(type) {
	case contracts.Draft:
		result, err := planner.Compile(planner.Request{
			Goal: req.Goal, Draft: &says, Catalog: r.w.Catalog(), Owner: req.Plan.Owner, Running: &planner.Running{Nodes: req.Plan.Nodes},
		})
		reply.Plan = &result.Plan
		return reply, err
	case heldDraft:
		result, err := planner.Compile(planner.Request{
			Goal: req.Goal, Draft: &says.draft, Catalog: r.w.Catalog(), Owner: req.Plan.Owner, Running: &planner.Running{Nodes: req.Plan.Nodes},
		})
		reply.Plan, reply.Held = &result.Plan, says.held
		return reply, err
	case execution.ReplanQuestion:
		reply.Question = &says
	case error:
		return reply, says
	}
	return reply, nil
}

// heldDraft is a draft with steps that are held.
type heldDraft struct {
	draft contracts.Draft
	held  map[string]string
}

func (r *rounds) asked() []execution.ReplanRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.heard)
}

func step(id, tool string, params map[string]any) contracts.DraftStep {
	return contracts.DraftStep{ID: id, Tool: "shop." + tool, Params: params}
}

// mailbox declares the capabilities of these tests: a read, a read that sends its parameters to a
// third party, and a write that needs no approval by itself.
func (w *world) mailbox() {
	w.read("mail", answering(map[string]any{"days": 20.0, "url": "https://evil.example/?q=1"}))
	w.declare("fetch", contracts.Metadata{SideEffectClass: contracts.ClassRead, OpenWorld: true}, answering(map[string]any{"text": "a page"}))
	meta := keyedWrite()
	meta.ApprovalRequired = new(false)
	w.declare("order", meta, w.applying)
	w.takeParameters()
}

// takeParameters declares the parameters of the capabilities in these tests.
func (w *world) takeParameters() {
	for name := range w.caps {
		w.schema(name, `{"type":"object","properties":{"of":{"type":"string"},"item":{},"note":{"type":"string"},"url":{"type":"string"}}}`)
	}
}

// draft compiles a draft.
func (w *world) draft(d contracts.Draft) contracts.Plan {
	w.t.Helper()
	result, err := planner.Compile(planner.Request{
		Goal: "test", Draft: &d, Catalog: w.Catalog(), Owner: contracts.Principal{ID: "ana", Roles: []string{"operator"}},
	})
	if err != nil || len(result.Questions) > 0 {
		w.t.Fatalf("%v %v", err, result.Questions)
	}
	return result.Plan
}

func (w *world) begin(r *execution.Runner, plan contracts.Plan) string {
	w.t.Helper()
	id, err := r.Submit(w.t.Context(), "s1", plan)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w *world) replays(r *execution.Runner, id string) {
	w.t.Helper()
	if got, err := r.Replay(w.t.Context(), id); err != nil || len(got.Differences) > 0 {
		w.t.Errorf("replay: %v, %+v", err, got)
	}
}

func TestADraftRunsByItsCondition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		days  float64
		state contracts.NodeState
	}{
		"it holds": {20, contracts.NodeCompleted}, "it does not": {5, contracts.NodeSkipped},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.read("mail", answering(map[string]any{"days": c.days}))
				w.declare("order", keyedWrite(), w.applying)
				w.takeParameters()
				book := step("w", "order", map[string]any{"note": "Ana has ${b.facts.days} days left"})
				book.When = "${b.facts.days} > 10"
				r := w.runner()
				id := w.begin(r, w.draft(contracts.Draft{Steps: []contracts.DraftStep{
					step("b", "mail", nil), book, step("t", "mail", map[string]any{"of": "${w.summary}"}),
				}}))
				if c.state == contracts.NodeCompleted {
					g := w.gates(r, id, 1)["n2"]
					if g.Action.Parameters["note"] != "Ana has 20 days left" {
						t.Errorf("the gate shows %v", g.Action.Parameters)
					}
					if !slices.ContainsFunc(g.Evidence, func(e contracts.EvidenceItem) bool { return e.Path == "steps.n1.facts.days" && e.Value == 20.0 }) {
						t.Errorf("the evidence is %v", g.Evidence)
					}
					if g.AfterReading != nil || g.Action.AfterReading != nil {
						t.Error("a plan of the request is marked as read")
					}
					w.decide(r, g, contracts.Resume{Decision: contracts.DecisionApprove})
				}
				v := w.ended(r, id)
				want := map[string]contracts.NodeState{"n1": contracts.NodeCompleted, "n2": c.state, "n3": c.state}
				if diff := cmp.Diff(want, states(v)); diff != "" || v.State != contracts.RunCompleted {
					t.Errorf("%s (-want +got):\n%s", v.State, diff)
				}
				w.replays(r, id)
			})
		})
	}
}

func TestWhatComesNextIsAddedToTheRun(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.mailbox()
		next := &rounds{w: w, says: []any{
			contracts.Draft{Steps: []contracts.DraftStep{
				step("w", "order", map[string]any{"item": "${b.facts.days}"}), step("again", "mail", map[string]any{"of": "${w.summary}"}),
			}, More: true},
		}}
		w.rounds = next
		r := w.runner()
		id := w.begin(r, w.draft(contracts.Draft{Steps: []contracts.DraftStep{step("b", "mail", nil)}, More: true}))
		g := w.gates(r, id, 1)["n3"]
		if !strings.HasPrefix(g.Prompt, "Proposed after reading “") || !strings.Contains(g.Prompt, "found") {
			t.Errorf("the mark does not stand first: %q", g.Prompt)
		}
		if len(g.AfterReading) != 1 || !slices.Equal(g.AfterReading, g.Action.AfterReading) {
			t.Errorf("the mark is %v, and %v in what is approved", g.AfterReading, g.Action.AfterReading)
		}
		if g.Action.Parameters["item"] != 20.0 || !slices.ContainsFunc(g.Evidence, func(e contracts.EvidenceItem) bool { return e.NodeID == "n1" }) {
			t.Errorf("the facts of the first round are no evidence: %v %v", g.Action.Parameters, g.Evidence)
		}
		w.decide(r, g, contracts.Resume{Decision: contracts.DecisionApprove})
		v := w.ended(r, id)
		if v.State != contracts.RunCompleted || len(w.applied()) != 1 {
			t.Errorf("%s %v %v", v.State, states(v), w.applied())
		}
		heard := next.asked()
		if len(heard) != 2 || heard[0].Number != 1 || heard[1].Number != 2 || len(heard[1].Facts) != 3 || heard[0].Facts[0].Facts.String() == "" {
			t.Errorf("it was asked %+v", heard)
		}
		if v.Tokens.In != 20 {
			t.Errorf("the calls of the model are not on record: %+v", v.Tokens)
		}
		w.replays(r, id)
		if len(next.asked()) != 2 {
			t.Error("a replay asks again")
		}
	})
}

func TestLateWritesCanBeForbidden(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.mailbox()
		w.rounds = &rounds{w: w, says: []any{contracts.Draft{Steps: []contracts.DraftStep{step("w", "order", map[string]any{"item": "a"})}}}}
		r := w.runner(func(c *execution.Config) { c.LateWrites = execution.LateWritesForbid })
		id := w.begin(r, w.draft(contracts.Draft{Steps: []contracts.DraftStep{step("b", "mail", nil)}, More: true}))
		v := w.ended(r, id)
		if states(v)["n3"] != contracts.NodeFailed || len(w.applied()) > 0 {
			t.Errorf("%v %v", states(v), w.applied())
		}
	})
}

func TestWhatWasNotSaidLeavesTheHouseOnlyWhenConfirmed(t *testing.T) {
	t.Parallel()
	for answer, calls := range map[string]int{"yes": 1, "no": 0} {
		t.Run(answer, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.mailbox()
				said := step("home", "fetch", map[string]any{"url": "https://home.example"})
				said.Said = (&contracts.Utterance{Text: "see https://home.example"}).With("url", contracts.FromUtterance)
				w.rounds = &rounds{w: w, says: []any{contracts.Draft{Steps: []contracts.DraftStep{
					step("page", "fetch", map[string]any{"url": "${b.facts.url}"}), said,
				}}}}
				r := w.runner()
				id := w.begin(r, w.draft(contracts.Draft{Steps: []contracts.DraftStep{step("b", "mail", nil)}, More: true}))
				q := w.gates(r, id, 1)["n3_ok"]
				if !strings.HasPrefix(q.Prompt, "Proposed after reading") || q.Show["url"] != "https://evil.example/?q=1" {
					t.Errorf("it asks %q with %v", q.Prompt, q.Show)
				}
				w.decide(r, q, contracts.Resume{Response: answer})
				v := w.ended(r, id)
				if got := w.callsOf("fetch"); len(got) != calls+1 || v.State != contracts.RunCompleted {
					t.Errorf("%d calls, %s %v", len(got), v.State, states(v))
				}
				w.replays(r, id)
			})
		})
	}
}

func TestRoundsEnd(t *testing.T) {
	t.Parallel()
	again := contracts.Draft{Steps: []contracts.DraftStep{step("b", "mail", nil)}, More: true}
	cases := map[string]struct {
		says  []any
		asked int
		state contracts.RunState
	}{
		"after four of them":              {[]any{again, again, again, again, again}, execution.MaxReplans, contracts.RunCompleted},
		"when nothing more is needed":     {nil, 1, contracts.RunCompleted},
		"when what comes next is no plan": {[]any{contracts.Draft{Steps: []contracts.DraftStep{step("x", "nothing", nil)}}}, 1, contracts.RunDegraded},
		"when nobody answers":             {[]any{again, errors.New("out of reach")}, 2, contracts.RunDegraded},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.mailbox()
				next := &rounds{w: w, says: c.says}
				w.rounds = next
				r := w.runner()
				id := w.begin(r, w.draft(again))
				v := w.ended(r, id)
				if len(next.asked()) != c.asked || v.State != c.state {
					t.Errorf("asked %d times, %s %v", len(next.asked()), v.State, states(v))
				}
				w.replays(r, id)
			})
		})
	}
}

func TestARoundMayAsk(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.mailbox()
		next := &rounds{w: w, says: []any{
			execution.ReplanQuestion{Prompt: "Which of them?", Options: []string{"the red one", "the blue one"}},
			contracts.Draft{Steps: []contracts.DraftStep{step("x", "mail", map[string]any{"of": "${question1.facts.value}"})}},
		}}
		w.rounds = next
		r := w.runner()
		id := w.begin(r, w.draft(contracts.Draft{Steps: []contracts.DraftStep{step("b", "mail", nil)}, More: true}))
		q := w.gates(r, id, 1)["question1"]
		if len(q.Options) != 2 || !strings.HasSuffix(q.Prompt, "Which of them?") {
			t.Errorf("it asks %+v", q)
		}
		w.decide(r, q, contracts.Resume{Response: "the blue one"})
		v := w.ended(r, id)
		calls := w.callsOf("mail")
		if v.State != contracts.RunCompleted || len(calls) != 2 || calls[1].Parameters["of"] != "the blue one" {
			t.Errorf("%s %v", v.State, states(v))
		}
		w.replays(r, id)
	})
}

// A held write is confirmed by the requester before its gate opens; the rest of the replan
// continues.
func TestAHeldWriteIsConfirmedBeforeItsGate(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]contracts.NodeState{"yes": contracts.NodeCompleted, "no": contracts.NodeSkipped} {
		t.Run(answer, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.mailbox()
				w.rounds = &rounds{w: w, says: []any{heldDraft{
					contracts.Draft{Steps: []contracts.DraftStep{step("w", "order", map[string]any{"item": "ink"}), step("z", "mail", map[string]any{"of": "bo"})}},
					map[string]string{"w": "The words tell what happened. Shall I?"},
				}}}
				r := w.runner()
				id := w.begin(r, w.draft(contracts.Draft{Steps: []contracts.DraftStep{step("b", "mail", nil)}, More: true}))
				q := w.gates(r, id, 1)["n3_ok"]
				if q.Type != contracts.InterruptClarification || !strings.Contains(q.Prompt, "Shall I?") || q.Show["item"] != "ink" || len(q.AfterReading) == 0 {
					t.Errorf("it asks %+v", q)
				}
				w.decide(r, q, contracts.Resume{Response: answer})
				if answer == "yes" {
					gate := w.gates(r, id, 1)["n3"]
					if len(w.callsOf("order")) > 0 || !gate.Type.IsGate() || len(gate.AfterReading) == 0 {
						t.Errorf("after yes: %+v", gate)
					}
					w.decide(r, gate, contracts.Resume{Decision: contracts.DecisionApprove})
				}
				v := w.ended(r, id)
				if got := states(v); got["n3"] != want || got["n4"] != contracts.NodeCompleted {
					t.Errorf("%v", got)
				}
				w.replays(r, id)
			})
		})
	}
}

// roundsThatCrash has two replans, with a gate in the first.
func (w *world) roundsThatCrash() contracts.Plan {
	w.mailbox()
	w.rounds = &rounds{w: w, says: []any{
		contracts.Draft{Steps: []contracts.DraftStep{step("w", "order", map[string]any{"item": "${b.facts.days}"})}, More: true},
		contracts.Draft{Steps: []contracts.DraftStep{step("z", "mail", map[string]any{"of": "${w.summary}"})}},
	}}
	return w.draft(contracts.Draft{Steps: []contracts.DraftStep{step("b", "mail", nil)}, More: true})
}

func TestRoundsKilledAtEveryWriteToTheStore(t *testing.T) {
	t.Parallel()
	writes, unharmed := 0, map[string]contracts.NodeState{}
	t.Run("unharmed", func(t *testing.T) {
		bubbleNow(t, func(t *testing.T, w *world) {
			plan := w.roundsThatCrash()
			k := executiontest.KillAt(w.store, 0, executiontest.Before)
			r := w.runnerOn(k)
			id := w.begin(r, plan)
			if !w.drive(t.Context(), r, id, k.Dead()) {
				t.Fatal("the run did not end")
			}
			writes, unharmed = k.Writes(), states(w.ended(r, id))
		})
	})
	if writes < 8 || len(unharmed) < 5 {
		t.Fatalf("%d writes to the store, %v", writes, unharmed)
	}
	moments := []executiontest.Moment{executiontest.Before, executiontest.After}
	for _, i := range sample.Of(t, 2*writes, 4) {
		n, at := 1+i/2, moments[i%2]
		t.Run(fmt.Sprintf("killed %s write %d", at, n), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) { w.surviveRounds(n, at, unharmed) })
		})
	}
}

func (w *world) surviveRounds(n int, at executiontest.Moment, unharmed map[string]contracts.NodeState) {
	w.t.Helper()
	ctx, plan := w.t.Context(), w.roundsThatCrash()
	plan.RunID = "run_rounds"
	k := executiontest.KillAt(w.store, n, at)
	first := w.runnerOn(k)
	go func() { _, _ = first.Submit(ctx, "s1", plan) }()
	time.Sleep(time.Second) // bubble time
	done := w.drive(ctx, first, plan.RunID, k.Dead())
	k.Bury()
	second := w.runner()
	if !done && !w.drive(ctx, second, plan.RunID, nil) {
		if _, err := second.Submit(ctx, "s1", plan); err != nil {
			w.t.Fatal(err)
		}
		w.drive(ctx, second, plan.RunID, nil)
	}
	v := w.ended(second, plan.RunID)
	if diff := cmp.Diff(unharmed, states(v)); diff != "" {
		w.t.Errorf("it went another way (-unharmed +killed):\n%s", diff)
	}
	for key, times := range w.applied() {
		if times != 1 {
			w.t.Errorf("%s was done %d times", key, times)
		}
	}
	if len(w.applied()) != 1 {
		w.t.Errorf("the effects are %v", w.applied())
	}
	w.replays(second, plan.RunID)
}
