package planner

import (
	"strconv"

	"github.com/manifold-run/manifold/contracts"
)

// graph is the plan under construction. It only grows, up to its limit. A node depends only on
// nodes that were added before it, so it is a DAG by construction.
type graph struct {
	// first is the number of nodes of the run that the plan is added to; limit is the most nodes of
	// the plan.
	first  int
	limit  int
	nodes  []contracts.Node
	edges  int
	groups int
}

// nextID returns the id of the node that is added next.
func (d *graph) nextID() string { return "n" + strconv.Itoa(d.first+len(d.nodes)+1) }

// node returns a node that was added before.
func (d *graph) node(id string) *contracts.Node {
	n, err := strconv.Atoi(id[1:])
	if n -= d.first; err != nil || n < 1 || n > len(d.nodes) {
		return &contracts.Node{}
	}
	return &d.nodes[n-1]
}

// add appends a node and returns its id.
func (d *graph) add(n contracts.Node) (string, error) {
	if len(d.nodes) >= d.limit {
		return "", tooManyNodes("the request", d.limit)
	}
	if d.edges += len(n.DependsOn) + len(n.RunAfter); d.edges > maxEdges {
		return "", contracts.Errorf(contracts.CodeBudgetExceeded,
			"the request has too many steps that wait for each other; ask for less at once")
	}
	n.NodeID = d.nextID()
	d.nodes = append(d.nodes, n)
	return n.NodeID, nil
}
