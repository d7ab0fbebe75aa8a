package present

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// Facts are limited as a whole; these are the shares of their parts, in bytes.
const (
	shareChanges  = 5 << 10
	ShareFaults   = 4 << 10
	ShareFindings = 5 << 10
	ShareKinds    = 3 << 10
	shareTools    = 2 << 10
)

// Within returns the first items that fit in a share of the bytes.
func Within[T any](items []T, share int) []T {
	for len(items) > 0 && Size(items) > share {
		items = items[:len(items)*3/4]
	}
	return items
}

// otherKinds stands for the kinds of nodes that are not named.
const otherKinds = "(others)"

// Commonest returns the most common kinds with their counts, within the limits.
func Commonest(kinds map[string]int) map[string]int {
	names := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int {
		return cmp.Or(cmp.Compare(kinds[b], kinds[a]), cmp.Compare(a, b))
	})
	kept := Within(names, ShareKinds)
	out := make(map[string]int, len(kept))
	for _, name := range kept {
		out[name] = kinds[name]
	}
	for _, name := range names[len(kept):] {
		out[otherKinds] += kinds[name]
	}
	return out
}

// Size returns the size of v as JSON in bytes; a value without JSON form counts as too large.
func Size(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		return 1 << 30
	}
	return len(raw)
}
