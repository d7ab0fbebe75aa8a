package workflowtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/manifold-run/manifold/contracts"
)

// Script configures the behaviour of a Studio: how often which irregularity happens.
type Script struct {
	Update        bool // the goal is a change
	Matches       int
	Missing       int  // how often credentials are missing
	Mismatch      int  // how often a flow does not match the schema
	FirstMismatch bool // the first instance always mismatches, however often it is validated
	Ops           int
	TestsFail     bool
	LoadFails     bool
	Refuses       bool // nothing compiles
}

// Studio simulates the domains of the example: it stores flows, and its results follow a script. It
// is safe for concurrent use; the script must be set before.
type Studio struct {
	Script Script

	mu      sync.Mutex        // guards the fields below
	flows   map[string]string // id → content
	ids     int
	seen    map[string]contracts.ToolResult
	effects map[string]int
	calls   []contracts.ExecuteRequest
}

// NewStudio returns a Studio with the flow "cf-1".
func NewStudio() *Studio {
	return &Studio{
		Script: Script{Matches: 1, Ops: 2}, flows: map[string]string{"cf-1": "old"},
		seen: map[string]contracts.ToolResult{}, effects: map[string]int{},
	}
}

// Flows returns the flows: id → content.
func (s *Studio) Flows() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.flows)
}

// Applied returns how often each write was executed, by idempotency key.
func (s *Studio) Applied() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.effects)
}

// CallsOf returns the calls of one capability, in order.
func (s *Studio) CallsOf(capability string) []contracts.ExecuteRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.calls), func(c contracts.ExecuteRequest) bool { return c.Capability != capability })
}

// play answers a read: its facts and, for some, artifacts.
type play func(s *Studio, c contracts.ExecuteRequest) (facts, artifacts map[string]any)

var plays = map[string]play{
	"read_goal": (*Studio).readGoal, "hydrate_context": (*Studio).hydrate, "resolve_target": (*Studio).resolve,
	"plan_from_goal": (*Studio).plan, "ops_from_contract": (*Studio).ops, "compile_flow": (*Studio).compile,
	"validate_flow": (*Studio).validate, "test_chatflow": (*Studio).test, "rank_carriers": (*Studio).rank,
	"summarize_flow":        always(map[string]any{"flow_summary": "a flow"}),
	"default_scope":         always(map[string]any{"max_ops": 20, "focus_nodes": []any{"llm"}, "protected_nodes": []any{}}),
	"excerpt_flow":          always(map[string]any{"nodes": []any{"llm"}}),
	"preflight_flow":        always(map[string]any{"ok": true}),
	"save_pattern":          always(map[string]any{"saved": true}),
	"query_safety_api":      always(map[string]any{"rating": 4.5}),
	"get_regional_analysis": always(map[string]any{"rates": 1.5}),
	"repair_schema": func(_ *Studio, c contracts.ExecuteRequest) (map[string]any, map[string]any) {
		return map[string]any{"repaired_node_types": c.Parameters["types"]}, nil
	},
	"get_carrier_details": func(_ *Studio, c contracts.ExecuteRequest) (map[string]any, map[string]any) {
		return map[string]any{"name": c.Parameters["dot_number"], "fleet": 3}, nil
	},
	"get_price": func(_ *Studio, c contracts.ExecuteRequest) (map[string]any, map[string]any) {
		return map[string]any{"symbol": c.Parameters["symbol"], "price": 12.5}, nil
	},
}

func always(facts map[string]any) play {
	return func(*Studio, contracts.ExecuteRequest) (map[string]any, map[string]any) { return facts, nil }
}

// Execute answers one call of any of the domains.
func (s *Studio) Execute(c contracts.ExecuteRequest) contracts.ToolResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	if c.Capability == "load_flow" {
		return s.load(c)
	}
	do, read := plays[c.Capability]
	if !read {
		return s.write(c)
	}
	return resultOf(do(s, c))
}

func resultOf(facts, artifacts map[string]any) contracts.ToolResult {
	r := contracts.ToolResult{OK: true, Summary: "done", Facts: facts}
	for name, content := range artifacts {
		raw, err := contracts.Canonical(content)
		if err != nil {
			return failed(contracts.ErrInternal, err.Error())
		}
		if r.Artifacts == nil {
			r.Artifacts = map[string]json.RawMessage{}
		}
		r.Artifacts[name] = raw
	}
	return r
}

func failed(kind, message string) contracts.ToolResult {
	return contracts.ToolResult{Error: &contracts.ToolError{Type: kind, Message: message}}
}

func (s *Studio) readGoal(contracts.ExecuteRequest) (facts, artifacts map[string]any) {
	intent := "create"
	if s.Script.Update {
		intent = "update"
	}
	return map[string]any{"intent": intent, "target_name": "support", "confidence": 0.9, "needs": []any{"openai"}}, nil
}

func (s *Studio) hydrate(contracts.ExecuteRequest) (facts, artifacts map[string]any) {
	missing := []any{}
	if s.Script.Missing > 0 {
		s.Script.Missing--
		missing = []any{map[string]any{"name": "openai", "create_at": "https://flows.example.com/credentials/new?kind=openai"}}
	}
	return map[string]any{"missing_credentials": missing, "summary_for_plan": "all is there"}, nil
}

