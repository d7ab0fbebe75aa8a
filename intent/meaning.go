package intent

import (
	"context"
	"math"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/internal/meaning"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// What names and descriptions count beside the examples of a capability in its
// mean vector.
const (
	meantName  = 0.1
	meantAbout = 0.1
)

// mostHeard is how many parts of one message get a vector: what it costs to read
// a message stays bounded, however it can be cut.
const mostHeard = 12

// senses is what an index knows of meanings, if there is a scorer.
type senses struct {
	space *meaning.Space
	// calibration is used for what has a vector, in the place of the index's own.
	calibration Calibration
	calibrates  bool
}

// hear gives the vector of a text, or nil.
type hear func(text string) []float32

// hearing hears for one message: after the first text that the scorer does not
// answer, the message is read without it.
func (l *Local) hearing(ctx context.Context) hear {
	if l.scorer == nil {
		return nil
	}
	heard := 0
	return func(text string) []float32 {
		if heard++; heard > mostHeard {
			return nil
		}
		v, err := l.scorer.Score(ctx, text)
		if err != nil {
			heard = mostHeard
			return nil
		}
		return v
	}
}

func (l *Local) report(err error) {
	if l.told != nil {
		l.told(err)
	}
}

// vector gives the vector of some tokens of the message, if there are such.
func (s *sentenceReader) vector(from, to int) []float32 {
	if s.hear == nil || s.x.senses == nil || from >= to {
		return nil
	}
	v := s.hear(s.q.Message[s.m.Tokens[from].Start:s.m.Tokens[to-1].End])
	if len(v) != s.x.senses.space.Dims() {
		return nil
	}
	return v
}

// search ranks for some tokens of the message, and tells whether by meaning too.
func (s *sentenceReader) search(from, to int) ([]hit, bool) {
	v := s.vector(from, to)
	return s.x.search(s.m.Tokens[from:to], v, s.allowed), v != nil
}

// certainty is the calibration for what has a vector, or for what has none; and
// whether it was learned from this catalog.
func (s *sentenceReader) certainty(heard bool) (*Calibration, bool) {
	if heard {
		return &s.x.senses.calibration, s.x.senses.calibrates
	}
	return &s.x.calibration, s.x.calibrates
}

// score fills in how like in meaning every capability is.
func (m *senses) score(s *scratch, means []float32) {
	s.meant = s.meant[:0]
	if len(means) == 0 {
		return
	}
	s.meant = slices.Grow(s.meant, m.space.Size())[:m.space.Size()]
	m.space.Score(means, s.meant)
}

// compare compares hits with single examples, and with each other.
func (m *senses) compare(hits []hit, means []float32) {
	if len(means) == 0 {
		return
	}
	top, sum := 0.0, 0.0
	for i := range hits {
		h := &hits[i]
		h.meant, h.alike = m.space.Likeness(int(h.number), means)
		h.score += shareAlike * h.alike
		top = max(top, h.meant)
	}
	for i := range hits {
		hits[i].meantShare = math.Exp(hitSharpness * (hits[i].meant - top))
		sum += hits[i].meantShare
	}
	for i := range hits {
		hits[i].meantShare /= sum
	}
}

// understood gives a copy of a trained index that knows meanings. All texts must
// have been learned.
func understood(x *Index, known *meaning.Library) *Index {
	capabilities := make([][]meaning.Sentence, len(x.caps))
	for i, c := range x.caps {
		if c == nil {
			continue
		}
		for _, t := range textsOf(c.entry.Capability) {
			capabilities[i] = append(capabilities[i], meaning.Sentence{Vector: known.Vector(t.text), Weight: t.weight, Example: t.example})
		}
	}
	y := *x
	y.senses = &senses{space: meaning.New(known.Dims(), capabilities), calibration: shippedMeant()}
	return &y
}

// told is a text that tells what a capability means.
type told struct {
	text    string
	weight  float32
	example bool
}

func textsOf(c *contracts.Capability) []told {
	out := []told{{text.SplitName(c.Name), meantName, false}}
	if c.Description != "" {
		out = append(out, told{c.Description, meantAbout, false})
	}
	if hints := c.Metadata.IntentHints; hints != nil {
		for _, e := range hints.Examples {
			out = append(out, told{e, 1 / float32(len(hints.Examples)), true})
		}
	}
	return out
}

func textsIn(catalog *contracts.Catalog) []string {
	var out []string
	for _, domain := range catalog.Domains {
		for _, entry := range domain.Capabilities {
			if !entry.Routable() {
				continue
			}
			for _, t := range textsOf(entry.Capability) {
				out = append(out, t.text)
			}
		}
	}
	return out
}
