package sandbox

import (
	"encoding/json"
	"slices"
	"strings"
)

// graph is a flow as the runtime reads it, without most of what the canvas needs.
type graph struct {
	nodes    []*node
	edges    []edge
	hasEdges bool
}

type node struct {
	ID   string `json:"id"`
	Data struct {
		ID         string         `json:"id"`
		Name       string         `json:"name"`
		Label      string         `json:"label"`
		Category   string         `json:"category"`
		Credential string         `json:"credential"`
		Inputs     map[string]any `json:"inputs"`
		Outputs    map[string]any `json:"outputs"`
		Params     []param        `json:"inputParams"`
	} `json:"data"`
}

// param is a parameter in a node of a saved flow.
type param struct {
	Name           string `json:"name"`
	AcceptVariable bool   `json:"acceptVariable"`
}

type edge struct {
	ID           string `json:"id"`
	Source       string `json:"source"`
	Target       string `json:"target"`
	SourceHandle string `json:"sourceHandle"`
}

func (n *node) text(input string) string {
	text, _ := n.Data.Inputs[input].(string)
	return text
}

// ends reports whether the node is configured to end a flow.
func (n *node) ends() bool { return n.Data.Outputs["output"] == "EndingNode" }

func parse(data string) (*graph, error) {
	var in struct {
		Nodes []*node `json:"nodes"`
		Edges []edge  `json:"edges"`
	}
	if err := json.Unmarshal([]byte(data), &in); err != nil {
		return nil, said("TypeError: %s", err)
	}
	return &graph{in.Nodes, in.Edges, in.Edges != nil}, nil
}

func typeError(reading string) error {
	return said("TypeError: Cannot read properties of undefined (reading '%s')", reading)
}

func (g *graph) node(id string) *node {
	i := slices.IndexFunc(g.nodes, func(n *node) bool { return n.ID == id })
	if i < 0 {
		return nil
	}
	return g.nodes[i]
}

// endings returns the nodes at which a chatflow may end.
func (g *graph) endings() ([]*node, error) {
	if !g.hasEdges {
		return nil, typeError("length")
	}
	in, out := map[string]int{}, map[string]int{}
	for _, e := range g.edges {
		in[e.Target]++
		out[e.Source]++
	}
	var good []*node
	var fault error
	seen := map[string]bool{}
	for _, n := range g.nodes {
		seen[n.ID] = true
	}
	for _, e := range g.edges {
		seen[e.Target] = true // counted even if the node does not exist, as on the server
	}
	for _, n := range g.nodes {
		if len(seen) != 1 && (out[n.ID] > 0 || in[n.ID] == 0) {
			continue
		}
		if !n.ends() && !slices.Contains([]string{"Chains", "Agents", "Engine", "Multi Agents", "Sequential Agents"}, n.Data.Category) {
			fault = said("Error: Ending node must be either a Chain or Agent or Engine")
			continue
		}
		good = append(good, n)
	}
	if len(good) == 0 && fault == nil {
		fault = said("Error: Ending nodes not found")
	}
	if len(good) == 0 {
		return nil, fault
	}
	return good, nil
}

// needed returns the nodes that lead to an ending, in an order in which they can be initialized. A
// missing node is a TypeError.
func (g *graph) needed(end *node) ([]*node, error) {
	var order []*node
	state := map[string]int{} // 1: being visited, 2: done
	var visit func(id string) error
	visit = func(id string) error {
		n := g.node(id)
		switch {
		case n == nil:
			return typeError("flatMap")
		case state[id] == 1:
			return said("RangeError: Maximum call stack size exceeded")
		case state[id] == 2:
			return nil
		}
		state[id] = 1
		for _, e := range g.edges {
			if e.Target != id {
				continue
			}
			if err := visit(e.Source); err != nil {
				return err
			}
		}
		state[id] = 2
		order = append(order, n)
		return nil
	}
	err := visit(end.ID)
	return order, err
}

// refs returns the nodes to which an input refers.
func (g *graph) refs(value any) []*node {
	var out []*node
	switch v := value.(type) {
	case string:
		for part := range strings.SplitSeq(v, "{{") {
			name, _, closed := strings.Cut(part, "}}")
			id, found := strings.CutSuffix(strings.TrimSpace(name), ".data.instance")
			if n := g.node(id); closed && found && n != nil {
				out = append(out, n)
			}
		}
	case []any:
		for _, item := range v {
			out = append(out, g.refs(item)...)
		}
	}
	return out
}
