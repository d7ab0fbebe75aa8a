package execution

import "github.com/manifold-run/manifold/contracts"

// local has the methods of kinds that end at once and make no call.
type local struct{}

func (local) reply(*activation, completion)                  {}
func (local) answer(*activation, contracts.InterruptDecided) {}
func (local) resume(*activation) bool                        { return false }
func (local) onWaitTimeout(*activation) bool                 { return false }
func (local) mayHaveEffect(*node) bool                       { return false }

// join merges the results of several nodes.
type join struct{ local }

func (join) start(t *activation) {
	t.row.Begin(t.now())
	t.end(t.run.Joined(t.n.Node, t.row))
}
