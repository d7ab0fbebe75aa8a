package planner

import (
	"strconv"

	"github.com/manifold-run/manifold/contracts"
)

// draft is the plan as far as it is made. It only grows, and within its limit;
// every node that one depends on was added before it, so that it is a DAG by
// construction.
type draft struct {
	// limit is how many nodes the plan may have.
	limit  int
	nodes  []contracts.Node
	edges  int
	groups int
}

// nextID is the id of the node that is added next.
func (d *draft) nextID() string { return "n" + strconv.Itoa(len(d.nodes)+1) }

// node gives a node that was added before.
func (d *draft) node(id string) *contracts.Node {
	n, err := strconv.Atoi(id[1:])
	if err != nil || n < 1 || n > len(d.nodes) {
		return &contracts.Node{}
	}
	return &d.nodes[n-1]
}

// add appends a node and gives its id.
func (d *draft) add(n contracts.Node) (string, error) {
	if len(d.nodes) >= d.limit {
		return "", tooManyNodes("the request", d.limit)
	}
	if d.edges += len(n.DependsOn) + len(n.After); d.edges > maxEdges {
		return "", contracts.Errorf(contracts.CodeBudgetExceeded,
			"the request has too many steps that wait for each other; ask for less at once")
	}
	n.NodeID = d.nextID()
	d.nodes = append(d.nodes, n)
	return n.NodeID, nil
}
