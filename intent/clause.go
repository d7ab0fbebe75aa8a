package intent

import (
	"cmp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/internal/slot"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// readDeeply is how many candidates of a clause get their parameters filled.
const readDeeply = 5

// splitCost is what a weak separator must gain, in content words.
const splitCost = 0.6

// heldConfidence is the most that an action gets which the words do not
// plainly ask for.
const heldConfidence = 0.6

// sentenceReader finds the requests in one message.
type sentenceReader struct {
	x      *Index
	q      Query
	m      *slot.Message
	pieces []piece
	parts  map[[2]int]*part // by first and last piece
}

// part is a run of pieces read as one request.
type part struct {
	first, last int // pieces
	from, to    int // tokens
	candidates  []Candidate
	// plain is the confidence of the best candidate before moods limit it.
	plain   float64
	content float64
	mood    mood
	// refused tells that the best candidate is what must not be done.
	refused bool
}

// allowed tells whether a capability may be chosen at all.
func (s *sentenceReader) allowed(c *indexed) bool {
	meta := &c.entry.Capability.Metadata
	if s.q.Domain != "" && c.entry.Domain != s.q.Domain {
		return false
	}
	if s.q.Phase != "" && len(meta.Phases) > 0 && !slices.Contains(meta.Phases, s.q.Phase) {
		return false
	}
	if s.q.AnyRole || len(meta.AllowedRoles) == 0 {
		return true
	}
	return slices.ContainsFunc(meta.AllowedRoles, func(r string) bool { return slices.Contains(s.q.Roles, r) })
}

// clauses cuts the message where that reads best.
func (s *sentenceReader) clauses() []Clause {
	if len(s.m.Tokens) == 0 {
		return nil
	}
	s.pieces = s.x.pieces(s.m)
	if whole, ok := s.exactly(); ok {
		return s.finish([]*part{whole})
	}
	if len(s.pieces) > maxPieces {
		return s.finish(s.singly())
	}
	s.pieces = slices.DeleteFunc(s.pieces, func(p piece) bool { return p.from >= p.to || s.x.empty(s.m.Tokens[p.from:p.to]) })
	return s.finish(s.best())
}

// exactly takes a message as one request that is an example word for word.
func (s *sentenceReader) exactly() (*part, bool) {
	known := slices.ContainsFunc(s.x.exact[normal(s.m.Tokens)], func(n int32) bool { return s.allowed(s.x.caps[n]) })
	if !known {
		return nil, false
	}
	s.pieces = []piece{{from: 0, to: len(s.m.Tokens), strong: true}}
	return s.read(0, 0), true
}

// singly takes the sentences of a long message one by one, without trying
// what belongs together.
func (s *sentenceReader) singly() []*part {
	rest := s.pieces[maxPieces:]
	s.pieces = s.pieces[:maxPieces+1]
	s.pieces[maxPieces].to = rest[len(rest)-1].to
	out := make([]*part, 0, len(s.pieces))
	for i := range s.pieces {
		out = append(out, s.read(i, i))
	}
	return out
}

// best finds the division into runs of pieces that explains most content.
func (s *sentenceReader) best() []*part {
	n := len(s.pieces)
	value := make([]float64, n+1)
	from := make([]int, n+1)
	for end := 1; end <= n; end++ {
		value[end] = -1
		for start := end - 1; start >= 0; start-- {
			v := value[start] + s.worth(start, end-1)
			if v > value[end]+1e-9 {
				value[end], from[end] = v, start
			}
		}
	}
	var out []*part
	for end := n; end > 0; end = from[end] {
		out = append(out, s.read(from[end], end-1))
	}
	slices.Reverse(out)
	return out
}

// worth is what reading a run of pieces as one request explains.
func (s *sentenceReader) worth(first, last int) float64 {
	p := s.read(first, last)
	v := p.plain * p.content
	if p.plain < DefaultClarify {
		v *= 0.3
	}
	if first > 0 && !s.pieces[first].strong {
		v -= splitCost
	}
	return max(v, 0)
}

// read ranks and fills one run of pieces.
func (s *sentenceReader) read(first, last int) *part {
	key := [2]int{first, last}
	if p, ok := s.parts[key]; ok {
		return p
	}
	p := &part{first: first, last: last, from: s.pieces[first].from, to: s.pieces[last].to}
	s.parts[key] = p
	tokens := s.m.Tokens[p.from:p.to]
	for _, t := range tokens {
		if !s.x.tools.Lexicon.Light(t.Fold) {
			p.content++
		}
	}
	hits := s.x.search(tokens, s.allowed)
	for k := range hits[:min(len(hits), readDeeply)] {
		p.candidates = append(p.candidates, s.candidate(p, hits, k))
	}
	slices.SortStableFunc(p.candidates, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Score, a.Score))
	})
	if len(p.candidates) > 0 {
		p.plain = p.candidates[0].Confidence
	}
	return p
}

