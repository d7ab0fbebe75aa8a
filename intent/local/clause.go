package local

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// readDeeply is the number of candidates per clause whose parameters are filled.
const readDeeply = 5

// The minimum gain of a split, in content words: at a weak separator, at one followed by the first
// word of a request, and between sentences, which often belong together.
const (
	splitCost    = 1
	openerCost   = 0.3
	sentenceCost = 0.5
)

// shareUnclear is the factor for the content of a part below the clarification threshold.
const shareUnclear = 0.1

// clearAlone is the minimum confidence of a segment that is a request by itself.
const clearAlone = 0.6

// heldConfidence is the maximum confidence of a write that the message does not plainly ask for.
const heldConfidence = 0.6

// hardNegativeConfidence is the maximum confidence of a capability if the text is more similar to
// a hard negative than to an example; hardNegativeSimilarity is the minimum similarity for that.
const (
	hardNegativeConfidence = 0.3
	hardNegativeSimilarity = 0.5
)

// sentenceReader finds the requests in one message.
type sentenceReader struct {
	x        *Index
	q        Query
	m        *slots.Message
	segments []slots.Segment
	parts    map[[2]int]*part // by first and last segment
	encode   encodeFunc       // nil without a scorer
	// encodeWord encodes single words, with a limit of its own.
	encodeWord encodeFunc
	// retracted is set if the message ends with a retraction.
	retracted    bool
	crossLingual crossLingual
	// said is the message split into clauses.
	said *modality.Message
}

// part is a run of segments read as one request.
type part struct {
	first, last int // segments
	from, to    int // tokens
	candidates  []Candidate
	// plain is the confidence of the best candidate before modalities limit it.
	plain     float64
	explained float64
	contested int
	modality  modality.Modality // including the modality inherited in its sentence
	own       modality.Modality // of its own words
	// refused is set if the message forbids the best candidate.
	refused bool
	// since and until bound the tokens that belong to the part, including adjacent statements.
	since, until int
	// apart are the token ranges of values that belong to other conjuncts.
	apart [][2]int
	// clauses is the range of the clauses that the part became.
	clauses [2]int
	source  string
}

// allowed reports whether the query permits a capability.
func (s *sentenceReader) allowed(c *indexed) bool {
	if c.open && s.q.Domain == "" && len(s.q.Only) == 0 {
		return true
	}
	meta := &c.entry.Capability.Metadata
	if s.q.Domain != "" && c.entry.Domain != s.q.Domain {
		return false
	}
	if len(s.q.Only) > 0 && !slices.Contains(s.q.Only, c.entry.Ref()) {
		return false
	}
	if s.q.Phase != "" && len(meta.Phases) > 0 && !slices.Contains(meta.Phases, s.q.Phase) {
		return false
	}
	return s.q.AnyRole || len(meta.AllowedRoles) == 0 || slices.ContainsFunc(meta.AllowedRoles, func(r string) bool { return slices.Contains(contracts.RolesIn(c.entry.Domain, s.q.Roles), r) })
}

// clauses returns the requests of the message.
func (s *sentenceReader) clauses() []Clause {
	if len(s.m.Tokens) == 0 {
		return nil
	}
	return s.finish(s.propose())
}

// propose splits the message into the parts that explain it best.
func (s *sentenceReader) propose() []*part {
	s.segments = s.x.segmenter.Cut(s.m)
	if whole, ok := s.exactMatch(); ok {
		return []*part{whole}
	}
	s.retracted = modality.TakesBack(s.x.tools.Lexicon, s.m.Tokens)
	whole := s.segments
	s.segments = s.askingSegments(whole)
	parts := s.divide()
	if len(parts) == 1 && len(s.segments) < len(whole) && onlyTime(s, parts[0]) {
		readAsWhole(s, parts[0])
	}
	if len(s.segments) < len(whole) && !slices.ContainsFunc(parts, func(p *part) bool { return p.plain >= DefaultClarify }) {
		s.segments, s.parts = whole, map[[2]int]*part{} // a statement may contain the request
		return s.divide()
	}
	return parts
}

// onlyTime reports whether a part only gives a time: "starting on Monday".
func onlyTime(s *sentenceReader, p *part) bool {
	for i, timed := range s.timed(p) {
		if t := s.m.Tokens[p.from+i]; !timed && !t.Has(lexicon.Starts) && !s.x.tools.Lexicon.StopWord(t.Fold) {
			return false
		}
	}
	return true
}

// readAsWhole reads a part that only gives a time as the best candidate of the whole message,
// since a statement beside it says what is wanted.
func readAsWhole(s *sentenceReader, p *part) {
	whole := &part{to: len(s.m.Tokens)}
	best := s.weighed(whole, s.rate(whole))
	p.candidates = slices.DeleteFunc(p.candidates, func(c Candidate) bool { return len(best) == 0 || c.Entry != best[0].Entry })
	p.plain = 0
	if len(p.candidates) > 0 {
		p.candidates[0].Confidence, p.plain = best[0].Confidence, best[0].Confidence
	}
}

