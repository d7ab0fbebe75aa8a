package execution_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/planner"
	"github.com/manifold-run/manifold/planner/workflow/workflowtest"
)

// studio plays the domains of the example workflows: what it knows of flows is
// kept, and what it answers follows a script.
type studio struct {
	*world

	// script is what tests set: how often something happens that is not smooth.
	script struct {
		update         bool // the goal is a change
		matches        int
		missing        int // how often credentials are missing
		mismatch       int // how often a flow does not fit the schema
		ops            int
		testsFail      bool
		loadFails      bool
		compileRefuses bool
	}
	flows map[string]string // id → what is in it
	ids   int
}

func newStudio(t *testing.T, w *world) *studio {
	t.Helper()
	s := &studio{world: w, flows: map[string]string{"cf-1": "old"}}
	s.script.matches, s.script.ops = 1, 2
	w.catalog = workflowtest.CatalogOf(t, workflowtest.Manifests(t))
	reads := map[string]func(p map[string]any) (map[string]any, map[string]any){
		"read_goal":       s.readGoal,
		"hydrate_context": s.hydrate,
		"resolve_target":  s.resolve,
		"summarize_flow": func(map[string]any) (map[string]any, map[string]any) {
			return map[string]any{"flow_summary": "a flow"}, nil
		},
		"plan_from_goal": func(p map[string]any) (map[string]any, map[string]any) {
			goal := fmt.Sprint(p["goal"], " ", p["feedback"])
			return map[string]any{
				"contract":   map[string]any{"goal": goal, "name": "Answers", "action": p["mode"], "success_criteria": []any{"answers"}},
				"approaches": []any{map[string]any{"value": "chain", "label": "A chain"}},
			}, nil
		},
		"default_scope": func(map[string]any) (map[string]any, map[string]any) {
			return map[string]any{"max_ops": 20, "focus_nodes": []any{"llm"}, "protected_nodes": []any{}}, nil
		},
		"excerpt_flow": func(map[string]any) (map[string]any, map[string]any) {
			return map[string]any{"nodes": []any{"llm"}}, nil
		},
		"repair_schema": func(p map[string]any) (map[string]any, map[string]any) {
			return map[string]any{"repaired_node_types": p["types"]}, nil
		},
		"ops_from_contract": func(p map[string]any) (map[string]any, map[string]any) {
			ops := make([]any, s.script.ops)
			for i := range ops {
				ops[i] = map[string]any{"op_type": "add", "text": fmt.Sprint(p["contract"])}
			}
			return map[string]any{"ops": ops}, nil
		},
		"compile_flow":   s.compile,
		"validate_flow":  s.validate,
		"preflight_flow": func(map[string]any) (map[string]any, map[string]any) { return map[string]any{"ok": true}, nil },
		"test_chatflow": func(map[string]any) (map[string]any, map[string]any) {
			failed := 0
			if s.script.testsFail {
				failed = 1
			}
			return map[string]any{"failed": failed, "cases": []any{map[string]any{"ok": failed == 0}}}, nil
		},
		"save_pattern": func(map[string]any) (map[string]any, map[string]any) { return map[string]any{"saved": true}, nil },
		"get_carrier_details": func(p map[string]any) (map[string]any, map[string]any) {
			return map[string]any{"name": p["dot_number"], "fleet": 3}, nil
		},
		"query_safety_api":      func(map[string]any) (map[string]any, map[string]any) { return map[string]any{"rating": 4.5}, nil },
		"get_regional_analysis": func(map[string]any) (map[string]any, map[string]any) { return map[string]any{"rates": 1.5}, nil },
		"rank_carriers": func(p map[string]any) (map[string]any, map[string]any) {
			var names []any
			for _, c := range p["carriers"].([]any) {
				names = append(names, c.(map[string]any)["name"])
			}
			return map[string]any{"ranking": names, "reasons": []any{"safe"}}, nil
		},
		"get_price": func(p map[string]any) (map[string]any, map[string]any) {
			return map[string]any{"symbol": p["symbol"], "price": 12.5}, nil
		},
	}
	for name, do := range reads {
		w.caps[name] = &capability{do: func(_ context.Context, c execution.Call) execution.Reply {
			s.mu.Lock()
			defer s.mu.Unlock()
			return reply(do(c.Parameters))
		}}
	}
	w.caps["load_flow"] = &capability{do: s.load}
	for _, name := range []string{"create_chatflow", "apply_patch", "rollback_chatflow", "delete_chatflow", "send"} {
		w.caps[name] = &capability{do: func(_ context.Context, c execution.Call) execution.Reply { return s.write(name, c) }}
	}
	return s
}

