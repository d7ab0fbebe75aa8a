package e2e_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner/workflow/workflowtest"
)

// tale is one way through the example: what its domains do, what people say, by
// the step that asks and in the order in which it does, and what it comes to.
// Gates are approved unless "reject" stands there.
type tale struct {
	script func(s *workflowtest.Script)
	says   map[string][]string
	state  contracts.RunState
	// writes is how many were done, flows how many there are then.
	writes, flows int
	// calls are how often some capabilities were called.
	calls map[string]int
	// said is part of the summary.
	said string
}

const done = "The chatflow is done: one change"

func tales() map[string]tale {
	return map[string]tale{
		"create": {
			says:  map[string][]string{"hitl_plan": {"approve"}, "hitl_review": {"accept"}},
			state: contracts.RunCompleted, writes: 1, flows: 2, said: done, calls: map[string]int{"load_flow": 0, "save_pattern": 1},
		},
		"update": {
			script: func(s *workflowtest.Script) { s.Update = true },
			says:   map[string][]string{"hitl_select_target": {"1"}, "hitl_plan": {"A chain"}, "hitl_review": {"Accept"}},
			state:  contracts.RunCompleted, writes: 1, flows: 1, said: done, calls: map[string]int{"load_flow": 1, "save_pattern": 0},
		},
		"create new from the choice": {
			script: func(s *workflowtest.Script) { s.Update, s.Matches = true, 3 },
			says:   map[string][]string{"hitl_select_target": {"create new"}, "hitl_plan": {"approve"}, "hitl_review": {"accept"}},
			state:  contracts.RunCompleted, writes: 1, flows: 2, said: done, calls: map[string]int{"load_flow": 0},
		},
		"search again, then choose": {
			script: func(s *workflowtest.Script) { s.Update, s.Matches = true, 2 },
			says:   map[string][]string{"hitl_select_target": {"search: help desk", "help desk 1"}, "hitl_plan": {"approve"}, "hitl_review": {"accept"}},
			state:  contracts.RunCompleted, writes: 1, flows: 1, said: done, calls: map[string]int{"resolve_target": 2},
		},
		"credentials are made under way": {
			script: func(s *workflowtest.Script) { s.Missing = 2 },
			says:   map[string][]string{"hitl_credentials": {"retry", "Retry"}, "hitl_plan": {"approve"}, "hitl_review": {"accept"}},
			state:  contracts.RunCompleted, writes: 1, flows: 2, said: done, calls: map[string]int{"hydrate_context": 3},
		},
		"repaired in each of two iterations": {
			script: func(s *workflowtest.Script) { s.FirstMismatch = true },
			says:   map[string][]string{"hitl_plan": {"approve", "approve"}, "hitl_review": {"iterate: shorter", "accept"}},
			state:  contracts.RunCompleted, writes: 2, flows: 2, said: done, calls: map[string]int{"repair_schema": 1},
		},
		"rejected until nobody asks any more": {
			says:  map[string][]string{"hitl_plan": {"reject: smaller", "reject: even smaller", "reject", "reject: never"}},
			state: contracts.RunRejected, flows: 1, calls: map[string]int{"plan_from_goal": 4},
		},
		"iterated, what was created is changed": {
			says: map[string][]string{
				"hitl_plan":   {"approve", "edit: name = Better"},
				"hitl_review": {"iterate: use a better name", "accept"},
			},
			state: contracts.RunCompleted, writes: 2, flows: 2, said: done, calls: map[string]int{"create_chatflow": 1, "apply_patch": 1},
		},
		"rolled back what was changed": {
			script: func(s *workflowtest.Script) { s.Update = true },
			says:   map[string][]string{"hitl_select_target": {"1"}, "hitl_plan": {"approve", "approve"}, "hitl_review": {"iterate: more", "rollback"}},
			state:  contracts.RunCompleted, writes: 3, flows: 1, said: "was not accepted", calls: map[string]int{"rollback_chatflow": 1},
		},
		"rolled back what was created": {
			says:  map[string][]string{"hitl_plan": {"approve"}, "hitl_review": {"rollback"}},
			state: contracts.RunCompleted, writes: 2, flows: 1, said: "was not accepted", calls: map[string]int{"delete_chatflow": 1},
		},
		"a budget is raised": {
			script: func(s *workflowtest.Script) { s.Ops = 25 },
			says:   map[string][]string{"hitl_plan": {"approve"}, "apply_create": {"raise: 30"}, "hitl_review": {"accept"}},
			state:  contracts.RunCompleted, writes: 1, flows: 2, said: done,
		},
		"a budget is not raised": {
			script: func(s *workflowtest.Script) { s.Ops = 25 },
			says:   map[string][]string{"hitl_plan": {"approve"}, "apply_create": {"stop"}},
			state:  contracts.RunCancelled, flows: 1,
		},
		"a write is rejected": {
			says:  map[string][]string{"hitl_plan": {"approve"}, "apply_create": {"reject"}},
			state: contracts.RunRejected, flows: 1,
		},
		"what does not compile is reviewed and stopped": {
			script: func(s *workflowtest.Script) { s.Refuses = true },
			says:   map[string][]string{"hitl_plan": {"approve"}, "hitl_review": {"stop"}},
			state:  contracts.RunCancelled, flows: 1,
		},
	}
}

