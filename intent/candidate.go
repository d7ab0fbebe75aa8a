package intent

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/internal/slot"
	"github.com/manifold-run/manifold/intent/internal/text"
)

func sortCandidates(candidates []Candidate) {
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Score, a.Score))
	})
}

// rated is a hit whose parameters were read.
type rated struct {
	hit

	filled slot.Filled
	cover  coverage
	absent float64 // share of what it needs for which nothing is said
	begins bool    // the text begins with the verb of its sentences
}

// The parts of the score that the parameters give: how much of the text the
// capability explains, and whether it found all that it needs. They tell apart
// what the words alone do not.
const (
	shareCovered  = 0.15
	shareComplete = 0.3
)

// rate reads the parameters of the first hits and ranks them anew.
func (s *sentenceReader) rate(p *part, hits []hit) []rated {
	tokens := s.m.Tokens[p.from:p.to]
	timed, head := s.timed(p), headOf(s.x.tools.Lexicon, tokens)
	out := make([]rated, 0, readDeeply)
	for _, h := range hits[:min(len(hits), readDeeply)] {
		r := rated{hit: h}
		set := s.x.set(s.x.caps[h.number])
		run := slot.Range{From: p.from, To: p.to}
		r.filled = set.Fill(s.m, run, nil)
		r.cover = s.x.cover(set, tokens, r.filled.Covered, timed)
		r.absent = s.absent(h, run, r)
		r.score += shareCovered * r.cover.share
		if len(r.filled.Missing) == 0 {
			r.score += shareComplete
		}
		if head != "" && slices.Contains(s.x.caps[h.number].begins, head) {
			r.score += shareHead
			r.begins = true
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b rated) int { return cmp.Compare(b.score, a.score) })
	return out
}

// absent is the share of what a capability needs for which nothing is said. One
// with examples is asked for in their words and values may follow; of one that is
// only described, a request that holds no values is rarely meant.
func (s *sentenceReader) absent(h hit, run slot.Range, r rated) float64 {
	c := s.x.caps[h.number]
	if c.examples == 0 {
		return s.x.set(c).Unlikely(s.m, run, r.filled)
	}
	return s.x.set(c).Absent(s.m, run, r.filled) * (1 - r.cover.share)
}

// timed marks the tokens of a part that are numbers or dates.
func (s *sentenceReader) timed(p *part) []bool {
	out := make([]bool, p.to-p.from)
	for _, e := range s.m.Entities {
		for i := max(e.First, p.from); i <= min(e.Last, p.to-1); i++ {
			out[i-p.from] = true
		}
	}
	return out
}

// weighed gives each rated hit its confidence. By the shipped weights none gets
// more than the first: the score ranks, they only tell how sure that is.
func (s *sentenceReader) weighed(p *part, all []rated) []Candidate {
	out := make([]Candidate, 0, len(all))
	most := 1.0
	for k := range all {
		conf := s.x.confidence.confidence(s.x.signalsOf(s.m.Tokens[p.from:p.to], all, k))
		if !s.x.calibrates {
			conf = min(conf, most)
			most = conf
		}
		out = append(out, s.candidate(p, all[k], conf))
	}
	sortCandidates(out)
	return out
}

// candidate turns a rated hit into a candidate, whose confidence is held to
// what its words allow.
func (s *sentenceReader) candidate(p *part, r rated, conf float64) Candidate {
	c := s.x.caps[r.number]
	writes, anyValue := c.entry.Policy.SideEffectClass.Writes(), len(r.filled.Values) > 0
	switch {
	case r.exact:
		conf = certainExample
	case s.x.identifies(c, s.m, p):
		conf = certainIdentifier
	case r.against > r.best && r.against >= notLikeness:
		conf = min(conf, notConfidence)
	case writes:
		conf = min(conf, r.cover.limit(r.best, anyValue), r.cover.limitForeign(anyValue, len(r.filled.Missing) == 0))
	case !s.x.calibrates:
		conf = min(conf, r.cover.limit(r.best, anyValue))
	}
	out := Candidate{
		Entry: c.entry, Confidence: conf, Score: r.score, Exact: r.exact,
		Parameters: r.filled.Values, Evidence: r.filled.Evidence, Missing: r.filled.Missing,
		mood: r.mood, nearest: r.best, begins: r.begins, explained: r.cover.explained, contested: r.filled.Contested,
	}
	if !r.exact && writes && r.cover.overheard() {
		out.Held, out.Note = true, moreThanUnderstood
		out.Confidence = min(conf, heldConfidence)
	}
	return out
}

// mostWords is the BM25 of a long request whose words all fit.
const mostWords = 60

// signalsOf describes a candidate among the others.
func (x *Index) signalsOf(tokens []text.Token, all []rated, k int) signals {
	r := all[k]
	return signals{
		signalCentroid: r.centroid, signalBest: r.best, signalCoverage: r.cover.share, signalSpoken: r.cover.spoken,
		signalMargin: margin(all, k), signalLength: r.cover.length(), signalTyped: typed(r.filled) * r.cover.spoken,
		signalSoftmax: r.softmax, signalLead: r.centroid - r.rival, signalGrasp: x.grasp(r.number, tokens),
		signalAbsent: r.absent, signalAmount: min(1, math.Log1p(r.amount)/math.Log(mostWords)), signalOutside: r.outside,
	}
}

// grasp is the share of the words of a request that the texts of a capability
// have. A word that no capability has counts as the rarest.
func (x *Index) grasp(number int32, tokens []text.Token) float64 {
	var known, all float64
	rarest := math.Log(1+float64(len(x.docs))) + 1
	for _, h := range text.FeaturesOf(tokens, x.values).Terms {
		id, ok := x.features[h]
		if !ok {
			all += rarest
			continue
		}
		w := float64(x.idf[id])
		all += w
		if x.uses(number, []int32{id}) {
			known += w
		}
	}
	if all == 0 {
		return 0
	}
	return known / all
}

// typed tells whether all parameters that are needed were read, at least one
// of them from words that hardly mean anything else.
func typed(f slot.Filled) float64 {
	if len(f.Missing) > 0 {
		return 0
	}
	for _, ev := range f.Evidence {
		if slot.Unmistakable(ev) {
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

// identifies tells whether the text writes the capability's identifier.
func (x *Index) identifies(c *indexed, m *slot.Message, p *part) bool {
	name := c.entry.Capability.Name
	if !strings.ContainsAny(name, "_.-") {
		name = c.entry.Ref()
	}
	for _, ch := range m.Chunks {
		if ch.First >= p.from && ch.Last < p.to && (strings.EqualFold(ch.Text, name) || strings.EqualFold(ch.Text, c.entry.Ref())) {
			return true
		}
	}
	return false
}

// alternative describes a candidate for people.
func (c Candidate) alternative() contracts.Alternative {
	return contracts.Alternative{
		Domain: c.Entry.Domain, Capability: c.Entry.Capability.Name,
		Description: firstSentence(c.Entry.Capability.Description), Confidence: c.Confidence,
	}
}
