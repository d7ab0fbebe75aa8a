package eval

import (
	"maps"
	"slices"
	"unicode"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Strip returns a manifest as somebody would write it who has n English examples
// for each capability and no other language: it tells what a manifest is worth
// that was not tuned. Words of other languages go from keywords and aliases too,
// and its own tests, which say what the whole manifest reaches.
func Strip(m *contracts.Manifest, n int) *contracts.Manifest {
	s := stripping{english: map[string]bool{}, foreign: map[string]bool{}}
	for _, c := range m.Capabilities {
		s.learn(&c)
	}
	out := *m
	out.Tests, out.Capabilities = nil, slices.Clone(m.Capabilities)
	for i := range out.Capabilities {
		s.capability(&out.Capabilities[i], n)
	}
	return &out
}

// stripping knows the words of the English sentences of a manifest, and those of
// its others.
type stripping struct{ english, foreign map[string]bool }

func (s stripping) learn(c *contracts.Capability) {
	note := func(sentence string, to map[string]bool) {
		for _, w := range tokenize.Phrase(sentence) {
			to[w] = true
		}
	}
	note(c.Description, s.english)
	note(tokenize.SplitName(c.Name), s.english)
	if hints := c.Metadata.IntentHints; hints != nil {
		for _, e := range slices.Concat(hints.Examples, hints.Not) {
			if English(e) {
				note(e, s.english)
			} else {
				note(e, s.foreign)
			}
		}
	}
}

// known reports whether nothing of a word or a phrase belongs to other languages
// alone.
func (s stripping) known(phrase string) bool {
	return unaccented(phrase) && !slices.ContainsFunc(tokenize.Phrase(phrase), func(w string) bool { return s.foreign[w] && !s.english[w] })
}

func (s stripping) capability(c *contracts.Capability, n int) {
	if hints := c.Metadata.IntentHints; hints != nil {
		kept := contracts.IntentHints{}
		foreign := func(e string) bool { return !English(e) }
		kept.Examples = slices.DeleteFunc(slices.Clone(hints.Examples), foreign)
		kept.Examples = kept.Examples[:min(n, len(kept.Examples))]
		kept.Not = slices.DeleteFunc(slices.Clone(hints.Not), foreign)
		kept.Keywords = slices.DeleteFunc(slices.Clone(hints.Keywords), func(k string) bool { return !s.known(k) })
		c.Metadata.IntentHints = &kept
	}
	specs := maps.Clone(c.Metadata.ParameterSpecs)
	for name, spec := range specs {
		spec.Aliases = maps.Clone(spec.Aliases)
		maps.DeleteFunc(spec.Aliases, func(alias string, _ any) bool { return !s.known(alias) })
		specs[name] = spec
	}
	c.Metadata.ParameterSpecs = specs
}

// English reports whether a sentence is surely English: it has words of English
// grammar, no other language has more of them, and no letter has an accent.
func English(sentence string) bool {
	lexica := lexicon.Shipped()
	votes := make([]int, len(lexica.Languages))
	for _, w := range tokenize.Phrase(sentence) {
		word := lexica.Folded(w)
		for i := range votes {
			if word.In(i, lexicon.Function) || word.In(i, lexicon.Pronoun) || word.In(i, lexicon.Filler) || word.In(i, lexicon.Subject) {
				votes[i]++
			}
		}
	}
	english := max(lexica.Language("en"), 0)
	return unaccented(sentence) && votes[english] > 0 && slices.Max(votes) == votes[english]
}

// unaccented tells that no letter has an accent.
func unaccented(s string) bool {
	for _, r := range s {
		if r > unicode.MaxASCII && unicode.IsLetter(r) {
			return false
		}
	}
	return true
}
