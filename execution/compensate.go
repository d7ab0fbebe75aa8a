package execution

import (
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/expr"
)

// CompletedCall finds a node that took effect, as its planned node with the
// evidence that it was approved on, and the values that the param_map of its
// compensation may read.
func CompletedCall(s Snapshot, nodeID string) (contracts.Node, expr.Scope, error) {
	l := newLoop(&Runner{}, Lease{RunID: s.Run.ID})
	l.stored = s.Run
	if err := l.build(s.Nodes); err != nil {
		return contracts.Node{}, nil, err
	}
	n, ok := l.nodes[nodeID]
	if !ok {
		return contracts.Node{}, nil, contracts.Errorf(contracts.CodeNotFound, "run %s has no node %q", s.Run.ID, nodeID)
	}
	if !writes(n) || n.v.state != contracts.NodeCompleted {
		return contracts.Node{}, nil, contracts.Errorf(contracts.CodeConflict, "node %s is no write that took effect; there is nothing to undo", nodeID)
	}
	spec := n.v.spec
	spec.Evidence = n.rec.Evidence
	return spec, l.callScope(n, n.rec.key(s.Run.ID)), nil
}
