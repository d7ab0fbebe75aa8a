package local

import (
	"math"

	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// signals are the features of the confidence model. All lie between -1 and 1.
type signals [signalCount]float64

const (
	signalCentroid   = iota // similarity to the weights of the capability
	signalBest              // similarity to its nearest sentence
	signalCoverage          // share of the content words that are known or part of values
	signalSpoken            // the same without values
	signalFirst             // the same with decreasing weight
	signalMargin            // relative distance to the next candidate
	signalLength            // number of content words, log-scaled
	signalTyped             // all required parameters are set, one of them with certainty
	signalSoftmax           // softmax over all candidates by weights
	signalLead              // distance to the next candidate by weights
	signalGrasp             // IDF-weighted share of the words that its texts have
	signalAbsent            // share of required parameters without a candidate; with examples, weighted by unknown words
	signalAmount            // BM25 score, log-scaled
	signalOutside           // relative lead of the best capability that is not allowed
	signalName              // without examples: IDF-weighted share of its name in the text
	signalObject            // without examples: share of the object words in its name and description
	signalExamples          // number of its examples, log-scaled
	signalMeant             // embedding similarity to the capability
	signalAlike             // embedding similarity to its nearest example
	signalMeantShare        // softmax over all candidates by embedding
	signalCount
)

// signalNames returns the names of the constants above for generated Go code.
func signalNames() [signalCount]string {
	return [signalCount]string{
		"signalCentroid", "signalBest", "signalCoverage", "signalSpoken", "signalFirst", "signalMargin", "signalLength", "signalTyped", "signalSoftmax",
		"signalLead", "signalGrasp", "signalAbsent", "signalAmount", "signalOutside", "signalName", "signalObject", "signalExamples",
		"signalMeant", "signalAlike", "signalMeantShare",
	}
}

// mostWords is the BM25 score of a long request whose words all match, mostExamples the number of
// examples from which on more make no difference.
const (
	mostWords    = 60
	mostExamples = 50
)

// readings are the first candidates of a part, best first.
type readings struct {
	all     []rated
	tokens  []tokenize.Token
	timed   []bool   // by token: part of a number or date
	terms   []uint32 // word features
	encoded bool     // ranked with embeddings
}

// signals returns the features of a candidate.
func (x *Index) signals(of readings, k int) signals {
	r := of.all[k]
	c := x.caps[r.number]
	out := signals{
		signalCentroid: r.centroid, signalBest: r.best, signalCoverage: r.cover.Share, signalSpoken: r.cover.Spoken, signalFirst: r.cover.First,
		signalMargin: margin(of.all, k), signalLength: r.cover.Length(), signalTyped: typed(r.filled) * r.cover.Spoken,
		signalSoftmax: r.softmax, signalLead: r.claim - r.rival, signalGrasp: x.grasp(r.number, of.terms),
		signalAbsent: r.absent, signalAmount: flat(r.amount, mostWords), signalOutside: r.outside,
		signalExamples: flat(float64(c.examples), mostExamples),
		signalMeant:    max(-1, min(1, r.meant)), signalAlike: r.alike, signalMeantShare: r.meantShare,
	}
	if c.examples == 0 { // examples may be in another language than the name
		out[signalName], out[signalObject] = x.subject(c).said(of.tokens), x.subject(c).covers(x.object(of, r))
	}
	return out
}

// flat scales a number logarithmically, to 1 at most.
func flat(n, most float64) float64 { return min(1, math.Log1p(n)/math.Log1p(most)) }

// grasp returns the IDF-weighted share of the words of a request that the texts of a capability
// have. A word that no capability has counts as the rarest.
func (x *Index) grasp(number int32, terms []uint32) float64 {
	var known, all float64
	rarest := math.Log(1+float64(len(x.docs))) + 1
	for _, h := range terms {
		id, ok := x.words.features[h]
		if !ok {
			all += rarest
			continue
		}
		w := float64(x.words.idf[id])
		all += w
		if x.uses(number, []int32{id}) {
			known += w
		}
	}
	return shareOf(known, all, 0)
}

// shareOf returns a ratio, or a default if the denominator is zero.
func shareOf(part, whole, otherwise float64) float64 {
	if whole <= 0 {
		return otherwise
	}
	return part / whole
}

// typed returns 1 if all required parameters are set and at least one of them with certainty.
func typed(f slots.Filled) float64 {
	if !f.Whole() {
		return 0
	}
	for _, ev := range f.Evidence {
		if slots.IsCertain(ev) {
			return 1
		}
	}
	for _, several := range f.Several {
		if slots.IsCertain(several[0].Evidence) {
			return 1
		}
	}
	return 0
}

// margin returns the distance of a candidate to the best other one, relative to its score.
func margin(all []rated, k int) float64 {
	if len(all) == 1 || all[k].score <= 0 {
		return 1
	}
	other := all[0].score
	if k == 0 {
		other = all[1].score
	}
	return max(-1, min(1, (all[k].score-other)/all[k].score))
}
