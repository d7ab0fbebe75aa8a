package execution_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/planner"
)

const develop = "flowise.develop_chatflow"

func TestTheExampleIsPlayedThrough(t *testing.T) {
	t.Parallel()
	goal := map[string]any{"goal": "answer questions"}
	accept := []any{"accept"}
	cases := map[string]struct {
		script func(s *studio)
		says   map[string][]any
		check  func(t *testing.T, s *studio, v contracts.RunView)
	}{
		"create": {nil, map[string][]any{"hitl_plan": {"approve"}, "hitl_review": accept}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCompleted, 1, "The chatflow is done: one change")
			if len(s.Flows()) != 2 || nodeOf(t, v, "apply_patch").State != contracts.NodeSkipped || nodeOf(t, v, "save_pattern").State != contracts.NodeCompleted {
				t.Errorf("%v %v", s.Flows(), states(v))
			}
		}},
		"update": {func(s *studio) { s.Script.Update = true }, map[string][]any{"hitl_select_target": {"1"}, "hitl_plan": {"1"}, "hitl_review": accept}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCompleted, 1, "The chatflow is done: one change")
			if s.Flows()["cf-1"] == "old" || len(s.Flows()) != 1 || nodeOf(t, v, "apply_create").State != contracts.NodeSkipped {
				t.Errorf("%v %v", s.Flows(), states(v))
			}
			if nodeOf(t, v, "hitl_plan").Facts["approach"] != "chain" {
				t.Errorf("the approach is %v", nodeOf(t, v, "hitl_plan").Facts)
			}
		}},
		"create new from the choice": {func(s *studio) { s.Script.Update, s.Script.Matches = true, 3 }, map[string][]any{"hitl_select_target": {"create new"}, "hitl_plan": {"approve"}, "hitl_review": accept}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCompleted, 1, "The chatflow is done: one change")
			if s.Flows()["cf-1"] != "old" || len(s.Flows()) != 2 || nodeOf(t, v, "load_current_flow").State != contracts.NodeSkipped {
				t.Errorf("%v %v", s.Flows(), states(v))
			}
		}},
		"search again, then choose": {func(s *studio) { s.Script.Update, s.Script.Matches = true, 2 }, map[string][]any{"hitl_select_target": {"search: help desk", "help desk 1"}, "hitl_plan": {"approve"}, "hitl_review": accept}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCompleted, 1, "The chatflow is done: one change")
			if calls := s.callsOf("resolve_target"); len(calls) != 2 || calls[1].Parameters["query"] != "help desk" {
				t.Errorf("searched %v", calls)
			}
		}},
		"credentials are made under way": {func(s *studio) { s.Script.Missing = 2 }, map[string][]any{"hitl_credentials": {"retry", "retry"}, "hitl_plan": {"approve"}, "hitl_review": accept}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCompleted, 1, "The chatflow is done: one change")
			if calls := s.callsOf("hydrate_context"); len(calls) != 3 || calls[0].Parameters["refresh_credentials"] != false || calls[1].Parameters["refresh_credentials"] != true {
				t.Errorf("looked %v", calls)
			}
		}},
		"repaired in each of two iterations": {func(s *studio) { s.Script.Mismatch = 1 }, map[string][]any{"hitl_plan": {"approve", "approve"}, "hitl_review": {"iterate: shorter", "accept"}}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCompleted, 2, "The chatflow is done: one change")
			if len(s.callsOf("repair_schema")) != 1 || len(s.callsOf("apply_patch")) != 1 || len(s.callsOf("create_chatflow")) != 1 {
				t.Errorf("repaired %d, created %d, changed %d", len(s.callsOf("repair_schema")), len(s.callsOf("create_chatflow")), len(s.callsOf("apply_patch")))
			}
		}},
		"at the end of repairs a person looks": {func(s *studio) { s.Script.Mismatch = 3 }, map[string][]any{"hitl_plan": {"approve"}, "hitl_review": {"stop"}}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCancelled, 0, "")
			if n := len(s.callsOf("repair_schema")); n != 1 {
				t.Errorf("repaired %d times, and once is allowed", n)
			}
		}},
		"rejected until nobody asks any more": {nil, map[string][]any{"hitl_plan": {"reject: smaller", "reject: even smaller", map[string]any{"decision": "reject", "feedback": "no"}, "reject: never"}}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunRejected, 0, "")
			calls := s.callsOf("plan_from_goal")
			if len(calls) != 4 || calls[1].Parameters["feedback"] != "" {
				t.Errorf("planned %d times: %v", len(calls), calls)
			}
		}},
		"changed twice, what was created is changed": {nil, map[string][]any{"hitl_plan": {"approve", map[string]any{"decision": "edit", "changes": map[string]any{"name": "Better"}}}, "hitl_review": {"iterate: use a better name", "accept"}}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCompleted, 2, "The chatflow is done: one change")
			if len(s.Flows()) != 2 || s.Flows()["new-1"] == "" {
				t.Errorf("the second iteration changes what the first made: %v", s.Flows())
			}
			if plans := s.callsOf("plan_from_goal"); plans[1].Parameters["feedback"] != "use a better name" {
				t.Errorf("the words of the review do not reach the plan: %v", plans[1].Parameters)
			}
			if ops := s.callsOf("ops_from_contract"); ops[1].Parameters["contract"].(map[string]any)["name"] != "Better" {
				t.Errorf("what was approved is not what was used: %v", ops[1].Parameters)
			}
		}},
		"rolled back what was changed": {func(s *studio) { s.Script.Update = true }, map[string][]any{"hitl_select_target": {"1"}, "hitl_plan": {"approve", "approve"}, "hitl_review": {"iterate: more", "rollback"}}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCompleted, 3, "The chatflow was not accepted.")
			if s.Flows()["cf-1"] != "old" {
				t.Errorf("both iterations are undone at once: %v", s.Flows())
			}
		}},
		"rolled back what was created": {nil, map[string][]any{"hitl_plan": {"approve"}, "hitl_review": {"rollback"}}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCompleted, 2, "The chatflow was not accepted.")
			if len(s.Flows()) != 1 {
				t.Errorf("it is still there: %v", s.Flows())
			}
		}},
		"a budget is raised": {func(s *studio) { s.Script.Ops = 25 }, map[string][]any{"hitl_plan": {"approve"}, "apply_create": {"raise", contracts.DecisionApprove}, "hitl_review": accept}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCompleted, 1, "The chatflow is done: one change")
		}},
		"a budget is not raised": {func(s *studio) { s.Script.Ops = 25 }, map[string][]any{"hitl_plan": {"approve"}, "apply_create": {"stop"}}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCancelled, 0, "")
		}},
		"a write is rejected": {nil, map[string][]any{"hitl_plan": {"approve"}, "apply_create": {contracts.DecisionReject}}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunRejected, 0, "")
		}},
		"a failed load is no reason to create": {func(s *studio) { s.Script.Update, s.Script.LoadFails = true, true }, map[string][]any{"hitl_select_target": {"1"}}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunFailed, 0, "")
			if nodeOf(t, v, "baseline").State != contracts.NodeSkipped {
				t.Errorf("%v", states(v))
			}
		}},
		"what does not compile is reviewed": {func(s *studio) { s.Script.Refuses = true }, map[string][]any{"hitl_plan": {"approve"}, "hitl_review": {"stop"}}, func(t *testing.T, s *studio, v contracts.RunView) {
			want(t, s, v, contracts.RunCancelled, 0, "")
		}},
		"tests that fail are reviewed": {func(s *studio) { s.Script.TestsFail = true }, map[string][]any{"hitl_plan": {"approve"}, "hitl_review": accept}, func(t *testing.T, s *studio, v contracts.RunView) {
			if n := nodeOf(t, v, "evaluate"); n.State != contracts.NodeFailed || n.Facts["verdict"] != "blocked" {
				t.Errorf("%+v", n)
			}
			want(t, s, v, contracts.RunDegraded, 1, "The chatflow is done: one change")
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				s := newStudio(t, w)
				if tc.script != nil {
					tc.script(s)
				}
				r := w.runner()
				id := s.start(r, develop, goal)
				v := s.answers(r, id, tc.says)
				tc.check(t, s, v)
				replayed, err := r.Replay(t.Context(), id)
				if err != nil || len(replayed.Differences) > 0 {
					t.Errorf("replay: %v %v", err, replayed.Differences)
				}
			})
		})
	}
}

