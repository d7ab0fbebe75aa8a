package execution

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/model"
)

// nothingFound is the question of a search without matches.
func nothingFound(t *turn, i *contracts.Interrupt) {
	i.Prompt = "Nothing was found. " + i.Prompt
	search, param := t.run.SearchBefore(t.n.Node)
	if param == "" {
		return
	}
	i.ResponseSchema = decision.OrWords(i.ResponseSchema)
	// The plan's prompt has the first words in it, unless they are personal.
	if words, ok := search.Row.Edited[param].(string); ok {
		if before, _, quoted := strings.Cut(i.Prompt, ` is meant by "`); quoted {
			i.Prompt = contracts.CleanSummary(fmt.Sprintf("%s is meant by %q?", before, words))
		}
	}
}

// checkSearch holds the words of a further search to the search's own schema
// before they are taken for an answer.
func (r *Runner) checkSearch(ctx context.Context, i contracts.Interrupt, words string) error {
	if i.RunID == "" {
		return nil
	}
	s, err := r.store.LoadRun(ctx, i.RunID)
	if err != nil {
		return err
	}
	node := func(id string) (contracts.Node, bool) {
		at := slices.IndexFunc(s.Run.Plan.Nodes, func(n contracts.Node) bool { return n.NodeID == id })
		if at < 0 {
			return contracts.Node{}, false
		}
		return s.Run.Plan.Nodes[at], true
	}
	choice, _ := node(i.NodeID)
	search, param := model.SearchBefore(choice, node)
	entry, ok := r.catalogs.Catalog().Capability(search.Tool)
	if param == "" || !ok {
		return nil // it is no search, or one that is asked about when it is made
	}
	return fitsSchema(entry, map[string]any{param: words})
}
