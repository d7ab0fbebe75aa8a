package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// collect takes the words that the manifest gives beside its examples.
func collect(s *Set, entry *contracts.CapabilityEntry, title string) {
	c := entry.Capability
	names := []string{tokenize.SplitName(entry.Domain), title}
	for _, p := range s.params {
		names = append(names, tokenize.SplitName(p.single), tokenize.SplitName(p.list))
	}
	for _, phrases := range s.phrases {
		for _, ph := range phrases {
			if ph.kind == kindAlias || ph.kind == kindEnum {
				names = append(names, strings.Join(ph.words, " "))
			}
		}
	}
	s.known.Collect(s.tools.Lexicon.Lexica, c.Metadata.IntentHints, tokenize.SplitName(c.Name), names)
}

// RequestWords answers which words a capability is asked for with, beside its values.
type RequestWords struct{ of *Set }

// NewRequestWords gives the words of a set.
func NewRequestWords(s *Set) RequestWords { return RequestWords{s} }

// Head reports whether the capability is asked for with a word, in another form,
// misspelled by a letter, or at the end of a compound.
func (a RequestWords) Head(t tokenize.Token) bool { return a.of.known.Head(t) }

// Says reports whether an example has folded words in a row.
func (a RequestWords) Says(folds []string) bool { return a.of.known.Says(folds) }

// Bound tells which end of a range a parameter is: 1 for the lower end of numbers
// ("above"), -1 for the upper end ("below"), 0 for none.
func (a RequestWords) Bound(name string) int {
	p := a.of.byName(name)
	if p == nil || !p.numeric() {
		return 0
	}
	return p.bound()
}

func (p *param) bound() int {
	for _, w := range p.words {
		switch w {
		case "abov", "above", "over", "min", "minimum", "least", "floor", "exceed", "greater", "lower":
			return 1
		case "below", "under", "max", "maximum", "most", "ceil", "less", "upper":
			return -1
		}
	}
	return 0
}

// Loose tells a value that was taken for one by how it looks and where it stands: a
// name or free words, but no text that is to be said.
func (a RequestWords) Loose(name string, ev contracts.Evidence) bool {
	p := a.of.byName(name)
	return p != nil && !p.speaks(a.of.tools.cues) && (ev.Kind == kindName || ev.Kind == kindPhrase || ev.Kind == kindContext && (p.naming || p.written.Things()))
}

// Honoured tells a value with a title before it that is no part of it, as in "Dr Silva".
func (a RequestWords) Honoured(m *Message, first int) bool {
	return a.of.passage(m, Range{To: len(m.Tokens)}, nil).spelling.Honours(first - 1)
}

// OpenKinds are the parameters that take one of few values and have none: "she is
// ill" tells the kind of leave.
func (a RequestWords) OpenKinds(values map[string]any) []string {
	var out []string
	for _, p := range a.of.params {
		if _, has := values[p.name()]; !has && !p.required && len(p.enum) > 0 && p.kind == "string" {
			out = append(out, p.name())
		}
	}
	return out
}

// Unnamed tells that one of the parameters takes names.
func (a RequestWords) Unnamed(missing []string) bool {
	return slices.ContainsFunc(missing, func(name string) bool { p := a.of.byName(name); return p != nil && p.naming })
}

// Measures tells that the numbers of a parameter are of a unit.
func (a RequestWords) Measures(name, unit string) bool {
	p := a.of.byName(name)
	return p != nil && unit != "" && (values.Convertible(unit, p.metric) || p.measure == unit || p.own[unit] || slices.Contains(p.words, unit))
}

// Period tells which end of a period a parameter is.
func (a RequestWords) Period(name string) (start, end bool) {
	p := a.of.byName(name)
	if p == nil || !p.temporal() {
		return false, false
	}
	return p.role == roleStart, p.role == roleEnd
}

// TokensIn gives the tokens of a span of bytes, last before first if there are none.
func (m *Message) TokensIn(span [2]int) (first, last int) {
	first, last = len(m.Tokens), -1
	for i, t := range m.Tokens {
		if t.Start < span[1] && t.End > span[0] {
			first, last = min(first, i), i
		}
	}
	return first, last
}

// Mention is one of several values with its tokens.
type Mention struct {
	Value       any
	Evidence    contracts.Evidence
	First, Last int
}

// Lacks lists what has no value among the values, and of what was missing before
// what still has none.
func (a RequestWords) Lacks(values map[string]any, before []string) []string {
	out := a.of.missing(values)
	for _, name := range before {
		if _, ok := values[name]; !ok && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Describes tells a word of the texts of the manifest, descriptions among them.
func (a RequestWords) Describes(t tokenize.Token) bool {
	return a.of.Knows(t) || slices.ContainsFunc(a.of.params, func(p *param) bool { return p.desc[t.Stem] })
}

// Aliased tells a word of an alias, in whatever language that is.
func (a RequestWords) Aliased(t tokenize.Token) bool { return a.of.aliased[t.Fold] }

// SameVerbKind reports whether a word is a verb of the same kind as one that the capability
// is asked for with.
func (s *Set) SameVerbKind(t tokenize.Token) bool {
	return s.kinds != 0 && !t.Named() && s.kinds&s.tools.Lexicon.Kin(t.Fold) != 0
}
