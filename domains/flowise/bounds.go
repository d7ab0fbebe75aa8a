package flowise

import (
	"cmp"
	"maps"
	"slices"
)

// Facts are bounded as a whole; these are the shares of their parts, in bytes.
const (
	shareChanges  = 5 << 10
	shareFaults   = 4 << 10
	shareFindings = 5 << 10
	shareKinds    = 3 << 10
	shareTools    = 2 << 10
)

// maxName is how much of a name is told; names that are given have at most so
// many letters.
const maxName = 200

// nameOf is the name of a flow, for facts.
func nameOf(name string) string { return clipLong(name, maxName) }

// within gives the first items that have a share of the bytes.
func within[T any](items []T, share int) []T {
	for len(items) > 0 && size(items) > share {
		items = items[:len(items)*3/4]
	}
	return items
}

// otherKinds stands for the kinds of nodes that are not named.
const otherKinds = "(others)"

// commonest names the kinds that most nodes are of, as far as they have room.
func commonest(kinds map[string]int) map[string]int {
	names := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int {
		return cmp.Or(cmp.Compare(kinds[b], kinds[a]), cmp.Compare(a, b))
	})
	kept := within(names, shareKinds)
	out := make(map[string]int, len(kept))
	for _, name := range kept {
		out[name] = kinds[name]
	}
	for _, name := range names[len(kept):] {
		out[otherKinds] += kinds[name]
	}
	return out
}

// fit drops the ends of the longest lists until all of it has room.
func (c *Changes) fit() {
	lists := []*[]string{&c.NodesAdded, &c.NodesRemoved, &c.ParamsChanged, &c.EdgesAdded, &c.EdgesRemoved, &c.Other}
	for size(*c) > shareChanges {
		longest := slices.MaxFunc(lists, func(a, b *[]string) int { return cmp.Compare(size(*a), size(*b)) })
		if len(*longest) == 0 {
			return
		}
		keep := len(*longest) * 3 / 4
		c.More += len(*longest) - keep
		*longest = (*longest)[:keep]
	}
}
