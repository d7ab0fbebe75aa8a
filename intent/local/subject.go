package local

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// subject is what a capability is about by its name and its description. What
// parameters are called is left out: "the area of a triangle with height 5" is
// not about body mass, though that needs a height.
type subject struct {
	name []nameWord
	// words are the stems of the name and the description.
	words map[string]bool
}

// nameWord is a word of a name that says what it is about; weight tells how
// rare it is.
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
		name = name[1:] // its verb, for which there are many others
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

// said is the share of the name that a text says, rare words counting more.
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

// sharedBegin is how many bytes two longer words must share at the start to be
// forms of one: "derive" and "derivative".
const sharedBegin = 5

func formsOfOne(a, b string) bool {
	return len(a) > sharedBegin && len(b) > sharedBegin && a[:sharedBegin] == b[:sharedBegin]
}

// covers is the share of the words that belong to the subject; one half where
// there are none.
func (s *subject) covers(words []tokenize.Token) float64 {
	known := 0.0
	for _, t := range words {
		if s.words[t.Stem] {
			known++
		}
	}
	return shareOf(known, float64(len(words)), 0.5)
}

// object gives the words of a text that name what is wanted: its first run of
// content words that are no values, or the second where the first is the verb of
// a command.
func (x *Index) object(of readings, r rated) []tokenize.Token {
	from, to := x.run(of, r, 0)
	if to-from == 1 && !slices.ContainsFunc(of.tokens[:from], func(t tokenize.Token) bool { return tokenize.Asks(t.Fold) }) {
		if second, end := x.run(of, r, to); second < end {
			from, to = second, end
		}
	}
	return of.tokens[from:to]
}

// run finds the next run of content words that are no values.
func (x *Index) run(of readings, r rated, from int) (first, end int) {
	says := func(i int) bool { return !x.tools.Lexicon.StopWord(of.tokens[i].Fold) && !x.value(of, r, i) }
	for first = from; first < len(of.tokens) && !says(first); first++ {
	}
	for end = first; end < len(of.tokens) && says(end) && (end == first || !of.tokens[end].Break); end++ {
	}
	return first, end
}

// value tells tokens that stand for a value of a candidate, or look like one.
func (x *Index) value(of readings, r rated, i int) bool {
	t := of.tokens[i]
	return i < len(r.filled.Covered) && r.filled.Covered[i] || of.timed[i] || t.Named() || t.Is(tokenize.FormQuoted|tokenize.FormSign|tokenize.FormDigits)
}
