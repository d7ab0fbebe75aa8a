package slots

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// heading is the end of a range or a change that a preposition or a parameter stands for.
type heading int

const (
	headingFrom heading = iota - 1
	headingNone
	headingTo
)

func (h heading) opposite() heading {
	return -h
}

// heading returns the end of a change that a parameter stands for, as in "from_city" and "to_city"
// or "name" and "new_name".
func (p *param) heading() heading {
	switch {
	case p.temporal() || p.format == "time":
		return headingNone // one expression may hold both ends of a period
	case slices.Contains(p.words, "new"):
		return headingTo
	case slices.Contains(p.words, "old"), slices.Contains(p.words, "current"):
		return headingFrom
	case p.sense&SenseSource != 0 && p.sense&SenseTarget == 0:
		return headingFrom
	case p.sense&SenseTarget != 0 && p.sense&SenseSource == 0:
		return headingTo
	}
	return headingNone
}

// pairUp sets the end of each parameter that has a counterpart. A parameter without a direction in
// its name is the counterpart of one with "new".
func pairUp(params []*param) {
	for _, p := range params {
		p.end = headingNone
		h := p.heading()
		if h != headingNone && slices.ContainsFunc(params, func(q *param) bool { return q != p && q.kind == p.kind && q.heading() == h.opposite() }) {
			p.end = h
		}
	}
	for _, p := range params {
		if p.end != headingNone || !slices.Contains(p.words, "new") {
			continue
		}
		for _, q := range params {
			if q != p && q.end == headingNone && q.kind == p.kind && q.required && q.heading() == headingNone && !q.temporal() && len(q.enum) == 0 {
				p.end, q.end = headingTo, headingFrom
				break
			}
		}
	}
}

// headed returns the direction of the preposition before a token, skipping articles and parameter
// names.
func headed(r *scope, first int) heading {
	for i := first - 1; i >= r.from && i >= first-3; i-- {
		t := r.doc.Tokens[i]
		if t.Is(tokenize.FormQuoted) || r.doc.Tokens[i+1].Break && !r.doc.Tokens[i+1].Is(tokenize.FormQuoted) {
			return headingNone
		}
		if h := headingOf(t); h != headingNone {
			return h
		}
		if !t.Has(lexicon.Article) && !slices.ContainsFunc(r.set.params, func(p *param) bool { return slices.Contains(p.words, t.Stem) }) {
			return headingNone
		}
	}
	return headingNone
}

func headingOf(t tokenize.Token) heading {
	from, to := t.Has(lexicon.PrepSource), t.Has(lexicon.PrepTarget)
	switch {
	case from && !to:
		return headingFrom
	case to && !from:
		return headingTo
	}
	return headingNone
}

// astray reports whether a span follows a preposition of the opposite end, or contains one: in
// "rename Travel to Journeys" the span "Travel to Journeys" is no name.
func astray(r *scope, p *param, first, last int) bool {
	if p.end == headingNone {
		return false
	}
	if h := headed(r, first); h == p.end.opposite() {
		return true
	}
	for i := first + 1; i < last; i++ {
		if t := r.doc.Tokens[i]; !t.Is(tokenize.FormQuoted) && t.Has(lexicon.PrepTarget) && !t.Is(tokenize.FormTitle) {
			return true
		}
	}
	return false
}

// sideOf returns the end of a range that a word in a parameter name stands for: "min" is the lower
// end, "new" the target of a change.
func sideOf(c *Cues, stem string) heading {
	switch role := periodRole([]string{stem}); {
	case stem == "after", stem == "before": // these bound a date only
	case c.Low[stem], role == roleStart:
		return headingFrom
	case c.High[stem], role == roleEnd:
		return headingTo
	}
	return headingNone
}

// compileSides sets which end of a range a parameter is, and the other words of its name.
func (p *param) compileSides(c *Cues) {
	p.trunk, p.side = nil, headingNone
	for _, w := range p.words {
		side := sideOf(c, w)
		if p.side == headingNone {
			p.side = side
		}
		if len(w) > 1 && side == headingNone && !slices.Contains([]string{"second", "third", "one", "two", "left", "right"}, w) {
			p.trunk = append(p.trunk, w)
		}
	}
}
