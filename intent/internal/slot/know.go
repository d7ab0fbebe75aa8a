package slot

import (
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/slot/wording"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// knownWords are those that the capability is asked for with: its name, its
// keywords, the objects of its examples, its known values and the names of its
// parameters. A description alone explains no head of a phrase.
type knownWords struct {
	stems map[string]bool
	// called are the stems of its name, its keywords and the nouns of its examples.
	called map[string]bool
	// long are the words of five letters or more, sorted.
	long []string
	// says are the examples, folded, with a space around every word.
	says []string
}

func (k *knownWords) add(t text.Token) {
	if k.stems == nil {
		k.stems = map[string]bool{}
	}
	k.stems[t.Stem] = true
	if len(t.Fold) >= 5 {
		k.long = append(k.long, t.Fold)
	}
}

func (k *knownWords) addText(texts ...string) {
	for _, s := range texts {
		for _, t := range text.Tokens(s) {
			k.add(t)
		}
	}
}

func stemsOf(texts ...string) map[string]bool {
	out := map[string]bool{}
	for _, s := range texts {
		for _, t := range text.Tokens(s) {
			out[t.Stem] = true
		}
	}
	return out
}

// usual is in how many examples a word stands that belongs to the request, though
// some value was read over it.
const usual = 2

// collect takes the words that the manifest gives beside its examples.
func (k *knownWords) collect(s *Set, entry *contracts.CapabilityEntry, title string) {
	c := entry.Capability
	k.addText(text.SplitName(c.Name), text.SplitName(entry.Domain), title)
	k.called = stemsOf(text.SplitName(c.Name))
	for _, p := range s.params {
		k.addText(text.SplitName(p.single), text.SplitName(p.list))
	}
	for _, phrases := range s.phrases {
		for _, ph := range phrases {
			if ph.kind == kindAlias || ph.kind == kindEnum {
				k.addText(strings.Join(ph.words, " "))
			}
		}
	}
	seen := map[string]int{}
	if h := c.Metadata.IntentHints; h != nil {
		k.addText(h.Keywords...)
		maps.Copy(k.called, stemsOf(h.Keywords...))
		for _, example := range h.Examples {
			var b strings.Builder
			b.WriteByte(' ')
			for _, t := range text.Tokens(example) {
				b.WriteString(t.Fold)
				b.WriteByte(' ')
				if seen[t.Fold]++; seen[t.Fold] == usual && !t.Is(text.FormDigits|text.FormMixed|text.FormCaps|text.FormQuoted) && !t.Is(text.FormTitle) {
					k.add(t) // what many examples say is no value of one
					if !t.Has(lang.Function) && !t.Has(lang.Filler) && !t.Has(lang.Value) && s.tools.Lexicon.Kin(t.Fold) == 0 {
						k.called[t.Stem] = true
					}
				}
			}
			k.says = append(k.says, b.String())
		}
	}
	slices.Sort(k.long)
	k.long = slices.Compact(k.long)
}

// shortestPart is how many letters a word has that another may end in, as German
// compounds do.
const shortestPart = 4

// Asked is what a capability is asked for with, beside its values.
type Asked struct{ of *Set }

// AskedWith gives the words of a set.
func AskedWith(s *Set) Asked { return Asked{s} }

// Head tells whether the capability is asked for with a word, in another form,
// misspelled by a letter, or at the end of a compound.
func (a Asked) Head(t text.Token) bool {
	if a.of.known.stems[t.Stem] {
		return true
	}
	if len(t.Fold) < 4 || t.Is(text.FormDigits|text.FormMixed|text.FormQuoted) {
		return false
	}
	if len(t.Fold) == 4 { // a word of its own is no slip of another
		return !t.Has(lang.Function) && !t.Is(text.FormTitle) && slices.ContainsFunc(a.of.known.long, func(w string) bool { return len(w) == 5 && w[0] == t.Fold[0] && wording.Near(t.Fold, w) })
	}
	for _, w := range a.of.known.long {
		if wording.Near(t.Fold, w) || wording.Bends(t.Fold, w) || len(w) >= shortestPart && strings.HasSuffix(t.Fold, w) {
			return true
		}
	}
	return false
}

// Says tells whether an example has folded words in a row.
func (a Asked) Says(folds []string) bool {
	words := " " + strings.Join(folds, " ") + " "
	return slices.ContainsFunc(a.of.known.says, func(example string) bool { return strings.Contains(example, words) })
}

// Bound tells which end of a range a parameter is: 1 for the lower end of numbers
// ("above"), -1 for the upper end ("below"), 0 for none.
func (a Asked) Bound(name string) int {
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
func (a Asked) Loose(name string, ev contracts.Evidence) bool {
	p := a.of.byName(name)
	return p != nil && !p.speaks(a.of.tools.cues) && (ev.Kind == kindName || ev.Kind == kindPhrase || ev.Kind == kindContext && (p.naming || p.written.things()))
}

// Honoured tells a value with a title before it that is no part of it, as in "Dr Silva".
func (a Asked) Honoured(m *Message, first int) bool {
	return a.of.passage(m, Range{To: len(m.Tokens)}, nil).spelling.Honours(first - 1)
}

// OpenKinds are the parameters that take one of few values and have none: "she is
// ill" tells the kind of leave.
func (a Asked) OpenKinds(values map[string]any) []string {
	var out []string
	for _, p := range a.of.params {
		if _, has := values[p.name()]; !has && !p.required && len(p.enum) > 0 && p.kind == "string" {
			out = append(out, p.name())
		}
	}
	return out
}

// Unnamed tells that one of the parameters takes names.
func (a Asked) Unnamed(missing []string) bool {
	return slices.ContainsFunc(missing, func(name string) bool { p := a.of.byName(name); return p != nil && p.naming })
}

// Measures tells that the numbers of a parameter are of a unit.
func (a Asked) Measures(name, unit string) bool {
	p := a.of.byName(name)
	return p != nil && unit != "" && (p.measure == unit || p.own[unit] || slices.Contains(p.words, unit))
}

// Period tells which end of a period a parameter is.
func (a Asked) Period(name string) (start, end bool) {
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
func (a Asked) Lacks(values map[string]any, before []string) []string {
	out := a.of.missing(values)
	for _, name := range before {
		if _, ok := values[name]; !ok && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Describes tells a word of the texts of the manifest, descriptions among them.
func (a Asked) Describes(t text.Token) bool {
	return a.of.Knows(t) || slices.ContainsFunc(a.of.params, func(p *param) bool { return p.desc[t.Stem] })
}

// Aliased tells a word of an alias, in whatever language that is.
func (a Asked) Aliased(t text.Token) bool { return a.of.aliased[t.Fold] }

// Akin tells whether a word is a verb that asks for the same kind of thing as
// one that belongs to the request.
func (s *Set) Akin(t text.Token) bool {
	return s.kinds != 0 && !t.Named() && s.kinds&s.tools.Lexicon.Kin(t.Fold) != 0
}
