package local

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// subject is what a capability is about by its name and description. Parameter names are excluded:
// "the area of a triangle with height 5" is not about body mass, which also needs a height.
type subject struct {
	name []nameWord
	// words holds the stems of the name and the description.
	words map[string]bool
}

// nameWord is a content word of a name; weight is its rarity.
type nameWord struct {
	tokenize.Token

	weight float64
}

func (x *Index) newSubject(c *indexed) subject {
	s := subject{words: map[string]bool{}}
	name := tokenize.Tokens(tokenize.SplitName(c.entry.Capability.Name))
	for _, t := range append(tokenize.Tokens(c.entry.Capability.Description), name...) {
		s.words[t.Stem] = true
	}
	lexicon := x.tools.Lexicon
	if len(name) > 1 && lexicon.Kin(name[0].Fold) != 0 {
		name = name[1:] // without its verb, which has many synonyms
	}
	for _, t := range name {
		if lexicon.StopWord(t.Fold) {
			continue
		}
		w := nameWord{t, 1}
		if terms := x.words.vectorOf([]tokenize.Token{t}).terms; len(terms) > 0 {
			w.weight = float64(x.words.idf[terms[0]])
		}
		s.name = append(s.name, w)
	}
	return s
}

// said returns the weighted share of the name that a text contains.
func (s *subject) said(tokens []tokenize.Token) float64 {
	var said, all float64
	for _, w := range s.name {
		all += w.weight
		for _, t := range tokens {
			if t.Stem == w.Stem || formsOfOne(t.Fold, w.Fold) {
				said += w.weight
				break
			}
		}
	}
	return shareOf(said, all, 0)
}

// sharedBegin is the minimum length of the common prefix of two forms of a word, in bytes:
// "derive" and "derivative".
const sharedBegin = 5

func formsOfOne(a, b string) bool {
	return len(a) > sharedBegin && len(b) > sharedBegin && a[:sharedBegin] == b[:sharedBegin]
}

// covers returns the share of the words that belong to the subject, or one half if there are no
// words.
func (s *subject) covers(words []tokenize.Token) float64 {
	known := 0.0
	for _, t := range words {
		if s.words[t.Stem] {
			known++
		}
	}
	return shareOf(known, float64(len(words)), 0.5)
}

// object returns the words of a text that name what is wanted: its first run of content words
// outside of values, or the second if the first is the verb of a command.
func (x *Index) object(of readings, r rated) []tokenize.Token {
	from, to := x.run(of, r, 0)
	if to-from == 1 && !slices.ContainsFunc(of.tokens[:from], func(t tokenize.Token) bool { return tokenize.Asks(t.Fold) }) {
		if second, end := x.run(of, r, to); second < end {
			from, to = second, end
		}
	}
	return of.tokens[from:to]
}

// run returns the next run of content words outside of values.
func (x *Index) run(of readings, r rated, from int) (first, end int) {
	says := func(i int) bool { return !x.tools.Lexicon.StopWord(of.tokens[i].Fold) && !x.value(of, r, i) }
	for first = from; first < len(of.tokens) && !says(first); first++ {
	}
	for end = first; end < len(of.tokens) && says(end) && (end == first || !of.tokens[end].Break); end++ {
	}
	return first, end
}

// value reports whether a token is part of a value of a candidate, or looks like one.
func (x *Index) value(of readings, r rated, i int) bool {
	t := of.tokens[i]
	return i < len(r.filled.Covered) && r.filled.Covered[i] || of.timed[i] || t.Named() || t.Is(tokenize.FormQuoted|tokenize.FormSign|tokenize.FormDigits)
}
