package intent

import (
	"math"

	"github.com/manifold-run/manifold/intent/internal/slot"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// signals are what the confidence is computed from. All lie between 0 and 1.
type signals struct {
	centroid float64 // likeness to the centroid of the capability
	best     float64 // likeness to its most similar sentence
	coverage float64 // share of the content words that are known or belong to values
	spoken   float64 // the same without the values: what says what is wanted
	margin   float64 // distance to the next candidate
	length   float64 // number of content words, flattened
}

// weights turn signals into a confidence.
type weights struct {
	bias, centroid, best, coverage, spoken, margin, length float64
}

// shipped are the weights for registries too small to learn their own. They
// were fitted on simulated small registries in which half of the requests were
// meant for none of the capabilities.
func shipped() weights {
	return weights{bias: -7.5, centroid: 3, best: 3.5, coverage: 4.5, spoken: 2.5, margin: 2, length: 0.5}
}

func (w weights) of(s signals) float64 {
	z := w.bias + w.centroid*s.centroid + w.best*s.best + w.coverage*s.coverage + w.spoken*s.spoken + w.margin*s.margin + w.length*s.length
	return 1 / (1 + math.Exp(-z))
}

// The confidence of a text that is an example word for word, and of one that
// writes the capability's identifier.
const (
	certainExample    = 0.99
	certainIdentifier = 0.97
)

// lightWeight is how much a word of grammar counts against a content word.
const lightWeight = 0.12

// cover measures how much of a text the capability explains.
func (x *Index) cover(set *slot.Set, tokens []text.Token, covered []bool) (coverage, spoken, length float64) {
	var all, known, said, saidAll float64
	for i, t := range tokens {
		w := 1.0
		if x.tools.Lexicon.Light(t.Fold) {
			w = lightWeight
		}
		inValue := i < len(covered) && covered[i]
		share := 1.0
		if !inValue {
			share = x.familiar(set, t)
			said += w * share
			saidAll += w
		}
		all += w
		known += w * share
		if w == 1 {
			length++
		}
	}
	if all > 0 {
		coverage = known / all
	}
	if saidAll > 0 {
		spoken = said / saidAll
	}
	return coverage, spoken, math.Min(1, math.Log1p(length)/math.Log(12))
}

// familiar tells how well a capability knows a word: whole, misspelled or not.
func (x *Index) familiar(set *slot.Set, t text.Token) float64 {
	if set.Knows(t) {
		return 1
	}
	if len(t.Fold) >= 5 && !t.Is(text.FormDigits|text.FormMixed) && set.NearlyKnows(t.Fold) {
		return 0.75
	}
	return 0
}