func (s *Studio) resolve(c contracts.ExecuteRequest) (facts, artifacts map[string]any) {
	matches := []any{}
	for i := range s.Script.Matches {
		matches = append(matches, map[string]any{"value": fmt.Sprint("cf-", i+1), "label": fmt.Sprint(c.Parameters["query"], " ", i+1)})
	}
	return map[string]any{"matches": matches}, nil
}

func (s *Studio) plan(c contracts.ExecuteRequest) (facts, artifacts map[string]any) {
	goal := fmt.Sprint(c.Parameters["goal"], " ", c.Parameters["feedback"])
	return map[string]any{
		"contract":   map[string]any{"goal": goal, "name": "Answers", "action": c.Parameters["mode"], "success_criteria": []any{"answers"}},
		"approaches": []any{map[string]any{"value": "chain", "label": "A chain"}},
	}, nil
}

func (s *Studio) ops(c contracts.ExecuteRequest) (facts, artifacts map[string]any) {
	ops := make([]any, s.Script.Ops)
	for i := range ops {
		ops[i] = map[string]any{"op_type": "add", "text": fmt.Sprint(c.Parameters["contract"])}
	}
	return map[string]any{"ops": ops}, nil
}

func (s *Studio) compile(c contracts.ExecuteRequest) (facts, artifacts map[string]any) {
	if s.Script.Refuses {
		return map[string]any{"ok": false, "changes": []any{}, "changes_line": "nothing", "flow_summary": "", "problems": []any{"bad op"}}, nil
	}
	raw, err := contracts.Canonical(c.Parameters["ops"])
	if err != nil {
		return map[string]any{"ok": false, "problems": []any{err.Error()}}, nil
	}
	data := contracts.HashBytes(append(raw, fmt.Sprint(c.Parameters["base"])...))[:8]
	return map[string]any{"ok": true, "changes": []any{"llm added"}, "changes_line": "one change", "flow_summary": "a flow " + data, "problems": []any{}},
		map[string]any{"proposed_flow_data": map[string]any{"flow": data}}
}

func (s *Studio) validate(c contracts.ExecuteRequest) (facts, artifacts map[string]any) {
	if s.Script.Mismatch > 0 || s.Script.FirstMismatch && c.Context.NodeID == "validate" {
		s.Script.Mismatch = max(s.Script.Mismatch-1, 0)
		return map[string]any{
			"ok": false, "sha256": "x", "failure_type": "schema_mismatch", "missing_node_types": []any{"toolAgent"},
			"findings": []any{"a type is not known"},
		}, nil
	}
	return map[string]any{
		"ok": true, "sha256": "sha-" + flowOf(c), "failure_type": "", "missing_node_types": []any{}, "findings": []any{},
	}, nil
}

func (s *Studio) test(contracts.ExecuteRequest) (facts, artifacts map[string]any) {
	count := 0
	if s.Script.TestsFail {
		count = 1
	}
	return map[string]any{"failed": count, "cases": []any{map[string]any{"ok": count == 0}}}, nil
}

func (s *Studio) rank(c contracts.ExecuteRequest) (facts, artifacts map[string]any) {
	names := []any{}
	carriers, _ := c.Parameters["carriers"].([]any)
	for _, carrier := range carriers {
		if m, ok := carrier.(map[string]any); ok {
			names = append(names, m["name"])
		}
	}
	return map[string]any{"ranking": names, "reasons": []any{"safe"}}, nil
}

func (s *Studio) load(c contracts.ExecuteRequest) contracts.ToolResult {
	if s.Script.LoadFails {
		return failed(contracts.ErrNotFound, "gone")
	}
	id := fmt.Sprint(c.Parameters["chatflow_id"])
	return resultOf(map[string]any{"sha256": "sha-" + s.flows[id]}, map[string]any{"current_flow_data": map[string]any{"flow": s.flows[id]}})
}

func flowOf(c contracts.ExecuteRequest) string {
	data, _ := c.Parameters["flow_data"].(map[string]any)
	return fmt.Sprint(data["flow"])
}

// write executes a keyed write once, and answers a repeat with the same result.
func (s *Studio) write(c contracts.ExecuteRequest) contracts.ToolResult {
	key := c.Context.IdempotencyKey
	if r, again := s.seen[key]; again {
		return r
	}
	s.effects[key]++
	facts, id := map[string]any{"done": true}, fmt.Sprint(c.Parameters["chatflow_id"])
	switch c.Capability {
	case "create_chatflow":
		s.ids++
		id = fmt.Sprint("new-", s.ids)
		s.flows[id] = flowOf(c)
		facts = map[string]any{"chatflow_id": id, "sha256": "sha-" + flowOf(c)}
	case "apply_patch":
		if c.Parameters["base_sha256"] != "sha-"+s.flows[id] {
			return failed(contracts.ErrConflict, "it has changed since")
		}
		facts = map[string]any{"chatflow_id": id, "sha256": "sha-" + flowOf(c), "previous_version": "before-" + s.flows[id]}
		s.flows[id] = flowOf(c)
	case "rollback_chatflow":
		s.flows[id] = fmt.Sprint(c.Parameters["version"])[len("before-"):]
		facts = map[string]any{"restored": true}
	case "delete_chatflow":
		delete(s.flows, id)
		facts = map[string]any{"deleted": true}
	}
	s.seen[key] = contracts.ToolResult{OK: true, Summary: c.Capability, Facts: facts}
	return s.seen[key]
}
