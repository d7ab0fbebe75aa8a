package intent

import (
	"math"

	"github.com/manifold-run/manifold/intent/internal/slot"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// odds turns a share into a number that adds to a bias.
func odds(share float64) float64 { return math.Log(share / (1 - share)) }

// The confidence of a text that is an example word for word, and of one that
// writes the capability's identifier.
const (
	certainExample    = 0.99
	certainIdentifier = 0.97
)

// pacing is what each word counts of the one before it where the first words
// say what is wanted.
const pacing = 0.6

// lightWeight is how much a word of grammar counts against a content word.
const lightWeight = 0.12

// coverage is how much of a text a capability explains.
type coverage struct {
	share     float64 // of all words
	spoken    float64 // of the words outside of values
	explained float64 // number of content words that it knows or takes as values
	content   float64 // number of content words
	words     float64 // number of all words
	asked     float64 // number of content words outside of values
	strange   float64 // of these, the number that it does not know
	first     float64 // how well it knows the first of these, each next one counting less
	question  bool    // it has a word such as "who"
	foreign   bool    // the text begins with a content word that it does not know
	aside     bool    // the second one, which is mostly what is wanted, is such a word, and no value stands before it
}

// cover goes through the tokens of a part; timed tells which of them are
// numbers or dates, which ask for nothing by themselves.
func (x *Index) cover(set *slot.Set, tokens []text.Token, covered, timed []bool) coverage {
	var c coverage
	var all, known, said, saidAll float64
	opens, valued, pace, paces := true, false, 1.0, 0.0
	for i, t := range tokens {
		w := 1.0
		if x.tools.Lexicon.Light(t.Fold) {
			w = lightWeight
		}
		share := 1.0
		if i >= len(covered) || !covered[i] {
			share = x.familiar(set, t)
			said += w * share
			saidAll += w
			if w == 1 && !timed[i] {
				c.foreign = c.foreign || opens && share == 0
				c.aside = c.aside || c.asked == 1 && !valued && share == 0
				c.asked++
				c.strange += 1 - share
				c.first += pace * share
				paces += pace
				pace *= pacing
			}
		}
		valued = valued || share == 1 && i < len(covered) && covered[i] || timed[i]
		c.question = c.question || text.Asks(t.Fold)
		opens = opens && w < 1
		all += w
		c.words++
		known += w * share
		if w == 1 {
			c.content++
			c.explained += share
		}
	}
	if all > 0 {
		c.share = known / all
	}
	c.first = shareOf(c.first, paces, 0.5)
	if saidAll > 0 {
		c.spoken = said / saidAll
	}
	return c
}

// length is the number of content words, flattened to at most 1.
func (c coverage) length() float64 { return min(1, math.Log1p(c.content)/math.Log(12)) }

// The most that a text gets that says too little, that holds only values, that begins with a foreign
// word, which is mostly the verb, and of which half the content is foreign.
const (
	terseConfidence   = 0.7
	bareConfidence    = 0.5
	sameSentence      = 0.5
	verbConfidence    = 0.7
	foreignConfidence = 0.35
)

// limit is the most that a text can get, whatever its words resemble: one word
// is no request. Values without a word that asks for something need an example
// that is said so; best is the likeness to the nearest.
func (c coverage) limit(best float64, anyValue bool) float64 {
	switch {
	case c.asked == 0 && !anyValue:
		return foreignConfidence
	case c.asked == 0 && !c.question && best < sameSentence:
		return bareConfidence
	case c.asked <= 1 && c.words <= 2 && !anyValue:
		return terseConfidence
	}
	return 1
}

// limitForeign is the most that a text gets for what has an effect: of two words
// a foreign one is as good as the other, and the one behind the verb counts more
// where it can be no value that is needed. silent is the share of what is needed
// for which nothing is said.
func (c coverage) limitForeign(anyValue, complete bool, silent float64) float64 {
	switch {
	case c.asked <= 3 && c.aside && silent >= 0.5:
		return foreignConfidence
	case c.asked <= 1 && c.words <= 2 && !anyValue:
		return bareConfidence
	case c.asked <= 3 && (2*c.strange > c.asked && !complete || c.strange > 0 && 2*c.strange >= c.asked && !anyValue):
		return foreignConfidence
	case c.foreign:
		return verbConfidence
	}
	return 1
}

// familiar tells how well a capability knows a word: whole, misspelled, by a
// verb of the same kind, or not.
func (x *Index) familiar(set *slot.Set, t text.Token) float64 {
	if set.Knows(t) {
		return 1
	}
	if len(t.Fold) >= 5 && !t.Is(text.FormDigits|text.FormMixed) && set.NearlyKnows(t.Fold) {
		return 0.75
	}
	if set.Akin(t) {
		return 0.75
	}
	return 0
}
