package execution

import (
	"context"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// checkSearch validates the text of a repeated search against the search's schema before it is
// accepted as an answer.
func (r *Runner) checkSearch(ctx context.Context, i contracts.Interrupt, words string) error {
	if i.RunID == "" {
		return nil
	}
	s, err := r.store.LoadRun(ctx, i.RunID)
	if err != nil {
		return err
	}
	nodes := s.Run.Plan.Nodes
	for _, row := range s.Nodes {
		if row.Spec != nil {
			nodes = append(slices.Clip(nodes), *row.Spec)
		}
	}
	node := func(id string) (contracts.Node, bool) {
		at := slices.IndexFunc(nodes, func(n contracts.Node) bool { return n.NodeID == id })
		if at < 0 {
			return contracts.Node{}, false
		}
		return nodes[at], true
	}
	choice, _ := node(i.NodeID)
	search, param := runstate.SearchBefore(choice, node)
	entry, ok := r.catalogs.Catalog().Capability(search.Tool)
	if param == "" || !ok {
		return nil // not a search, or one that is validated when it is called
	}
	return fitsSchema(entry, map[string]any{param: words})
}
