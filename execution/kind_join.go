package execution

import "github.com/manifold-run/manifold/contracts"

// local is what kinds have in common that decide at once and call nobody.
type local struct{}

func (local) reply(*activation, completion)                  {}
func (local) answer(*activation, contracts.InterruptDecided) {}
func (local) resume(*activation) bool                        { return false }
func (local) onWaitTimeout(*activation) bool                 { return false }
func (local) mayHaveEffect(*node) bool                       { return false }

// join brings the results of several nodes together.
type join struct{ local }

func (join) start(t *activation) {
	t.row.Begin(t.now())
	t.end(t.run.Joined(t.n.Node, t.row))
}