// divide splits the segments into requests.
func (s *sentenceReader) divide() []*part {
	if len(s.segments) > slots.MaxSegments {
		return s.readSeparately()
	}
	s.segments = slices.DeleteFunc(s.segments, func(p slots.Segment) bool { return p.From >= p.To || s.x.segmenter.Empty(s.m.Tokens[p.From:p.To]) })
	if len(s.segments) == 0 {
		return s.readFunctionWords()
	}
	return s.best()
}

// askingSegments removes what asks for nothing from the segments: courtesy at their ends, reasons
// and statements. If nothing remains, it keeps the whole message.
func (s *sentenceReader) askingSegments(pieces []slots.Segment) []slots.Segment {
	silent := s.said.Silent()
	for i := range silent { // courtesy in the middle: "cancel, please, the leave" is one request
		silent[i] = silent[i] && !s.said.Amid(i)
	}
	var out []slots.Segment
	for _, p := range pieces {
		rest := p
		for rest.From < p.To {
			for rest.From < p.To && silent[rest.From] {
				rest.From++
			}
			rest.To = rest.From
			for rest.To < p.To && !silent[rest.To] {
				rest.To++
			}
			if filters := slices.ContainsFunc(s.said.Segments, func(o modality.Segment) bool { return o.Filters && o.From == rest.From }); filters && len(out) > 0 {
				out[len(out)-1].To = rest.To
			} else if rest.To > rest.From {
				out = append(out, rest)
			}
			rest = slots.Segment{From: rest.To, Sentence: p.Sentence}
		}
	}
	if len(out) == 0 {
		return pieces
	}
	return out
}

// readFunctionWords reads a message of function words only, such as "where are you from". It is a
// request only if an example consists of such words.
func (s *sentenceReader) readFunctionWords() []*part {
	s.segments = []slots.Segment{{To: len(s.m.Tokens), Connection: slots.Connection{Strong: true}}}
	if whole := s.read(0, 0); whole.plain >= DefaultClarify {
		return []*part{whole}
	}
	return nil
}

// exactMatch returns the whole message as one request if it matches an example exactly, except for
// quotations.
func (s *sentenceReader) exactMatch() (*part, bool) {
	known := slices.ContainsFunc(s.x.exactMatches(s.m.Tokens), func(n int32) bool { return s.x.caps[n] != nil && s.allowed(s.x.caps[n]) })
	if !known {
		return nil, false
	}
	s.segments = []slots.Segment{{To: len(s.m.Tokens), Connection: slots.Connection{Strong: true}}}
	return s.read(0, 0), true
}

// readSeparately reads each segment of a long message separately.
func (s *sentenceReader) readSeparately() []*part {
	rest := s.segments[slots.MaxSegments:]
	s.segments = s.segments[:slots.MaxSegments+1]
	s.segments[slots.MaxSegments].To = rest[len(rest)-1].To
	out := make([]*part, 0, len(s.segments))
	for i := range s.segments {
		out = append(out, s.read(i, i))
	}
	return out
}