// TestTheExampleByRESTAndByChat plays every tale through both faces, end to end:
// the server, its store and the domains over HTTP.
func TestTheExampleByRESTAndByChat(t *testing.T) {
	t.Parallel()
	for name, one := range tales() {
		for _, by := range []string{"REST", "chat"} {
			t.Run(name+" by "+by, func(t *testing.T) {
				t.Parallel()
				s := startSite(t)
				domains := newStudio(t)
				if one.script != nil {
					one.script(&domains.Script)
				}
				domains.register(s)
				var through face = rest{s}
				if by == "chat" {
					through = newChats(t, s)
				}
				view := s.plays(through, through.begin(t, "answer questions"), one.says)
				one.check(t, domains, view)
				s.sound(view)
				if said, ok := through.(*chats); ok && !strings.Contains(said.rita.says(t, "status"), one.said) {
					t.Errorf("the chat ends with %s", said.rita.last())
				}
			})
		}
	}
}

// plays answers what a run asks until it has ended.
func (s *site) plays(by face, run string, script map[string][]string) contracts.RunView {
	s.t.Helper()
	says := maps.Clone(script)
	for {
		view := eventually(s.t, "a question, or the end, of "+run, func() (contracts.RunView, bool) {
			view, err := s.rita.Run(s.t.Context(), run, client.Opt{})
			return view, err == nil && (view.State.Terminal() || len(view.Interrupts) > 0)
		})
		if view.State.Terminal() {
			return view
		}
		i := view.Interrupts[0]
		step, _, _ := strings.Cut(i.NodeID, "#")
		next := says[step]
		switch {
		case i.Type.IsGate() && len(next) > 0 && next[0] == "reject":
			by.approves(s.t, i, contracts.DecisionReject)
		case i.Type.IsGate():
			by.approves(s.t, i, contracts.DecisionApprove)
		case len(next) == 0:
			s.t.Fatalf("nobody answers %s: %s %v\n%s", i.NodeID, i.Prompt, i.Answers, states2text(view))
		default:
			by.answers(s.t, i, next[0])
			says[step] = next[1:]
			s.settled(run, i)
		}
	}
}

// settled waits until a question is answered.
func (s *site) settled(run string, i contracts.Interrupt) {
	s.t.Helper()
	open, err := s.rita.Gate(s.t.Context(), i.InterruptID)
	if err != nil || open.Status == contracts.InterruptOpen {
		s.t.Fatalf("%s of %s was not answered: %v %s", i.NodeID, run, err, asJSON(open))
	}
	eventually(s.t, "the answer to be taken", func() (int, bool) {
		view, err := s.rita.Run(s.t.Context(), run, client.Opt{})
		for _, n := range view.Nodes {
			if n.NodeID == i.NodeID && n.State == contracts.NodeAwaitingInput {
				return 0, false
			}
		}
		return 0, err == nil
	})
}

func (one tale) check(t *testing.T, domains *studio, view contracts.RunView) {
	t.Helper()
	writes := 0
	for key, n := range domains.Applied() {
		writes += n
		if n != 1 {
			t.Errorf("%s was done %d times", key, n)
		}
	}
	said := nodeIn(view, "result", []contracts.NodeState{contracts.NodeCompleted, contracts.NodeFailed}).Summary
	if view.State != one.state || writes != one.writes || len(domains.Flows()) != one.flows || !strings.Contains(said, one.said) {
		t.Errorf("%s, %d writes, %v, %q; want %s, %d, %d, %q\n%s",
			view.State, writes, domains.Flows(), said, one.state, one.writes, one.flows, one.said, states2text(view))
	}
	for capability, n := range one.calls {
		if got := len(domains.CallsOf(capability)); got != n {
			t.Errorf("%s was called %d times, want %d", capability, got, n)
		}
	}
}

// TestTheExampleWithNobodyThere plans it for a run that nobody answers: its steps
// take the answers that they name, or fail; the gate of a write waits all the same.
func TestTheExampleWithNobodyThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		matches int
		state   contracts.RunState
		writes  int
	}{
		"one target is taken":       {1, contracts.RunCompleted, 1},
		"of two nobody chooses one": {2, contracts.RunFailed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, domains := startSite(t), newStudio(t)
			domains.Script.Update, domains.Script.Matches = true, c.matches
			domains.register(s)
			response, err := s.runWith(contracts.PlanRequest{
				Intents: []contracts.Intent{call("flowise.develop_chatflow", map[string]any{"goal": "answer questions"})}, Unattended: true,
			}, contracts.RunPlan{})
			if err != nil {
				t.Fatal(err)
			}
			view := s.plays(rest{s}, response.RunIDs[0], nil)
			tale{state: c.state, writes: c.writes, flows: 1}.check(t, domains, view)
			if n := nodeIn(view, "hitl_select_target", []contracts.NodeState{contracts.NodeFailed}); c.writes == 0 && (n.Error == nil || n.Error.Type != contracts.ErrNeedsPerson) {
				t.Errorf("%+v", n)
			}
			s.sound(view)
		})
	}
}
