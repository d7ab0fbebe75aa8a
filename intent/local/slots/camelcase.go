package slots

import (
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// readCamelCase adds candidates for a camel-case name, such as "bufferMemory", for parameters
// whose known values are in camel case.
func readCamelCase(r *reading, c values.Chunk) {
	if r.learning || tokenize.Humps(c.Text) == nil {
		return
	}
	var takers []*param
	for _, p := range r.set.params {
		if len(p.written.Camels) > 0 && p.identified(r.inEntity[c.First]) && p.fits(c.Text) {
			takers = append(takers, p)
		}
	}
	for _, p := range takers {
		r.add(mention{param: p, first: c.First, last: c.Last, span: c.Span, value: c.Text, kind: kindShape, p: min(tokenize.CamelCaseWorth(c.Text, p.written.Camels, len(takers))+r.near.context(p, c.First, c.Last), 0.92)})
	}
}
