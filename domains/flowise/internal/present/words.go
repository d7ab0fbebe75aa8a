// Package present formats results for people within the limits of facts: shortened texts, counts,
// digests and diffs.
package present

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxName bounds the length of names, of shown and of new ones.
const maxName = 200

// NameOf returns the name of a flow for facts.
func NameOf(name string) string { return ClipLong(name, maxName) }

// Count formats a number with its noun.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Clip shortens a text to one line of at most that many runes.
func Clip(text string, most int) string {
	return ClipLong(strings.Join(strings.Fields(text), " "), most)
}

// ClipLong is like Clip, but keeps line breaks and spaces.
func ClipLong(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