func want(t *testing.T, s *studio, v contracts.RunView, state contracts.RunState, writes int, summary string) {
	t.Helper()
	done := 0
	for key, n := range s.applied() {
		done += n
		if n != 1 {
			t.Errorf("%s was done %d times", key, n)
		}
	}
	got := nodeOf(t, v, "result")
	if v.State != state || done != writes || (summary != "" && got.Summary != summary) {
		for _, n := range v.Nodes {
			t.Logf("%s %s %s %+v %s", n.NodeID, n.State, n.Summary, n.Error, n.Facts)
		}
		t.Errorf("state %s, %d writes, %q; want %s, %d, %q", v.State, done, got.Summary, state, writes, summary)
	}
}

func TestTheOtherExamples(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := newStudio(t, w)
		r := w.runner()
		v := w.ended(r, s.start(r, "logistics.compare_carriers", map[string]any{"carriers": []any{"7", "8"}}))
		if n := nodeOf(t, v, "result"); v.State != contracts.RunCompleted || n.Summary != "2 carriers compared" || !cmp.Equal(n.Facts["ranking"], []any{"7", "8"}) {
			t.Errorf("%s %+v %v", v.State, n, states(v))
		}
		id := s.start(r, "prices.compare_prices_and_notify", map[string]any{"symbols": []any{"A", "B"}})
		v = s.answers(r, id, map[string][]any{})
		calls := w.callsOf("send")
		if len(calls) != 1 || calls[0].Parameters["message"] != "A 12.5, B 12.5" {
			t.Errorf("%s %v", v.State, calls)
		}
	})
}

