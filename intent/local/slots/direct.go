package slots

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// direction is the end of a range or a change that a preposition or a parameter stands for.
type direction int

const (
	directionFrom direction = iota - 1
	directionNone
	directionTo
)

func (h direction) opposite() direction {
	return -h
}

// direction returns the end of a change that a parameter stands for, as in "from_city" and "to_city"
// or "name" and "new_name".
func (p *param) direction() direction {
	switch {
	case p.temporal() || p.format == "time":
		return directionNone // one expression may hold both ends of a period
	case slices.Contains(p.words, "new"):
		return directionTo
	case slices.Contains(p.words, "old"), slices.Contains(p.words, "current"):
		return directionFrom
	case p.sense&SenseSource != 0 && p.sense&SenseTarget == 0:
		return directionFrom
	case p.sense&SenseTarget != 0 && p.sense&SenseSource == 0:
		return directionTo
	}
	return directionNone
}

// linkCounterparts sets the end of each parameter that has a counterpart. A parameter without a
// direction in its name is the counterpart of one with "new".
func linkCounterparts(params []*param) {
	for _, p := range params {
		p.end = directionNone
		h := p.direction()
		if h != directionNone && slices.ContainsFunc(params, func(q *param) bool { return q != p && q.kind == p.kind && q.direction() == h.opposite() }) {
			p.end = h
		}
	}
	for _, p := range params {
		if p.end != directionNone || !slices.Contains(p.words, "new") {
			continue
		}
		for _, q := range params {
			if q != p && q.end == directionNone && q.kind == p.kind && q.required && q.direction() == directionNone && !q.temporal() && len(q.enum) == 0 {
				p.end, q.end = directionTo, directionFrom
				break
			}
		}
	}
}

// directionAt returns the direction of the preposition before a token, skipping articles and
// parameter names.
func directionAt(r *scope, first int) direction {
	for i := first - 1; i >= r.from && i >= first-3; i-- {
		t := r.doc.Tokens[i]
		if t.Is(tokenize.FormQuoted) || r.doc.Tokens[i+1].Break && !r.doc.Tokens[i+1].Is(tokenize.FormQuoted) {
			return directionNone
		}
		if h := directionOf(t); h != directionNone {
			return h
		}
		if !t.Has(lexicon.Article) && !slices.ContainsFunc(r.set.params, func(p *param) bool { return slices.Contains(p.words, t.Stem) }) {
			return directionNone
		}
	}
	return directionNone
}

func directionOf(t tokenize.Token) direction {
	from, to := t.Has(lexicon.PrepSource), t.Has(lexicon.PrepTarget)
	switch {
	case from && !to:
		return directionFrom
	case to && !from:
		return directionTo
	}
	return directionNone
}

// wrongDirection reports whether a span follows a preposition of the opposite end, or contains
// one: in "rename Travel to Journeys" the span "Travel to Journeys" is no name.
func wrongDirection(r *scope, p *param, first, last int) bool {
	if p.end == directionNone {
		return false
	}
	if h := directionAt(r, first); h == p.end.opposite() {
		return true
	}
	for i := first + 1; i < last; i++ {
		if t := r.doc.Tokens[i]; !t.Is(tokenize.FormQuoted) && t.Has(lexicon.PrepTarget) && !t.Is(tokenize.FormTitle) {
			return true
		}
	}
	return false
}

// rangeEndOf returns the end of a range that a word in a parameter name stands for: "min" is the
// lower end, "new" the target of a change.
func rangeEndOf(c *Cues, stem string) direction {
	switch role := periodRole([]string{stem}); {
	case stem == "after", stem == "before": // these bound a date only
	case c.Low[stem], role == roleStart:
		return directionFrom
	case c.High[stem], role == roleEnd:
		return directionTo
	}
	return directionNone
}

// compileRangeEnd sets which end of a range a parameter is, and the other words of its name.
func (p *param) compileRangeEnd(c *Cues) {
	p.contentWords, p.side = nil, directionNone
	for _, w := range p.words {
		side := rangeEndOf(c, w)
		if p.side == directionNone {
			p.side = side
		}
		if len(w) > 1 && side == directionNone && !slices.Contains([]string{"second", "third", "one", "two", "left", "right"}, w) {
			p.contentWords = append(p.contentWords, w)
		}
	}
}
