package slots

import (
	"math"
	"slices"

	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// learnCounted records the free-text parameters whose value follows an integer value in an
// example, with at most one particle such as "of" in between.
func learnCounted(s *Set, d *values.Doc, found []mention) {
	for _, n := range found {
		if n.param.kind != "integer" {
			continue
		}
		for _, m := range found {
			between := m.first - n.last - 1
			if !m.param.free() || m.param.resolver || m.param.pattern != nil || slices.Contains(s.counted, m.param) || between < 0 || between > 1 || d.Tokens[m.first].Break {
				continue
			}
			if between == 0 || s.tools.cues.Particle[d.Tokens[n.last+1].Fold] {
				s.counted = append(s.counted, m.param)
			}
		}
	}
}

// counted adds the nouns behind a number as candidates for the parameters that learnCounted
// recorded: "move 4 ladders from B2 to A1".
func (r *reading) counted() {
	if len(r.set.counted) == 0 || r.learning {
		return
	}
	for _, e := range r.wording.Numbers() {
		if e.Money || e.Percent || e.Ordinal || e.Doubt || e.Number != math.Trunc(e.Number) || e.Last+1 >= r.to || r.doc.Tokens[e.First].Glued || codeAround(r, e) {
			continue
		}
		first := e.Last + 1
		if of := first + 1; of < r.to && r.spelling.Familiar(first) && r.set.tools.cues.Particle[r.doc.Tokens[of].Fold] {
			first = of // "40 pieces of tape"
		}
		if r.set.tools.cues.Particle[r.doc.Tokens[first].Fold] {
			first++
		}
		last := countedEnd(r, first)
		for _, p := range r.set.counted {
			if last < first || !r.try(contextCost) || slices.ContainsFunc(r.mentions, func(m mention) bool {
				return m.param == p && m.first <= last && first <= m.last && m.kind != kindContext
			}) {
				continue
			}
			if v, ok := r.set.parse(p, r.wording.Text(first, last), r.now); ok {
				r.add(mention{param: p, first: first, last: last, value: v, kind: kindContext, p: 0.85})
			}
		}
	}
}

// codeAround reports whether a number is part of a code.
func codeAround(r *reading, e values.Entity) bool {
	c, ok := r.doc.ChunkOf(e.First)
	return ok && c.Code() && (c.First < e.First || c.Last > e.Last)
}

// countedEnd returns the last of the nouns that begin at a token. They end at a function word
// other than a particle such as "of" with another noun behind it.
func countedEnd(r *reading, first int) int {
	last := first - 1
	for i := first; i < r.to && i < first+MaxNameTokens; i++ {
		if !countable(r, i) {
			next := i + 1
			if i == first || next >= r.to || r.doc.Tokens[i].Break || !r.set.tools.cues.Particle[r.doc.Tokens[i].Fold] || !countable(r, next) || r.doc.Tokens[next].Break {
				return last
			}
			continue
		}
		if r.doc.Tokens[i].Break {
			return last
		}
		last = i
	}
	return last
}

// countable reports whether a token may be part of a counted noun phrase.
func countable(r *reading, i int) bool {
	t := r.doc.Tokens[i]
	_, prep := r.set.tools.cues.Preps[t.Fold]
	return !prep && !r.inEntity[i] && !t.Is(tokenize.FormDigits|tokenize.FormMixed|tokenize.FormQuoted) && !r.set.tools.Lexicon.StopWord(t.Fold) && !IsCoordination(t.Fold) && !r.spelling.Familiar(i)
}
