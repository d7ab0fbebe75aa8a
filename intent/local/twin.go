package local

import (
	"math"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/slots"
)

// twinLikeness is the minimum similarity to an example for two domains with the same example to be
// ambiguous.
const twinLikeness = 0.5

// twins reports whether two domains have the same example, so that only the user can choose. It
// returns false if the clause names one domain, or if one candidate explains more words or has
// more listed values.
func (g *gating) twins(clause string, a, b Candidate) bool {
	return alike(a, b) && g.named(clause, a.Entry.Domain) == g.named(clause, b.Entry.Domain) &&
		a.explained <= b.explained && a.knows() <= b.knows()
}

func alike(a, b Candidate) bool {
	return a.Entry.Domain != b.Entry.Domain && a.nearest >= twinLikeness && math.Abs(a.nearest-b.nearest) <= 1e-3
}

// preferKnown moves a candidate to the front that is similar to the best one and has more listed
// values: "show X" for an X that is listed.
func (g *gating) preferKnown(c Clause) Clause {
	if len(c.Candidates) < 2 {
		return c
	}
	best := c.Candidates[0]
	for i, o := range c.Candidates[1:] {
		if alike(best, o) && o.explained >= best.explained && o.knows() > best.knows() && !best.Held {
			c.Candidates = slices.Clone(c.Candidates)
			o.Confidence, o.Score, best.Confidence, best.Score = best.Confidence, best.Score, o.Confidence, o.Score
			c.Candidates[0], c.Candidates[i+1] = o, best
			break
		}
	}
	return c
}

// knows returns the number of listed values of a candidate.
func (c Candidate) knows() int {
	n := 0
	for _, ev := range c.Evidence {
		if slots.IsListedValue(ev) {
			n++
		}
	}
	return n
}

// named reports whether a clause contains the name or the title of a domain.
func (g *gating) named(clause, domain string) bool {
	clause = strings.ToLower(clause)
	d, ok := g.q.Catalog.Domain(domain)
	title := ""
	if ok && d.Manifest != nil {
		title = strings.ToLower(d.Manifest.Title)
	}
	return strings.Contains(clause, strings.ToLower(domain)) || title != "" && strings.Contains(clause, title)
}
