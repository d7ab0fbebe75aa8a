package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// collect records the request words that the manifest gives beside its examples.
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

// RequestWords answers questions about the request vocabulary and the parameters of a capability.
type RequestWords struct{ of *Set }

// NewRequestWords returns the request words of a set.
func NewRequestWords(s *Set) RequestWords { return RequestWords{s} }

// Head reports whether a token is a request word, another form of one, one with a misspelled
// letter, or a compound that ends in one.
func (a RequestWords) Head(t tokenize.Token) bool { return a.of.known.Head(t) }

// Says reports whether an example contains a sequence of folded words.
func (a RequestWords) Says(folds []string) bool { return a.of.known.Says(folds) }

// Bound returns which end of a range a numeric parameter is: 1 for the lower end ("above"), -1 for
// the upper end ("below"), 0 for neither.
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

// Loose reports whether a value was recognised only by its form and context: a name or free text,
// but no speech.
func (a RequestWords) Loose(name string, ev contracts.Evidence) bool {
	p := a.of.byName(name)
	return p != nil && !p.speaks(a.of.tools.cues) && (ev.Kind == kindName || ev.Kind == kindPhrase || ev.Kind == kindContext && (p.naming || p.written.Things()))
}

// Honoured reports whether a value follows a title that is not part of it, as in "Dr Silva".
func (a RequestWords) Honoured(m *Message, first int) bool {
	return a.of.passage(m, Range{To: len(m.Tokens)}, nil).spelling.Honours(first - 1)
}

// OpenKinds returns the optional enum parameters without a value. A remark such as "she is ill"
// may select one, such as the kind of leave.
func (a RequestWords) OpenKinds(values map[string]any) []string {
	var out []string
	for _, p := range a.of.params {
		if _, has := values[p.name()]; !has && !p.required && len(p.enum) > 0 && p.kind == "string" {
			out = append(out, p.name())
		}
	}
	return out
}

// Unnamed reports whether one of the parameters takes names.
func (a RequestWords) Unnamed(missing []string) bool {
	return slices.ContainsFunc(missing, func(name string) bool { p := a.of.byName(name); return p != nil && p.naming })
}

// Measures reports whether a parameter is measured in a unit.
func (a RequestWords) Measures(name, unit string) bool {
	p := a.of.byName(name)
	return p != nil && unit != "" && (values.Convertible(unit, p.metric) || p.measure == unit || p.own[unit] || slices.Contains(p.words, unit))
}

// Period reports whether a parameter is the start or the end of a period.
func (a RequestWords) Period(name string) (start, end bool) {
	p := a.of.byName(name)
	if p == nil || !p.temporal() {
		return false, false
	}
	return p.role == roleStart, p.role == roleEnd
}

// TokensIn returns the tokens that overlap a byte span; last < first if there are none.
func (m *Message) TokensIn(span [2]int) (first, last int) {
	first, last = len(m.Tokens), -1
	for i, t := range m.Tokens {
		if t.Start < span[1] && t.End > span[0] {
			first, last = min(first, i), i
		}
	}
	return first, last
}

// Mention is one of several values, with its tokens.
type Mention struct {
	Value       any
	Evidence    contracts.Evidence
	First, Last int
}

// Lacks returns the required parameters without a value, and those that were missing before and
// still have none.
func (a RequestWords) Lacks(values map[string]any, before []string) []string {
	out := a.of.missing(values)
	for _, name := range before {
		if _, ok := values[name]; !ok && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Describes reports whether a token occurs in the texts of the manifest, including parameter
// descriptions.
func (a RequestWords) Describes(t tokenize.Token) bool {
	return a.of.Knows(t) || slices.ContainsFunc(a.of.params, func(p *param) bool { return p.desc[t.Stem] })
}

// Aliased reports whether a token belongs to an alias in any language.
func (a RequestWords) Aliased(t tokenize.Token) bool { return a.of.aliased[t.Fold] }

// SameVerbKind reports whether a token is a verb of the same kind as one in the request
// vocabulary.
func (s *Set) SameVerbKind(t tokenize.Token) bool {
	return s.kinds != 0 && !t.Named() && s.kinds&s.tools.Lexicon.Kin(t.Fold) != 0
}
