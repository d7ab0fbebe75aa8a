package slots

import (
	"math"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// pacing is what each word counts of the one before it where the first words
// say what is wanted.
const pacing = 0.6

// lightWeight is how much a word of grammar counts against a content word.
const lightWeight = 0.12

// Coverage is how much of a text a capability explains.
type Coverage struct {
	Share     float64 // of all words
	Spoken    float64 // of the words outside of values
	Explained float64 // number of content words that it knows or takes as values
	Content   float64 // number of content words
	words     float64 // number of all words
	Asked     float64 // number of content words outside of values
	Strange   float64 // of these, the number that it does not know
	First     float64 // how well it knows the first of these, each next one counting less
	question  bool    // it has a word such as "who"
	named     float64 // of the strange words those that are written as names
	foreign   bool    // the text begins with a content word that it does not know
	aside     bool    // the second one, which is mostly what is wanted, is such a word, and no value stands before it
}

// CoverageOf goes through the tokens of a part. covered tells which of them belong to values of
// the capability whose parameters set has, timed which are numbers or dates: these ask for
// nothing by themselves.
func CoverageOf(lex *tokenize.Lexicon, set *Set, tokens []tokenize.Token, covered, timed []bool) Coverage {
	var c Coverage
	var all, known, said, saidAll float64
	opens, valued, pace, paces := true, false, 1.0, 0.0
	for i, t := range tokens {
		w := 1.0
		if lex.StopWord(t.Fold) {
			w = lightWeight
		}
		share := 1.0
		if i >= len(covered) || !covered[i] {
			share = opening(lex, set, tokens[i:], opens)
			said += w * share
			saidAll += w
			if w == 1 && !timed[i] {
				c.foreign = c.foreign || opens && share == 0
				c.aside = c.aside || c.Asked == 1 && !valued && share == 0
				c.Asked++
				c.Strange += 1 - share
				c.named += unnamed(t, share)
				c.First += pace * share
				paces += pace
				pace *= pacing
			}
		}
		valued = valued || share == 1 && i < len(covered) && covered[i] || timed[i]
		c.question = c.question || tokenize.Asks(t.Fold)
		opens = opens && w < 1
		all += w
		c.words++
		known += w * share
		if w == 1 {
			c.Content++
			c.Explained += share
		}
	}
	if all > 0 {
		c.Share = known / all
	}
	if paces > 0 {
		c.First /= paces
	} else {
		c.First = 0.5
	}
	if saidAll > 0 {
		c.Spoken = said / saidAll
	}
	return c
}

// unnamed counts a word that is not known and written as a name.
func unnamed(t tokenize.Token, share float64) float64 {
	if share == 0 && t.Is(tokenize.FormTitle) && !t.Is(tokenize.FormFirst|tokenize.FormMixed) {
		return 1
	}
	return 0
}

// Length is the number of content words, flattened to at most 1.
func (c Coverage) Length() float64 { return min(1, math.Log1p(c.Content)/math.Log(12)) }

// The most that a text gets that says too little, that holds only values, that begins with a foreign
// word, which is mostly the verb, and of which half the content is foreign.
const (
	terseConfidence   = 0.7
	bareConfidence    = 0.5
	sameSentence      = 0.5
	verbConfidence    = 0.7
	foreignConfidence = 0.35
)

// Limit is the most that a text can get, whatever its words resemble: one word
// is no request. Values without a word that asks for something need an example
// that is said so; best is the likeness to the nearest.
func (c Coverage) Limit(best float64, anyValue bool) float64 {
	switch {
	case c.Asked == 0 && !anyValue:
		return foreignConfidence
	case c.Asked == 0 && !c.question && best < sameSentence:
		return bareConfidence
	case c.Asked <= 1 && c.words <= 2 && !anyValue:
		return terseConfidence
	}
	return 1
}

// LimitForeign is the most that a text gets for what has an effect: of two words
// a foreign one is as good as the other, and the one behind the verb counts more
// where it can be no value that is needed. silent is the share of what is needed
// for which nothing is said; unnamed tells that a name is needed, which words that are written
// so may be, where no other word is strange.
func (c Coverage) LimitForeign(anyValue, complete, unnamed bool, silent float64) float64 {
	if unnamed && c.Strange == c.named {
		c.Asked, c.Strange = c.Asked-c.named, c.Strange-c.named
	}
	switch {
	case c.Asked <= 3 && c.aside && silent >= 0.5:
		return foreignConfidence
	case c.Asked <= 1 && c.words <= 2 && !anyValue:
		return bareConfidence
	case c.Asked <= 3 && (2*c.Strange > c.Asked && !complete || c.Strange > 0 && 2*c.Strange >= c.Asked && !anyValue):
		return foreignConfidence
	case c.foreign:
		return verbConfidence
	}
	return 1
}

// familiar tells how well a capability knows a word: whole, misspelled, by a
// verb of the same kind, or not.
func familiar(set *Set, t tokenize.Token) float64 {
	if set.Knows(t) {
		return 1
	}
	if len(t.Fold) >= 5 && !t.Is(tokenize.FormDigits|tokenize.FormMixed) && set.NearlyKnows(t.Fold) {
		return 0.75
	}
	if set.SameVerbKind(t) {
		return sameKindShare
	}
	return 0
}

// sameKindShare is how well a verb of the same kind is known.
const sameKindShare = 0.75

// opening is how well the first of some words is known; where they open a text it may be half a verb.
func opening(lex *tokenize.Lexicon, set *Set, tokens []tokenize.Token, opens bool) float64 {
	share := familiar(set, tokens[0])
	if share == 0 && opens && separableVerb(lex, set, tokens) {
		return sameKindShare
	}
	return share
}

// separableVerb tells a verb by its other half, which ends its clause: "lege einen Alarm an".
func separableVerb(lex *tokenize.Lexicon, set *Set, tokens []tokenize.Token) bool {
	end := 1
	for end < len(tokens) && !tokens[end].Break {
		end++
	}
	half := tokens[end-1].Fold
	return end > 1 && lex.StopWord(half) && set.SameVerbKind(tokenize.Token{Word: lexicon.Word{Fold: half + tokens[0].Fold}})
}
