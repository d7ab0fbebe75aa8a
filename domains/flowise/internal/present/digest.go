package present

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Histogram counts the nodes by kind.
func Histogram(g *flow.Graph) map[string]int {
	out := map[string]int{}
	for _, n := range g.Nodes() {
		out[n.Name()]++
	}
	return out
}

// Digest is a brief description of a flow; it depends only on its bytes and definitions.
type Digest struct {
	ChatflowID string             `json:"chatflow_id,omitempty"`
	Name       string             `json:"name,omitempty"`
	Type       string             `json:"type"`
	SHA256     string             `json:"sha256"`
	NodeCount  int                `json:"node_count"`
	EdgeCount  int                `json:"edge_count"`
	NodeTypes  map[string]int     `json:"node_types"`
	ToolNodes  []string           `json:"tool_nodes"`
	Nodes      []flow.NodeSummary `json:"nodes"`
	Edges      []string           `json:"edges"`
	// Fingerprint is the fingerprint of the node definitions used.
	Fingerprint string `json:"schema_fingerprint"`
	Omitted     int    `json:"omitted_nodes,omitempty"`
}

// Summary describes the flow.
func (d Digest) Summary() string {
	return fmt.Sprintf("%s: %s with %s and %s", cmp.Or(Clip(d.Name, 80), "flow"), d.Type, Count(d.NodeCount, "node"), Count(d.EdgeCount, "connection"))
}

// MaxDigest leaves room for other facts.
const MaxDigest = contracts.MaxFactsBytes - 2048

// DigestOf describes a graph, with less detail per node for larger graphs.
func DigestOf(g *flow.Graph, kind flow.Kind, defs *knowledge.Snapshot) Digest {
	s := flow.Summarize(g, kind, defs)
	out := Digest{
		Type: string(s.Kind), SHA256: g.SHA256(), NodeCount: len(g.Nodes()), EdgeCount: len(g.Edges()), NodeTypes: Commonest(Histogram(g)),
		Nodes: s.Nodes, Edges: s.Edges, Omitted: s.Omitted, Fingerprint: defs.Fingerprint(),
	}
	for _, n := range g.Nodes() {
		if strings.HasPrefix(n.Category(), "Tools") {
			out.ToolNodes = append(out.ToolNodes, n.ID())
		}
	}
	out.ToolNodes = Within(out.ToolNodes, shareTools)
	for _, most := range []int{6, 3, 0} {
		if Size(out) <= MaxDigest {
			return out
		}
		for i := range out.Nodes {
			out.Nodes[i].Params = out.Nodes[i].Params[:min(most, len(out.Nodes[i].Params))]
		}
	}
	for Size(out) > MaxDigest && len(out.Nodes)+len(out.Edges) > 0 {
		out.Omitted += len(out.Nodes) - len(out.Nodes)/2
		out.Nodes, out.Edges = out.Nodes[:len(out.Nodes)/2], out.Edges[:len(out.Edges)/2]
	}
	return out
}
