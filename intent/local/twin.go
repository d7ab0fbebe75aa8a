package local

import (
	"math"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/slots"
)

// twinLikeness is how like an example a clause must be for two domains with
// that example to be told apart by nobody but the person.
const twinLikeness = 0.5

// twins reports whether two domains teach the same sentence: whatever training
// made of their weights, only the person knows which one is meant, unless the
// words name one of them, say more of one, or hold a value that one knows.
func (g *gating) twins(clause string, a, b Candidate) bool {
	return alike(a, b) && g.named(clause, a.Entry.Domain) == g.named(clause, b.Entry.Domain) &&
		a.explained <= b.explained && a.knows() <= b.knows()
}

func alike(a, b Candidate) bool {
	return a.Entry.Domain != b.Entry.Domain && a.nearest >= twinLikeness && math.Abs(a.nearest-b.nearest) <= 1e-3
}

// preferKnown puts a candidate first that is said like the best one and knows
// more of the values: "show X" shows what is called X.
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

// knows counts the values of a candidate that its manifest lists.
func (c Candidate) knows() int {
	n := 0
	for _, ev := range c.Evidence {
		if slots.IsListedValue(ev) {
			n++
		}
	}
	return n
}

// named reports whether a clause names a domain, by its name or its title.
func (g *gating) named(clause, domain string) bool {
	clause = strings.ToLower(clause)
	d, ok := g.q.Catalog.Domain(domain)
	title := ""
	if ok && d.Manifest != nil {
		title = strings.ToLower(d.Manifest.Title)
	}
	return strings.Contains(clause, strings.ToLower(domain)) || title != "" && strings.Contains(clause, title)
}