func TestWithoutAnybody(t *testing.T) {
	alone := func(req *planner.Request) { req.Unattended = true }
	goal := map[string]any{"goal": "answer questions"}
	bubble(t, func(t *testing.T, w *world) {
		s := newStudio(t, w)
		s.Script.Update = true
		r := w.runner()
		v := s.answers(r, s.start(r, develop, goal, alone), map[string][]any{})
		want(t, s, v, contracts.RunCompleted, 1, "The chatflow is done: one change")
		s.Script.Matches = 2
		v = s.answers(r, s.start(r, develop, goal, alone), map[string][]any{})
		if n := nodeOf(t, v, "hitl_select_target"); v.State != contracts.RunFailed || n.Error == nil || n.Error.Type != contracts.ErrNeedsPerson {
			t.Errorf("%s %+v", v.State, n)
		}
		s.Script.Update, s.Script.Missing = false, 1
		v = s.answers(r, s.start(r, develop, goal, alone), map[string][]any{})
		if n := nodeOf(t, v, "hitl_credentials"); v.State != contracts.RunFailed || n.Error == nil || !strings.Contains(n.Error.Message, "credentials are missing") {
			t.Errorf("%s %+v", v.State, n)
		}
	})
}

func TestAPlanThatNobodyApprovesInTimeIsRejected(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := newStudio(t, w)
		r := w.runner()
		id := s.start(r, develop, map[string]any{"goal": "answer questions"})
		v := s.until(r, id, "asking", func(v contracts.RunView) bool { return len(v.Interrupts) > 0 })
		asked := v.Interrupts[0]
		if asked.Type != contracts.InterruptPlanApproval || asked.ExpiresAt == nil || asked.ExpiresAt.Sub(asked.CreatedAt) != contracts.DefaultApprovalExpiry {
			t.Fatalf("%+v", asked)
		}
		time.Sleep(contracts.DefaultApprovalExpiry)
		v = w.ended(r, id)
		n := nodeOf(t, v, "hitl_plan")
		if v.State != contracts.RunRejected || n.State != contracts.NodeRejected || n.Summary != "nobody answered in time" || len(s.applied()) > 0 {
			t.Errorf("%s %+v", v.State, n)
		}
		_, err := r.Decide(t.Context(), asked.InterruptID, contracts.Resume{Response: "approve"}, decision.Decider{ID: "bob", May: anybody})
		if contracts.CodeOf(err) != contracts.CodeConflict {
			t.Errorf("an answer that comes too late: %v", err)
		}
	})
}
