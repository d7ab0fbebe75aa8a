package edit

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Kind is a kind of node that matches a query.
type Kind struct {
	Def *knowledge.Definition
	// Exact means that the query is its name or label.
	Exact bool
}

// Kinds returns the kinds of some categories that match a query: those with that name or label,
// else those whose label or name contains all words, shortest first.
func Kinds(defs flow.Definitions, query string, categories ...string) []Kind {
	want := Words(query)
	var exact, near []Kind
	for _, name := range defs.Names() {
		def, _ := defs.Node(name)
		if len(categories) > 0 && !slices.ContainsFunc(categories, func(c string) bool { return strings.HasPrefix(def.Category, c) }) || strings.Contains(name, "_LlamaIndex") {
			continue
		}
		have := append(Words(def.Label), Words(def.Name)...)
		switch {
		case slices.Equal(want, Words(def.Label)) || slices.Equal(want, Words(def.Name)):
			exact = append(exact, Kind{def, true})
		case len(want) > 0 && !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) && !fillers[w] }):
			near = append(near, Kind{def, false})
		}
	}
	if len(exact) > 0 {
		return exact
	}
	slices.SortStableFunc(near, func(a, b Kind) int { return cmp.Compare(len(a.Def.Label), len(b.Def.Label)) })
	// A kind whose label equals the query except for filler words is an exact match.
	if len(near) > 0 && slices.Equal(significant(want), significant(Words(near[0].Def.Label))) {
		near[0].Exact = true
		return near[:1]
	}
	if len(near) == 0 && len(categories) > 0 {
		return akin(defs, significant(want), categories)
	}
	return near
}

// akin returns kinds of some categories that contain the last word, which is the noun: for "web
// search", kinds with "search". Kinds with more of the other words come first.
func akin(defs flow.Definitions, want, categories []string) []Kind {
	if len(want) == 0 {
		return nil
	}
	type rated struct {
		Kind
		words int
	}
	var found []rated
	for _, name := range defs.Names() {
		def, _ := defs.Node(name)
		have := slices.Concat(Words(def.Label), Words(def.Name))
		within := slices.ContainsFunc(categories, func(c string) bool { return strings.HasPrefix(def.Category, c) })
		if !within || strings.Contains(name, "_LlamaIndex") || !slices.Contains(have, want[len(want)-1]) {
			continue
		}
		k := rated{Kind: Kind{def, false}}
		for _, w := range want {
			if slices.Contains(have, w) {
				k.words++
			}
		}
		found = append(found, k)
	}
	slices.SortStableFunc(found, func(a, b rated) int { return cmp.Compare(b.words, a.words) })
	var out []Kind
	for _, k := range found {
		out = append(out, k.Kind)
	}
	return out
}

// fillers are words without significance in the name of a kind.
var fillers = map[string]bool{"the": true, "a": true, "an": true, "tool": true, "node": true, "memory": true, "loader": true, "model": true, "chat": true, "moderation": true}

func significant(words []string) []string {
	out := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return fillers[w] })
	if len(out) == 0 {
		return words
	}
	return out
}

// Words splits a text into lower-case words, also at changes of case.
func Words(text string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = nil
		}
	}
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return out
}