// candidate fills the parameters of a capability and rates it.
func (s *sentenceReader) candidate(p *part, hits []hit, k int) Candidate {
	h := hits[k]
	c := s.x.caps[h.number]
	set := s.x.slots(c)
	tokens := s.m.Tokens[p.from:p.to]
	f := set.Fill(s.m, slot.Range{From: p.from, To: p.to}, nil)
	sig := signals{centroid: h.centroid, best: h.best, margin: margin(hits, k)}
	sig.coverage, sig.spoken, sig.length = s.x.cover(set, tokens, f.Covered)
	conf := shipped().of(sig)
	switch {
	case h.exact:
		conf = certainExample
	case s.x.identifies(c, s.m, p):
		conf = certainIdentifier
	case h.against > h.best:
		conf = min(conf, 0.3)
	}
	return Candidate{
		Entry: c.entry, Confidence: conf, Score: h.score, Parameters: f.Values, Evidence: f.Evidence, Missing: f.Missing,
	}
}

// margin is the distance of a candidate to the best other one, as a share of
// its score.
func margin(hits []hit, k int) float64 {
	if len(hits) == 1 || hits[k].score <= 0 {
		return 1
	}
	other := hits[0].score
	if k == 0 {
		other = hits[1].score
	}
	return max(-1, min(1, (hits[k].score-other)/hits[k].score))
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

// finish gives each part its mood, limits what is not plainly asked for, and
// puts the clauses in order.
func (s *sentenceReader) finish(parts []*part) []Clause {
	s.spreadMoods(parts)
	out := make([]Clause, len(parts))
	for i, p := range parts {
		s.limit(p)
		start, end := s.m.Tokens[p.from].Start, s.partEnd(p)
		out[i] = Clause{
			Text: text.Clean(s.q.Message[start:end]), Span: [2]int{start, end},
			Candidates: p.candidates, Rejected: p.refused, Source: sourceLocal,
		}
	}
	s.order(parts, out)
	return out
}

// partEnd takes a closing sign along with the last word.
func (s *sentenceReader) partEnd(p *part) int {
	end := s.m.Tokens[p.to-1].End
	rest := s.q.Message[end:]
	return end + len(rest) - len(strings.TrimLeft(rest, "\"'”’»)]}%€£?"))
}

// spreadMoods reads the moods of the parts, and lets them reach over the rest
// of their sentence.
func (s *sentenceReader) spreadMoods(parts []*part) {
	var carried mood
	sentence := -1
	for i, p := range parts {
		first := s.pieces[p.first]
		if first.sentence != sentence {
			carried, sentence = 0, first.sentence
		}
		if first.contrast {
			carried &^= moodNegated
		}
		tokens := s.m.Tokens[p.from:p.to]
		own := moodOf(tokens)
		p.mood = own | carried
		carried |= own & inherited
		if leadsCondition(tokens) {
			carried |= moodConditional
			if i > 0 && s.pieces[parts[i-1].last].sentence == sentence {
				parts[i-1].mood |= moodConditional
			}
		}
		sentence = s.pieces[p.last].sentence
	}
}

// limit holds back what has an effect and is not plainly asked for.
func (s *sentenceReader) limit(p *part) {
	commandNegated := p.mood&moodNegated != 0 && startsNegated(s.m.Tokens[p.from:p.to])
	for k := range p.candidates {
		c := &p.candidates[k]
		writes := c.Entry.Policy.SideEffectClass.Writes()
		odd := s.unexcused(p, c)
		if odd == 0 || !writes && !commandNegated {
			continue
		}
		if k == 0 && odd&moodNegated != 0 && c.Confidence >= DefaultClarify {
			p.refused = true
		}
		c.Held, c.Note = true, odd.note()
		c.Confidence = min(c.Confidence, heldConfidence)
	}
	slices.SortStableFunc(p.candidates, func(a, b Candidate) int { return cmp.Compare(b.Confidence, a.Confidence) })
}

// unexcused are the moods of a part that the capability's examples do not
// share. A negation is excused only by the most similar example.
func (s *sentenceReader) unexcused(p *part, c *Candidate) mood {
	if c.Confidence >= certainExample {
		return 0
	}
	idx, ok := s.x.refs[c.Entry.Ref()]
	if !ok {
		return p.mood
	}
	odd := p.mood &^ (idx.moods &^ moodNegated)
	if odd&moodNegated != 0 && idx.moods&moodNegated != 0 && s.nearestMood(p, idx)&moodNegated != 0 {
		odd &^= moodNegated
	}
	return odd
}

func (s *sentenceReader) nearestMood(p *part, c *indexed) mood {
	v := s.x.vectorOf(s.m.Tokens[p.from:p.to])
	in := map[int32]struct{}{}
	for _, id := range v.features {
		in[id] = struct{}{}
	}
	best, m := 0.0, mood(0)
	for d := c.firstDoc; d < c.firstNot; d++ {
		if like := s.x.likeness(&s.x.docs[d], v, in); like > best {
			best, m = like, s.x.docs[d].mood
		}
	}
	return m
}

// startsNegated tells a command not to do something.
func startsNegated(tokens []text.Token) bool {
	for _, t := range tokens[:min(len(tokens), 4)] {
		if negation(t.Fold) {
			return true
		}
	}
	return false
}

// order fills in which clauses must come before which.
func (s *sentenceReader) order(parts []*part, clauses []Clause) {
	after := func(i, j int) {
		if !slices.Contains(clauses[i].After, j) {
			clauses[i].After = append(clauses[i].After, j)
		}
	}
	for i := range clauses {
		if i > 0 {
			switch first := s.pieces[parts[i].first]; {
			case first.reverse:
				after(i-1, i)
			case first.sequence:
				after(i, i-1)
			}
		} else if first := s.pieces[parts[0].first]; len(clauses) > 1 && first.sequence && first.from > 0 && s.m.Tokens[first.from-1].Fold == "before" {
			after(0, 1)
		}
		if writes(clauses[i]) {
			continue
		}
		for j := range i {
			if writes(clauses[j]) && !slices.Contains(clauses[j].After, i) {
				after(i, j)
			}
		}
	}
	for i := range clauses {
		slices.Sort(clauses[i].After)
	}
}

func writes(c Clause) bool {
	return !c.Rejected && len(c.Candidates) > 0 && c.Candidates[0].Entry.Policy.SideEffectClass.Writes()
}

// alternative describes a candidate for people.
func (c Candidate) alternative() contracts.Alternative {
	return contracts.Alternative{
		Domain: c.Entry.Domain, Capability: c.Entry.Capability.Name,
		Description: c.Entry.Capability.Description, Confidence: c.Confidence,
	}
}
