package answer

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Undoable returns the writes of a run that took effect, are not compensated in it, and declare a
// compensation, the last first.
func Undoable(catalog *contracts.Catalog, run contracts.RunView) []contracts.NodeView {
	back := map[string]bool{}
	for _, n := range run.Nodes {
		if n.CompensatesNode != "" && n.State == contracts.NodeCompleted {
			back[n.CompensatesNode], back[n.NodeID] = true, true
		}
	}
	var out []contracts.NodeView
	for _, n := range slices.Backward(run.Nodes) {
		entry, known := catalog.Capability(n.Tool)
		if known && !run.Plan.DryRun && !back[n.NodeID] && n.Kind == contracts.KindTool && n.Role == "" && n.State == contracts.NodeCompleted && entry.Capability.Metadata.Compensation != nil {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b contracts.NodeView) int { return finished(b).Compare(finished(a)) })
	return out
}

func finished(n contracts.NodeView) time.Time {
	if n.FinishedAt == nil {
		return time.Time{}
	}
	return *n.FinishedAt
}

// remainingEffects lists the writes of a run that did not complete, and how to undo them.
func (c *composer) remainingEffects() {
	if !c.view.State.Terminal() || c.view.State == contracts.RunCompleted {
		return
	}
	var done []string
	for _, n := range Undoable(c.catalog, c.view) {
		done = append(done, cmp.Or(n.Summary, n.Title, n.Tool))
	}
	if len(done) > 0 {
		c.text(contracts.BlockNote, "Done before that, and still so: "+strings.Join(done, "; ")+". To have it taken back, the last first: `undo all` in the chat, or `manifold run compensate "+c.view.RunID+"`.")
	}
}