func reply(facts, artifacts map[string]any) execution.Reply {
	r := contracts.ToolResult{OK: true, Summary: "done", Facts: facts}
	for name, content := range artifacts {
		raw, err := contracts.Canonical(content)
		if err != nil {
			return execution.Reply{Kind: execution.ReplyBroken, Message: err.Error()}
		}
		if r.Artifacts == nil {
			r.Artifacts = map[string]jsonRaw{}
		}
		r.Artifacts[name] = raw
	}
	return execution.Reply{Kind: execution.ReplyResult, Result: r}
}

func (s *studio) readGoal(map[string]any) (map[string]any, map[string]any) {
	intent := "create"
	if s.script.update {
		intent = "update"
	}
	return map[string]any{"intent": intent, "target_name": "support", "confidence": 0.9, "needs": []any{"openai"}}, nil
}

func (s *studio) hydrate(map[string]any) (map[string]any, map[string]any) {
	missing := []any{}
	if s.script.missing > 0 {
		s.script.missing--
		missing = []any{"openai"}
	}
	return map[string]any{"missing_credentials": missing, "summary_for_plan": "all is there"}, nil
}

func (s *studio) resolve(p map[string]any) (map[string]any, map[string]any) {
	matches := []any{}
	for i := range s.script.matches {
		matches = append(matches, map[string]any{"value": fmt.Sprint("cf-", i+1), "label": fmt.Sprint(p["query"], " ", i+1)})
	}
	return map[string]any{"matches": matches}, nil
}

func (s *studio) load(_ context.Context, c execution.Call) execution.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.script.loadFails {
		return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{Error: &contracts.ToolError{Type: contracts.ErrNotFound, Message: "gone"}}}
	}
	id := fmt.Sprint(c.Parameters["chatflow_id"])
	return reply(map[string]any{"sha256": "sha-" + s.flows[id]}, map[string]any{"current_flow_data": map[string]any{"flow": s.flows[id]}})
}

func (s *studio) compile(p map[string]any) (map[string]any, map[string]any) {
	if s.script.compileRefuses {
		return map[string]any{"ok": false, "changes": []any{}, "changes_line": "nothing", "flow_summary": "", "problems": []any{"bad op"}}, nil
	}
	raw, _ := contracts.Canonical(p["ops"])
	data := contracts.HashBytes(append(raw, fmt.Sprint(p["base"])...))[:8]
	return map[string]any{"ok": true, "changes": []any{"llm added"}, "changes_line": "one change", "flow_summary": "a flow " + data, "problems": []any{}},
		map[string]any{"proposed_flow_data": map[string]any{"flow": data}}
}

func (s *studio) validate(p map[string]any) (map[string]any, map[string]any) {
	if s.script.mismatch > 0 {
		s.script.mismatch--
		return map[string]any{"ok": false, "sha256": "x", "failure_type": "schema_mismatch", "missing_node_types": []any{"toolAgent"}, "findings": []any{"a type is not known"}}, nil
	}
	return map[string]any{"ok": true, "sha256": "sha-" + fmt.Sprint(p["flow_data"].(map[string]any)["flow"]), "failure_type": "", "missing_node_types": []any{}, "findings": []any{}}, nil
}

// write does a keyed write once.
func (s *studio) write(name string, c execution.Call) execution.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := c.Context.IdempotencyKey
	if r, ok := s.seen[key]; ok {
		return execution.Reply{Kind: execution.ReplyResult, Result: r}
	}
	s.effects[key]++
	p, facts := c.Parameters, map[string]any{}
	flow := func() string { return fmt.Sprint(p["flow_data"].(map[string]any)["flow"]) }
	switch name {
	case "create_chatflow":
		s.ids++
		id := fmt.Sprint("new-", s.ids)
		s.flows[id] = flow()
		facts = map[string]any{"chatflow_id": id, "sha256": "sha-" + flow()}
	case "apply_patch":
		id := fmt.Sprint(p["chatflow_id"])
		if p["base_sha256"] != "sha-"+s.flows[id] {
			return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{Error: &contracts.ToolError{Type: contracts.ErrConflict, Message: "it has changed since"}}}
		}
		facts = map[string]any{"chatflow_id": id, "sha256": "sha-" + flow(), "previous_version": "before-" + s.flows[id]}
		s.flows[id] = flow()
	case "rollback_chatflow":
		id, version := fmt.Sprint(p["chatflow_id"]), fmt.Sprint(p["version"])
		s.flows[id] = version[len("before-"):]
		facts["restored"] = true
	case "delete_chatflow":
		delete(s.flows, fmt.Sprint(p["chatflow_id"]))
		facts["deleted"] = true
	}
	r := contracts.ToolResult{OK: true, Summary: name, Facts: facts}
	s.seen[key] = r
	return execution.Reply{Kind: execution.ReplyResult, Result: r}
}

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

// answers plays the person: by the step that asks, in the order in which it does. A
// write is approved unless something else stands there.
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
			return n.Of
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