// best returns the split into runs of segments that explains most content words, by dynamic
// programming.
func (s *sentenceReader) best() []*part {
	n := len(s.segments)
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

// worth returns the number of content words that a run of segments explains as one request.
func (s *sentenceReader) worth(first, last int) float64 {
	if s.separateCommands(first, last) || s.separateQuestions(first, last) {
		return 0
	}
	p := s.read(first, last)
	if len(p.candidates) == 0 {
		return 0
	}
	v := p.plain * p.explained
	if p.plain < DefaultClarify {
		v *= shareUnclear
	}
	if first > 0 {
		v -= s.cost(s.segments[first])
	}
	v -= float64(p.contested)
	if s.joinsSequence(first, last) {
		v /= 2
	}
	return max(v, 0)
}

// separateCommands reports whether a run holds two separate requests: a main clause behind a
// clause such as "before you …", or commands of different kinds of which one is a write.
func (s *sentenceReader) separateCommands(first, last int) bool {
	kin := s.verbKinds(first)
	for k := first + 1; k <= last; k++ {
		if s.segments[k].Main {
			return true
		}
		other := s.verbKinds(k)
		if kin == 0 || other == 0 || kin&other != 0 {
			continue
		}
		a, b := s.read(first, k-1), s.read(k, last)
		if a.plain >= DefaultClarify && b.plain >= DefaultClarify && (a.writes() || b.writes()) {
			return true
		}
	}
	return false
}

// separateQuestions reports whether a run holds two complete questions: "price of Apple and my
// alerts". Two objects of one capability, such as "flights and fares", are one.
func (s *sentenceReader) separateQuestions(first, last int) bool {
	alone := func(p *part) bool {
		return p.plain >= clearAlone && !p.writes() && len(p.candidates[0].Missing) == 0 && (s.hasRequestWord(p) || s.verbKinds(p.first) != 0)
	}
	for k := first + 1; k <= last; k++ {
		a, b := s.read(first, k-1), s.read(k, last)
		if !alone(a) || !alone(b) || a.candidates[0].Entry == b.candidates[0].Entry {
			continue
		}
		whole := s.read(first, last)
		if whole.plain < clearAlone || whole.candidates[0].Entry == a.candidates[0].Entry || whole.candidates[0].Entry == b.candidates[0].Entry {
			return true
		}
	}
	return false
}

// hasRequestWord reports whether a part has a request word outside of its values.
func (s *sentenceReader) hasRequestWord(p *part) bool {
	covered := s.switches(p)
	for i, t := range s.m.Tokens[p.from:p.to] {
		if !covered[i] && s.x.segmenter.Heads[t.Stem] && !s.x.tools.Lexicon.StopWord(t.Fold) && !tokenize.Asks(t.Fold) {
			return true
		}
	}
	return false
}

// verbKinds returns the kinds of the verb that a segment begins with.
func (s *sentenceReader) verbKinds(k int) lexicon.Kinds {
	return modality.CommandKinds(s.x.tools.Lexicon, s.m.Tokens[s.segments[k].From:s.segments[k].To])
}

func (p *part) writes() bool {
	return len(p.candidates) > 0 && p.candidates[0].Entry.Policy.SideEffectClass.Writes()
}

// cost returns the cost of a split before a segment. It is zero for a word such as "then", low at
// the end of a sentence, and lower before a request word than before a possible list item.
func (s *sentenceReader) cost(p slots.Segment) float64 {
	switch {
	case p.Sequence || p.Reverse || p.Main:
		return 0
	case p.Strong:
		return sentenceCost
	case s.x.segmenter.Openers[s.m.Tokens[p.From].Fold]:
		return openerCost
	}
	return splitCost
}

// joinsSequence reports whether a run holds a word such as "then" between two segments that are
// requests by themselves.
func (s *sentenceReader) joinsSequence(first, last int) bool {
	for k := first + 1; k <= last; k++ {
		if (s.segments[k].Sequence || s.segments[k].Reverse) && s.read(first, k-1).plain >= clearAlone && s.read(k, last).plain >= clearAlone {
			return true
		}
	}
	return false
}

// read ranks and fills one run of segments. The result is cached.
func (s *sentenceReader) read(first, last int) *part {
	key := [2]int{first, last}
	if p, ok := s.parts[key]; ok {
		return p
	}
	p := &part{first: first, last: last, from: s.segments[first].From, to: s.segments[last].To}
	s.parts[key] = p
	p.candidates = s.weighed(p, s.rate(p))
	if len(p.candidates) > 0 {
		best := p.candidates[0]
		p.plain, p.explained, p.contested = best.Confidence, best.explained, best.contested
		if idx, ok := s.x.refs[best.Entry.Ref()]; ok && informs(s, p, idx, &best) {
			p.plain = min(p.plain, actionConfidence) // no request by itself
		}
	}
	return p
}

// partEnd returns the end of a part in bytes, including closing punctuation.
func (s *sentenceReader) partEnd(p *part) int {
	end := s.m.Tokens[p.to-1].End
	rest := s.q.Message[end:]
	return end + len(rest) - len(strings.TrimLeft(rest, "\"'”’»)]}%€£?"))
}

// order sets which clauses must come after which.
func (j judgement) order(parts []*part, clauses []Clause) {
	after := func(i, j int) {
		if !slices.Contains(clauses[i].After, j) {
			clauses[i].After = append(clauses[i].After, j)
		}
	}
	between := func(a, b *part) { // all clauses of a come after all of b
		for i := a.clauses[0]; i < a.clauses[1]; i++ {
			for j := b.clauses[0]; j < b.clauses[1]; j++ {
				after(i, j)
			}
		}
	}
	for k := 1; k < len(parts); k++ {
		p := parts[k]
		switch first := j.s.segments[p.first]; {
		case first.Reverse:
			between(parts[k-1], p)
		case first.Sequence:
			between(p, parts[k-1])
		}
	}
	for i := range clauses {
		for j := range i {
			if !writes(clauses[i]) && writes(clauses[j]) && !slices.Contains(clauses[j].After, i) {
				after(i, j)
			}
		}
		slices.Sort(clauses[i].After)
	}
}

func writes(c Clause) bool {
	return !c.Rejected && len(c.Candidates) > 0 && c.Candidates[0].Entry.Policy.SideEffectClass.Writes()
}
