package slots

import (
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// Absent returns the share of required parameters for which the range has neither a value nor a
// candidate value.
func (s *Set) Absent(m *Message, part Range, f Filled) float64 {
	if len(f.Missing) == 0 {
		return 0
	}
	left := s.unread(m, part, f.Covered)
	return s.unexplainedShare(f, left.take)
}

// Doubt is like Absent, but counts a parameter with free-text candidates by the probability that
// none of them is its value.
func (s *Set) Doubt(m *Message, part Range, f Filled) float64 {
	if len(f.Missing) == 0 {
		return 0
	}
	left, free := s.unread(m, part, f.Covered), map[*param]float64{}
	fd := s.completer(m, part, nil, f)
	fd.weights = &s.tools.prior // the fitted weights assume that the capability is meant
	open := fd.open(f)
	for k, best := range fd.texts(open).Marginals() {
		free[open[k]] = best.Any
	}
	return s.unexplainedShare(f, func(p *param) float64 {
		if there, open := free[p]; open {
			return there
		}
		return left.take(p)
	})
}

// unexplainedShare returns the share of required parameters that have no value and no candidate.
// there returns the probability that a candidate exists.
func (s *Set) unexplainedShare(f Filled, there func(*param) float64) float64 {
	absent, needed := 0.0, len(f.Missing)
	for _, p := range s.params {
		if p.required && (has(f.Values, p.single) || has(f.Values, p.list)) {
			needed++
		}
	}
	for _, name := range f.Missing {
		if p := s.byName(name); p != nil {
			absent += 1 - there(p)
		}
	}
	return absent / float64(needed)
}

// remains counts the tokens that no value was read from: numbers, dates, and runs of words that
// are capitalised or outside the vocabulary of the capability.
type remains struct{ numbers, dates, texts int }

// take consumes one possible candidate for a parameter. It returns 1 if there was one, else 0.
func (r *remains) take(p *param) float64 {
	of := &r.texts
	switch {
	case p.numeric():
		of = &r.numbers
	case p.temporal():
		of = &r.dates
	}
	if *of == 0 {
		return 0
	}
	*of--
	return 1
}

func (s *Set) unread(m *Message, part Range, covered []bool) remains {
	var left remains
	free := func(i int) bool { return i-part.From >= len(covered) || !covered[i-part.From] }
	for _, e := range m.Entities {
		switch {
		case e.First < part.From || e.Last >= part.To || !free(e.First):
		case e.Kind == values.Number:
			left.numbers++
		case e.Kind == values.Date || e.Kind == values.Clock:
			left.dates++
		default:
			left.texts++
		}
	}
	run := false
	for i := part.From; i < part.To; i++ {
		t := m.Tokens[i]
		could := free(i) && !t.Is(tokenize.FormDigits) && (t.Named() || !s.Knows(t) && !s.tools.Lexicon.StopWord(t.Fold))
		if could && !run {
			left.texts++
		}
		run = could
	}
	return left
}
