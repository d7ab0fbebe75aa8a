package local

import (
	"math"

	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// signals are what the confidence is computed from. All lie between -1 and 1.
type signals [signalCount]float64

const (
	signalCentroid   = iota // likeness to the weights of the capability
	signalBest              // likeness to its most similar sentence
	signalCoverage          // share of the content words that are known or belong to values
	signalSpoken            // the same without the values: what says what is wanted
	signalFirst             // the same, where the first words count most
	signalMargin            // distance to the next candidate
	signalLength            // number of content words, flattened
	signalTyped             // whether all that it needs is there, some of it unmistakable
	signalSoftmax           // share among all candidates, by weights alone
	signalLead              // distance to the next candidate, by weights alone
	signalGrasp             // share of the words that its texts have, rare ones counting more
	signalAbsent            // share of the needed parameters for which nothing is said; with examples, among strange words
	signalAmount            // how many words fit, rare ones counting more, flattened
	signalOutside           // how much better the best capability fits that may not be chosen
	signalName              // without examples: share of its name that is said, rare words counting more
	signalObject            // the same: share of the words for what is wanted that its name and its description have
	signalExamples          // number of its examples, flattened
	signalMeant             // likeness in meaning to the weights of the capability
	signalAlike             // the same to its most similar example
	signalMeantShare        // share among all candidates, by meaning alone
	signalCount
)

// signalNames are the constants above, as Go code.
func signalNames() [signalCount]string {
	return [signalCount]string{
		"signalCentroid", "signalBest", "signalCoverage", "signalSpoken", "signalFirst", "signalMargin", "signalLength", "signalTyped", "signalSoftmax",
		"signalLead", "signalGrasp", "signalAbsent", "signalAmount", "signalOutside", "signalName", "signalObject", "signalExamples",
		"signalMeant", "signalAlike", "signalMeantShare",
	}
}

// mostWords is the BM25 of a long request whose words all fit, manyExamples the
// number from which on more examples tell nothing new.
const (
	mostWords    = 60
	mostExamples = 50
)

// readings are the first candidates of a part, best first.
type readings struct {
	all     []rated
	tokens  []tokenize.Token
	timed   []bool   // tokens that are numbers or dates
	terms   []uint32 // features of the words
	encoded bool     // they were ranked by meaning too
}

// signals describes a candidate among the others.
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

// flat brings a number to at most 1, where most makes it 1.
func flat(n, most float64) float64 { return min(1, math.Log1p(n)/math.Log1p(most)) }

// grasp is the share of the words of a request that the texts of a capability
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

// shareOf is a part of a whole, or what is given where there is nothing.
func shareOf(part, whole, otherwise float64) float64 {
	if whole <= 0 {
		return otherwise
	}
	return part / whole
}

// typed reports whether all parameters that are needed were read, at least one
// of them from words that hardly mean anything else.
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

// margin is the distance of a candidate to the best other one, as a share of
// its score.
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
