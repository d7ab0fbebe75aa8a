package slot

import (
	"slices"

	"github.com/manifold-run/manifold/intent/internal/text"
	"github.com/manifold-run/manifold/intent/internal/value"
)

// What a name in camel case is worth for a parameter whose values are written so: more where
// it shares a part with one of them, enough where no other parameter takes such.
const (
	camelShared = 0.86
	camelSole   = 0.78
	camelOther  = 0.6
)

// learnCamel keeps a value in camel case.
func (p *param) learnCamel(v string) {
	if text.Humps(v) != nil && !slices.Contains(p.camels, v) {
		p.camels = append(p.camels, v)
	}
}

// camel offers a name in camel case, such as "bufferMemory", to the parameters whose values
// are written so.
func camel(r *reading, c value.Chunk) {
	humps := text.Humps(c.Text)
	if humps == nil || r.learning {
		return
	}
	var takers []*param
	for _, p := range r.set.params {
		if len(p.camels) > 0 && p.identified(r.inEntity[c.First]) && p.fits(c.Text) {
			takers = append(takers, p)
		}
	}
	for _, p := range takers {
		worth := camelOther
		switch {
		case slices.ContainsFunc(p.camels, func(v string) bool { return kindred(humps, text.Humps(v)) }):
			worth = camelShared
		case len(takers) == 1:
			worth = camelSole
		}
		worth = min(worth+r.near.context(p, c.First, c.Last), 0.92)
		r.add(mention{param: p, first: c.First, last: c.Last, span: c.Span, value: c.Text, kind: kindShape, p: worth})
	}
}

// kindred tells two names in camel case that begin or end with the same part.
func kindred(a, b []string) bool { return a[0] == b[0] || a[len(a)-1] == b[len(b)-1] }
