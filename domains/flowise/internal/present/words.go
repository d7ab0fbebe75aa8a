// Package present words what the domain found for people, and keeps it within the
// limits of facts: shortened texts, counted things, digests and differences.
package present

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxName bounds the length of names, those that are shown and those that are given.
const maxName = 200

// NameOf is the name of a flow, for facts.
func NameOf(name string) string { return ClipLong(name, maxName) }

// Count is a number with its noun.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Clip shortens a text to one line of so many letters.
func Clip(text string, most int) string {
	return ClipLong(strings.Join(strings.Fields(text), " "), most)
}

// ClipLong is clip for texts whose lines and spaces matter.
func ClipLong(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
