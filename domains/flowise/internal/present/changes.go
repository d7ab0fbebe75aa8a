package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// fit shortens the longest lists until everything fits.
func (c *Changes) fit() {
	lists := []*[]string{&c.NodesAdded, &c.NodesRemoved, &c.ParamsChanged, &c.EdgesAdded, &c.EdgesRemoved, &c.Other}
	for Size(*c) > shareChanges {
		longest := slices.MaxFunc(lists, func(a, b *[]string) int { return cmp.Compare(Size(*a), Size(*b)) })
		if len(*longest) == 0 {
			return
		}
		keep := len(*longest) * 3 / 4
		c.More += len(*longest) - keep
		*longest = (*longest)[:keep]
	}
}

// Changes is a brief diff.
type Changes struct {
	Line          string   `json:"line"`
	NodesAdded    []string `json:"nodes_added"`
	NodesRemoved  []string `json:"nodes_removed"`
	ParamsChanged []string `json:"params_changed"`
	EdgesAdded    []string `json:"edges_added"`
	EdgesRemoved  []string `json:"edges_removed"`
	Other         []string `json:"other"`
	More          int      `json:"more,omitempty"`
}

// maxChanges bounds each list of a diff.
const maxChanges = 20

// ChangesOf converts a diff.
func ChangesOf(d flow.Diff) Changes {
	var out Changes
	list := func(items []string) []string {
		kept := make([]string, 0, min(maxChanges, len(items)))
		for _, item := range items[:min(maxChanges, len(items))] {
			kept = append(kept, Clip(item, 160))
		}
		out.More += len(items) - len(kept)
		return kept
	}
	var params []string
	for _, p := range d.Params {
		params = append(params, fmt.Sprintf("%s.%s: %s → %s", p.NodeID, p.Param, Clip(p.Before, 50), Clip(p.After, 50)))
	}
	other := append([]string{}, d.Other...)
	for _, r := range d.NodesRenamed {
		other = append(other, fmt.Sprintf("%s renamed from %s to %s", r.ID, r.Before, r.After))
	}
	for _, id := range d.Credentials {
		other = append(other, id+" uses another credential")
	}
	out.NodesAdded, out.NodesRemoved = list(refs(d.NodesAdded)), list(refs(d.NodesRemoved))
	out.ParamsChanged, out.EdgesAdded, out.EdgesRemoved = list(params), list(d.EdgesAdded), list(d.EdgesRemoved)
	out.Other = list(other)
	out.Line = changeLine(d, len(other)+len(d.NodesMoved))
	out.fit()
	return out
}

func refs(nodes []flow.NodeRef) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, fmt.Sprintf("%s (%s)", n.ID, n.Name))
	}
	return out
}

func changeLine(d flow.Diff, other int) string {
	var parts []string
	for _, p := range []struct {
		n          int
		what, done string
	}{
		{len(d.NodesAdded), "node", " added"},
		{len(d.NodesRemoved), "node", " removed"},
		{len(d.Params), "parameter", " changed"},
		{len(d.EdgesAdded), "connection", " added"},
		{len(d.EdgesRemoved), "connection", " removed"},
		{other, "other change", ""},
	} {
		if p.n > 0 {
			parts = append(parts, Count(p.n, p.what)+p.done)
		}
	}
	if len(parts) == 0 {
		return "no changes"
	}
	return strings.Join(parts, ", ")
}

// Lines returns the changes, those of values first.
func (c *Changes) Lines() []string {
	var out []string
	for _, list := range []struct {
		items []string
		says  string
	}{
		{c.ParamsChanged, "%s"},
		{c.NodesAdded, "new: %s"},
		{c.NodesRemoved, "gone: %s"},
		{c.Other, "%s"},
		{c.EdgesAdded, "connected: %s"},
		{c.EdgesRemoved, "disconnected: %s"},
	} {
		for _, item := range list.items {
			out = append(out, fmt.Sprintf(list.says, item))
		}
	}
	return out
}
