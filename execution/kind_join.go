package execution

import "github.com/manifold-run/manifold/contracts"

// local is what kinds have in common that decide at once and call nobody.
type local struct{}

func (local) reply(*turn, done)                        {}
func (local) answer(*turn, contracts.InterruptDecided) {}
func (local) resume(*turn) bool                        { return false }
func (local) overdue(*turn) bool                       { return false }
func (local) unsettled(*node) bool                     { return false }

// join brings the results of several nodes together.
type join struct{ local }

func (join) start(t *turn) {
	t.row.Begin(t.now())
	t.end(t.run.Joined(t.n.Node, t.row))
}
