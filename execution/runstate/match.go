package runstate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
)

// QuotedMatch returns the one match whose full name is in the message around the searched text: the
// search text "Sales" may have been taken from "the Sales agent". It returns "" if no match or more
// than one has that.
func QuotedMatch(s *State, choice *Node, matches []any) string {
	search, param := s.SearchBefore(choice)
	if param == "" || search.Row.Edited != nil {
		return "" // the search text is not from the sentence
	}
	words, _ := search.Spec.Params[param].(string)
	said := utteranceOf(choice)
	if said == nil || words == "" {
		return ""
	}
	found := ""
	for _, item := range matches {
		m, _ := item.(map[string]any)
		name, _ := m["name"].(string)
		if !standsWhole(said, choice.Spec.Human.Param, words, name) || name == found {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// IsNearMatch reports whether a match is not exact: the search says so ("exact": false), or it says
// nothing and the match lacks a word of the search text.
func IsNearMatch(s *State, choice *Node, match map[string]any) bool {
	if exact, told := match["exact"].(bool); told {
		return !exact
	}
	search, param := s.SearchBefore(choice)
	name, named := match["name"].(string)
	if param == "" || !named {
		return false
	}
	words, _ := search.Spec.Params[param].(string)
	if edited, again := search.Row.Edited[param].(string); again {
		words = edited
	}
	has := wordsOf(name)
	for _, key := range []string{"value", "label", "detail"} {
		text, _ := match[key].(string)
		has = append(has, wordsOf(text)...)
	}
	return slices.ContainsFunc(wordsOf(words), func(w string) bool { return !slices.Contains(has, w) })
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// utteranceOf returns the annotated sentence of the call that uses the node's result.
func utteranceOf(n *Node) *contracts.Utterance {
	for _, d := range n.dependents {
		if d.Spec.Utterance != nil && slices.Contains(d.Spec.DependsOn, n.ID()) {
			return d.Spec.Utterance
		}
	}
	return nil
}

// standsWhole reports whether the sentence contains the name around words that are a value of the
// parameter, and the rest of the name is no other value or request.
func standsWhole(said *contracts.Utterance, param, words, name string) bool {
	return slices.ContainsFunc(said.Words, func(w contracts.WordUse) bool {
		inside := 0 <= w.Span[0] && w.Span[0] < w.Span[1] && w.Span[1] <= len(said.Text)
		if !inside || w.Class != contracts.WordValue || w.Parameter != param || !strings.EqualFold(said.Text[w.Span[0]:w.Span[1]], words) {
			return false
		}
		at := indexFold(name, words)
		start := w.Span[0] - at
		end := start + len(name)
		return at >= 0 && start >= 0 && end <= len(said.Text) && strings.EqualFold(said.Text[start:end], name) &&
			bounded(said.Text, start, end) && !slices.ContainsFunc(said.Words, func(o contracts.WordUse) bool {
			touches := o.Span[0] < end && start < o.Span[1]
			return touches && o != w && o.Class != contracts.WordCommand && o.Class != contracts.WordUnused && o.Class != contracts.WordUnresolved
		})
	})
}

// indexFold is strings.Index without regard to case. It returns -1 if folding changes the length.
func indexFold(s, part string) int {
	low := strings.ToLower(s)
	if len(low) != len(s) {
		return -1
	}
	return strings.Index(low, strings.ToLower(part))
}

// bounded reports whether no letter or digit touches text[start:end].
func bounded(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return !inWord(before) && !inWord(after)
}
