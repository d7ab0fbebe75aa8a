package grounding

import (
	"slices"
	"strings"
)

// names checks that capitalized words are in the sources, and that adjacent ones belong together
// there.
func (c *check) names() Kind {
	inGerman := german(c.tokens)
	for i := 0; i < len(c.tokens); i++ {
		if !c.isName(i, inGerman) {
			continue
		}
		end := i + 1
		for end < len(c.tokens) && c.tokens[end].start-c.tokens[end-1].end <= 1 && c.isName(end, inGerman) {
			end++
		}
		if kind := c.run(i, end); kind != "" {
			return kind
		}
		i = end - 1
	}
	return ""
}

// isName reports whether a token is treated as a part of a name.
func (c *check) isName(i int, inGerman bool) bool {
	t := c.tokens[i]
	if t.kind != kindWord || !capital(elided(t.text)) || c.isQuoted(t) || unitOf(t.fold) != "" && c.behindNumber(i) {
		return false
	}
	if i+1 < len(c.tokens) && c.tokens[i+1].start == t.end && unitOf(t.fold+c.tokens[i+1].text) != "" {
		return false // US$
	}
	if len(c.find(t)) > 0 {
		return true
	}
	if common[t.fold] || c.g.known[t.fold] || currency(unitOf(t.fold)) || cardinal[t.fold] != 0 {
		return false
	}
	if !inGerman {
		return true
	}
	return !c.germanNoun(i)
}

var cardinal = cardinals()

// behindNumber reports whether a number is before the token, or after it as in a price.
func (c *check) behindNumber(i int) bool {
	if i == 0 {
		return false
	}
	before := c.tokens[i-1]
	return before.kind == kindNumber || scaleOf(before.fold) != 0 || i+1 < len(c.tokens) && c.tokens[i+1].kind == kindNumber
}

func (c *check) germanNoun(i int) bool {
	if nounEnding(c.tokens[i].fold) {
		return true
	}
	if i == 0 {
		return false
	}
	before := c.tokens[i-1]
	return before.kind == kindNumber || determiner(before.fold) || cardinal[before.fold] != 0
}

// find returns the places of a word, also without a genitive ending.
func (c *check) find(t token) []place {
	if places := c.g.words[t.fold]; len(places) > 0 {
		return places
	}
	for _, ending := range []string{"'s", "'", "s"} {
		if stem, ok := strings.CutSuffix(t.fold, ending); ok && len(stem) > 1 && len(c.g.words[stem]) > 0 {
			return c.g.words[stem]
		}
	}
	return c.g.words[elided(t.fold)]
}

// elided returns a word without an elided French article or preposition: d'Ana, l'échéance.
func elided(word string) string {
	if at := strings.IndexAny(word, "'’"); at > 0 && at <= 2 && slices.Contains([]string{"l", "d", "c", "s", "n", "j", "m", "qu"}, strings.ToLower(word[:at])) {
		return strings.TrimLeft(word[at:], "'’")
	}
	return word
}

// run checks a sequence of capitalized words.
func (c *check) run(from, to int) Kind {
	clause := c.clause(from)
	for i := from; i < to; i++ {
		places := c.find(c.tokens[i])
		if len(places) == 0 {
			return KindName
		}
		if i > from && !c.together(c.tokens[i-1], c.tokens[i]) {
			return KindName
		}
		if common[c.tokens[i].fold] {
			continue // it may be a separate word
		}
		c.rest(rowsOf(places)...)
		c.label(clause, places)
	}
	return ""
}

// label adds a name to its clause. Names of the question are not added, because they identify no
// row.
func (c *check) label(clause int, places []place) {
	places = slices.DeleteFunc(slices.Clone(places), func(p place) bool { return c.g.sources[c.g.rows[p.row].source].ID == "" })
	if len(places) > 0 {
		c.named = append(c.named, label{clause, places})
	}
}

// together reports whether two words are adjacent in a source, or in different columns of one row.
func (c *check) together(a, b token) bool {
	if common[a.fold] {
		return true
	}
	left, right := elided(a.fold), strings.TrimSuffix(elided(b.fold), "'s")
	pair := " " + left + " " + right + " "
	if slices.ContainsFunc(c.g.texts, func(t text) bool { return strings.Contains(t.words, pair) }) {
		return true
	}
	return slices.ContainsFunc(c.g.words[left], func(p place) bool {
		return slices.ContainsFunc(c.g.words[right], func(q place) bool { return p.row == q.row && p.column != q.column })
	})
}
