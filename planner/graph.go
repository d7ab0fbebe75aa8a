package planner

import (
	"strconv"

	"github.com/manifold-run/manifold/contracts"
)

// graph is the plan as far as it is made. It only grows, and within its limit;
// every node that one depends on was added before it, so that it is a DAG by
// construction.
type graph struct {
	// first is how many nodes stand before those of the plan, in the run that it is
	// added to; limit is how many the plan may have.
	first  int
	limit  int
	nodes  []contracts.Node
	edges  int
	groups int
}

// nextID is the id of the node that is added next.
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
