package slots

import (
	"math"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// positionDecay is the factor by which each content word weighs less than the one before it in
// Coverage.First.
const positionDecay = 0.6

// lightWeight is the weight of a function word; a content word weighs 1.
const lightWeight = 0.12

// Coverage measures how much of a text a capability explains.
type Coverage struct {
	Share     float64 // share of all words that are explained
	Spoken    float64 // the same for the words outside of values
	Explained float64 // number of content words that are known or part of a value
	Content   float64 // number of content words
	words     float64 // number of all words
	Asked     float64 // number of content words outside of values
	Strange   float64 // number of these that are unknown
	First     float64 // mean familiarity of these, with decreasing weight
	question  bool    // has a question word such as "who"
	named     float64 // number of unknown words that are written as names
	foreign   bool    // the text begins with an unknown content word
	aside     bool    // the second content word, mostly the object, is unknown and no value precedes it
}

// CoverageOf computes the coverage of a run of tokens. covered marks the tokens of values of the
// capability that set belongs to; timed marks numbers and dates, which ask for nothing by
// themselves.
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
				pace *= positionDecay
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

// unnamed returns 1 if a word is unknown and written as a name, else 0.
func unnamed(t tokenize.Token, share float64) float64 {
	if share == 0 && t.Is(tokenize.FormTitle) && !t.Is(tokenize.FormFirst|tokenize.FormMixed) {
		return 1
	}
	return 0
}

// Length returns the logarithm of the number of content words, scaled and capped at 1.
func (c Coverage) Length() float64 { return min(1, math.Log1p(c.Content)/math.Log(12)) }

// Upper bounds of the confidence: for a text that is too short, for one of values only, for one
// with an unknown verb, and for one of which half the content words are unknown. sameSentence is
// the similarity at which an example counts as the same sentence.
const (
	terseConfidence   = 0.7
	bareConfidence    = 0.5
	sameSentence      = 0.5
	verbConfidence    = 0.7
	foreignConfidence = 0.35
)

// Limit returns the upper bound of the confidence, whatever the similarity of the words: one word
// is no request, and values without a request word need an example like them. best is the
// similarity to the nearest example.
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

// LimitForeign returns the upper bound of the confidence for a write with unknown words. The word
// behind the verb counts more if it cannot be a missing value. silent is the share of required
// parameters without a candidate; unnamed reports that a name is missing, which unknown
// capitalised words may be if no other word is unknown.
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

// familiar returns how well a capability knows a word: exactly, misspelled, as a verb of the same
// kind, or not at all.
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

// sameKindShare is the familiarity of a verb of the same kind.
const sameKindShare = 0.75

// opening returns the familiarity of the first word. At the start of a text it may be the stem of
// a separable verb.
func opening(lex *tokenize.Lexicon, set *Set, tokens []tokenize.Token, opens bool) float64 {
	share := familiar(set, tokens[0])
	if share == 0 && opens && separableVerb(lex, set, tokens) {
		return sameKindShare
	}
	return share
}

// separableVerb reports whether the first word and the particle at the end of its clause form a
// known verb: "lege einen Alarm an".
func separableVerb(lex *tokenize.Lexicon, set *Set, tokens []tokenize.Token) bool {
	end := 1
	for end < len(tokens) && !tokens[end].Break {
		end++
	}
	half := tokens[end-1].Fold
	return end > 1 && lex.StopWord(half) && set.SameVerbKind(tokenize.Token{Word: lexicon.Word{Fold: half + tokens[0].Fold}})
}
