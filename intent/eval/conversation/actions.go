package conversation

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Call is one call that a run made, or would make, for a request itself: no
// look-up, join or check.
type Call struct {
	Capability string         `json:"capability"`
	Params     map[string]any `json:"params"`
	// Named are the names of what the ids in Params stand for.
	Named map[string]any      `json:"named,omitempty"`
	State contracts.NodeState `json:"state"`
	// Gate is set while an approver has to decide.
	Gate bool `json:"gate"`
	// When is set when the call depends on a condition.
	When bool `json:"when,omitempty"`
	// Found is false when a look-up of a parameter has not found anything yet.
	Found bool   `json:"found"`
	Write bool   `json:"write"`
	RunID string `json:"run_id"`
	Node  string `json:"node"`
	// Follows are the nodes that must have ended before this one begins.
	Follows []string `json:"follows,omitempty"`
}

// calls are those of a run; known maps ids to names.
func calls(run contracts.RunView, known map[string]string) []Call {
	v := newRunValues(run, known)
	var out []Call
	for _, n := range run.Nodes {
		if n.Kind == contracts.KindTool && n.ForEach == nil && (n.Role == "" || n.Role == contracts.RoleFollowup) {
			out = append(out, v.call(n))
		}
	}
	return out
}

// runValues resolves the expressions of a run's parameters.
type runValues struct {
	run   contracts.RunView
	nodes map[string]contracts.NodeView
	gates map[string]contracts.Interrupt
	names map[string]string
	// parents are the nodes before each node.
	parents map[string][]string
}

func newRunValues(run contracts.RunView, known map[string]string) runValues {
	v := runValues{run, map[string]contracts.NodeView{}, map[string]contracts.Interrupt{}, maps.Clone(known), parents(run)}
	if v.names == nil {
		v.names = map[string]string{}
	}
	for _, n := range run.Nodes {
		v.nodes[n.NodeID] = n
		CollectNames(n.Facts, v.names)
	}
	for _, i := range run.Interrupts {
		if i.Type.IsGate() {
			v.gates[i.NodeID] = i
		}
	}
	return v
}

func (v runValues) call(n contracts.NodeView) Call {
	gate, gated := v.gates[n.NodeID]
	c := Call{
		Capability: n.Tool, Params: map[string]any{}, Named: map[string]any{}, State: n.State, Found: true, RunID: v.run.RunID, Node: n.NodeID, When: n.When != nil, Follows: ancestors(v.parents, n.NodeID),
		Write: n.Policy == nil || !slices.Contains([]contracts.SideEffectClass{contracts.ClassRead, contracts.ClassSuggest}, n.Policy.SideEffectClass),
		Gate:  gated && gate.Status == contracts.InterruptOpen || n.State == contracts.NodeAwaitingApproval,
	}
	for key, value := range v.source(n, gate, gated) {
		value, found := v.follow(value, n.Item)
		c.Params[key], c.Found = value, c.Found && found
		if id, ok := value.(string); ok && v.names[id] != "" {
			c.Named[key] = v.names[id]
		}
	}
	return c
}

// source are the parameters: what the gate shows, else what is planned.
func (v runValues) source(n contracts.NodeView, gate contracts.Interrupt, gated bool) map[string]any {
	if gated && gate.Action != nil && len(gate.Action.Parameters) > 0 {
		return gate.Action.Parameters
	}
	return n.Params
}

var expression = regexp.MustCompile(`^\$\{(.+)\}$`)

// follow resolves an expression; ok is false where there is no value yet, and
// the value is then the words of the look-up.
func (v runValues) follow(value, item any) (any, bool) {
	s, isText := value.(string)
	m := expression.FindStringSubmatch(s)
	if !isText || m == nil {
		return value, true
	}
	path := strings.Split(strings.TrimSpace(m[1]), ".")
	switch path[0] {
	case "item":
		got := descend(item, path[1:])
		return got, got != nil
	case "steps":
		if len(path) < 2 {
			return value, false
		}
		if got := descend(asMap(v.nodes[path[1]]), path[2:]); got != nil {
			return got, true
		}
		return v.searched(path[1]), false
	}
	return value, false
}

// searched are the words that a step was looked up with.
func (v runValues) searched(step string) any {
	for range 4 {
		n, ok := v.nodes[step]
		if !ok {
			return nil
		}
		if n.Role == contracts.RolePreSearch {
			words, _ := v.follow(n.Params["query"], n.Item)
			return words
		}
		if len(n.DependsOn) == 0 {
			return nil
		}
		step = n.DependsOn[0]
	}
	return nil
}

func descend(value any, path []string) any {
	for _, p := range path {
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = m[p]
	}
	return value
}

func asMap(n contracts.NodeView) any {
	raw, err := json.Marshal(n)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

// CollectNames adds what ids stand for, from facts with a value beside a name or
// a label.
func CollectNames(value any, names map[string]string) {
	switch value := value.(type) {
	case map[string]any:
		id, ok := value["value"].(string)
		for _, key := range []string{"name", "label"} {
			if name, named := value[key].(string); ok && named && name != "" && names[id] == "" {
				names[id] = name
			}
		}
		for _, v := range value {
			CollectNames(v, names)
		}
	case []any:
		for _, v := range value {
			CollectNames(v, names)
		}
	}
}
