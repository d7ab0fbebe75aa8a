package report

import (
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// nodeTree arranges nodes as a tree for display. A plan is a graph; further dependencies of a node are
// not drawn.
type nodeTree struct {
	nodes    []contracts.NodeView
	children map[string][]int
	roots    []int
}

// Line is a node with its indentation.
type Line struct {
	Indent string
	Node   *contracts.NodeView
}

// Tree orders nodes for display: each below the last node that it depends on.
func Tree(nodes []contracts.NodeView) []Line { return newTree(nodes).lines() }

func newTree(nodes []contracts.NodeView) *nodeTree {
	t := &nodeTree{nodes: nodes, children: map[string][]int{}}
	known := map[string]bool{}
	for i, n := range nodes {
		parent := ""
		for _, dep := range n.DependsOn {
			if known[dep] {
				parent = dep
			}
		}
		// A node with several dependencies is a root, not the child of one of them.
		if parent == "" || len(n.DependsOn) > 1 {
			t.roots = append(t.roots, i)
		} else {
			t.children[parent] = append(t.children[parent], i)
		}
		known[n.NodeID] = true
	}
	return t
}

// maxIndent keeps long chains readable.
const maxIndent = 6

func (t *nodeTree) lines() []Line {
	out := make([]Line, 0, len(t.nodes))
	var walk func(i, depth int)
	walk = func(i, depth int) {
		out = append(out, Line{strings.Repeat("  ", min(depth, maxIndent)), &t.nodes[i]})
		for _, child := range t.children[t.nodes[i].NodeID] {
			walk(child, depth+1)
		}
	}
	for _, i := range t.roots {
		walk(i, 0)
	}
	return out
}
