package execution_test

import (
	"context"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/planner"
	"github.com/manifold-run/manifold/planner/workflow/workflowtest"
)

// studio is a world with the domains of the example workflows.
type studio struct {
	*world
	*workflowtest.Studio
}

func newStudio(t *testing.T, w *world) *studio {
	t.Helper()
	s := &studio{world: w, Studio: workflowtest.NewStudio()}
	w.catalog = workflowtest.CatalogOf(t, workflowtest.Manifests(t))
	for _, d := range w.catalog.Domains {
		for _, e := range d.Capabilities {
			w.caps[e.Capability.Name] = &capability{do: s.execute}
		}
	}
	return s
}

func (s *studio) execute(_ context.Context, c execution.Call) execution.Reply {
	return execution.Reply{Kind: execution.ReplyResult, Result: s.Execute(contracts.ExecuteRequest{
		Capability: c.Entry.Capability.Name, Parameters: c.Parameters, Context: c.Context,
	})}
}

// applied returns the effects in the domains.
func (s *studio) applied() map[string]int { return s.Applied() }

// start plans a workflow and submits it.
func (s *studio) start(r *execution.Runner, ref string, params map[string]any, change ...func(*planner.Request)) string {
	s.t.Helper()
	plan := s.planned(ref, params, change...)
	id, err := r.Submit(s.t.Context(), "s1", plan)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *studio) planned(ref string, params map[string]any, change ...func(*planner.Request)) contracts.Plan {
	s.t.Helper()
	entry, ok := s.Catalog().Capability(ref)
	if !ok {
		s.t.Fatalf("there is no %s", ref)
	}
	req := planner.Request{
		Goal: "do it", Catalog: s.Catalog(), Owner: contracts.Principal{ID: "ana", Roles: []string{"operator", "driver"}},
		Intents: []contracts.Intent{{ID: "i1", Domain: entry.Domain, Capability: entry.Capability.Name, Parameters: params, Source: "caller"}},
	}
	for _, c := range change {
		c(&req)
	}
	result, err := planner.Compile(req)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(result.Questions) > 0 {
		s.t.Fatalf("the plan asks %+v", result.Questions)
	}
	return result.Plan
}

// answers plays a person: it takes the answers of the asking step, in order. A write is approved
// unless the script has another answer.
func (s *studio) answers(r *execution.Runner, id string, script map[string][]any) contracts.RunView {
	s.t.Helper()
	for {
		v := s.until(r, id, "asking or ended", func(v contracts.RunView) bool { return v.State.Terminal() || len(v.Interrupts) > 0 })
		if v.State.Terminal() {
			return v
		}
		i := v.Interrupts[0]
		step := stepOfNode(v, i.NodeID)
		next := script[step]
		switch {
		case len(next) > 0:
			script[step] = next[1:]
			if d, ok := next[0].(contracts.Decision); ok {
				s.decide(r, i, contracts.Resume{Decision: d})
				continue
			}
			s.decide(r, i, contracts.Resume{Response: next[0]})
		case i.Type == contracts.InterruptWriteApproval:
			s.decide(r, i, contracts.Resume{Decision: contracts.DecisionApprove})
		default:
			s.t.Fatalf("nobody answers %s: %s (%s) %v", i.NodeID, i.Prompt, i.Type, i.Answers)
		}
	}
}

func stepOfNode(v contracts.RunView, node string) string {
	for _, n := range v.Nodes {
		if n.NodeID == node && n.Round != nil {
			return n.ForNode
		}
	}
	return node
}

func nodeOf(t *testing.T, v contracts.RunView, id string) contracts.NodeView {
	t.Helper()
	for _, n := range v.Nodes {
		if n.NodeID == id {
			return n
		}
	}
	t.Fatalf("there is no node %s", id)
	return contracts.NodeView{}
}
