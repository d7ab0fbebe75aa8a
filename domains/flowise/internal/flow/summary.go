package flow

import (
	"fmt"
	"slices"
	"strings"
)

// Summary describes a flow briefly, for a person or a prompt: without positions, handles, schemas
// and secrets, and with long texts shortened.
type Summary struct {
	Kind  Kind          `json:"kind"`
	Nodes []NodeSummary `json:"nodes"`
	Edges []string      `json:"edges,omitempty"`
	// Notes counts sticky notes, Omitted the nodes beyond the limit.
	Notes   int `json:"notes,omitempty"`
	Omitted int `json:"omitted_nodes,omitempty"`
}

// NodeSummary describes a node.
type NodeSummary struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Label string `json:"label,omitempty"`
	// Output is the selected output of several.
	Output string `json:"output,omitempty"`
	Parent string `json:"parent,omitempty"`
	// Credential means that a credential is bound; its id is not included.
	Credential bool `json:"credential,omitempty"`
	// Params are the values that differ from the defaults, as "name=value".
	Params []string `json:"params,omitempty"`
}

// Limits of a summary.
const (
	maxSummaryNodes  = 60
	maxSummaryParams = 12
)

// Summarize describes a graph. It is deterministic.
func Summarize(g *Graph, kind Kind, defs Definitions) Summary {
	if kind == "" {
		kind = KindOf(g)
	}
	s := Summary{Kind: kind}
	for _, n := range g.Nodes() {
		switch {
		case isNote(n.Name()):
			s.Notes++
		case len(s.Nodes) == maxSummaryNodes:
			s.Omitted++
		default:
			s.Nodes = append(s.Nodes, summarizeNode(n, defs))
		}
	}
	for _, e := range g.Edges() {
		if len(s.Edges) < 2*maxSummaryNodes {
			s.Edges = append(s.Edges, e.String())
		}
	}
	return s
}

func summarizeNode(n Node, defs Definitions) NodeSummary {
	s := NodeSummary{
		ID: n.id, Name: n.Name(), Label: clip(n.Label()), Output: n.output(), Parent: n.Parent(),
		Credential: n.Credential() != "",
	}
	inputs := n.part(partInputs)
	params, anchors, secrets := n.params(), n.anchors(), maskerOf(n, defs)
	for _, m := range members(inputs) {
		value := inputs[m.from:m.to]
		_, wired := byName(anchors, m.key)
		if wired || string(value) == `""` || string(value) == "null" || string(value) == "[]" || m.key == nestedCredential || len(s.Params) == maxSummaryParams {
			continue
		}
		if f, ok := byName(params, m.key); ok {
			standard, _ := get(f, "default")
			if slices.Equal(compact(standard), compact(value)) || falsy(standard) && falsy(value) {
				continue
			}
		}
		text := strings.Join(strings.Fields(secrets.show(m.key, value)), " ")
		s.Params = append(s.Params, m.key+"="+clip(text))
	}
	return s
}

// String formats the summary: one line per node, then one per edge.
func (s Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s with %d nodes and %d edges\n", s.Kind, len(s.Nodes)+s.Omitted, len(s.Edges))
	for _, n := range s.Nodes {
		fmt.Fprintf(&b, "%s (%s) %q", n.ID, n.Name, n.Label)
		if n.Output != "" {
			fmt.Fprintf(&b, " output=%s", n.Output)
		}
		if n.Parent != "" {
			fmt.Fprintf(&b, " in=%s", n.Parent)
		}
		if n.Credential {
			b.WriteString(" credential=bound")
		}
		for _, p := range n.Params {
			b.WriteString(" " + p)
		}
		b.WriteByte('\n')
	}
	if s.Omitted > 0 {
		fmt.Fprintf(&b, "… and %d more nodes\n", s.Omitted)
	}
	for _, e := range s.Edges {
		b.WriteString(e + "\n")
	}
	return b.String()
}
