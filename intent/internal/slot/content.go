package slot

import (
	"slices"

	"github.com/manifold-run/manifold/intent/internal/text"
)

// sayingThat takes what follows a relative clause such as "that says" as what
// the made thing shall say: the text of the only parameter that holds what
// somebody says, or that the examples have behind such a verb.
func (r *reading) sayingThat(frees []*param) {
	for i := r.from + 3; i+1 < r.to; i++ {
		if !relates(r.doc.Tokens[i-1].Fold) || !r.set.tools.cues.utters[r.doc.Tokens[i].Stem] || r.doc.Tokens[i].Break || r.doc.Tokens[i].Is(text.FormQuoted) {
			continue
		}
		if p := r.uttered(frees); p != nil {
			r.utterance(p, i+1)
		}
		return
	}
}

// utterance offers the quotation that begins at a place, or the text from there
// on.
func (r *reading) utterance(p *param, first int) {
	m := mention{param: p, first: first, last: first, kind: kindQuoted, p: 0.9}
	var raw string
	switch {
	case r.doc.Tokens[first].Is(text.FormQuoted):
		for m.last+1 < r.to && r.doc.Tokens[m.last+1].Is(text.FormQuoted) && !closesQuote(r.gap(m.last, m.last+1)) {
			m.last++
		}
		raw = r.quotation(first, m.last)
	case r.quotedFrom(first) || r.broken(first+1, r.to-1):
		return // where what is said ends is not for a comma to tell
	default:
		m.last, m.kind, m.p = r.utteranceEnd(p, first), kindContext, 0.85
		raw = r.words(first, m.last)
	}
	if v, ok := r.set.parse(p, raw, r.now); ok {
		m.value = v
		r.add(m)
	}
}

func (r *reading) broken(first, last int) bool {
	for i := first; i <= last; i++ {
		if r.doc.Tokens[i].Break {
			return true
		}
	}
	return false
}

// utteranceEnd gives the last word of what is said: the last one there is, but
// for a known value of another parameter behind a preposition, as in "that says
// lunch is ready to the sales channel".
func (r *reading) utteranceEnd(p *param, first int) int {
	for _, m := range r.mentions {
		named := m.last+2 == r.to && slices.Contains(m.param.words, r.stemAt(m.last+1))
		if m.param == p || m.last+1 != r.to && !named {
			continue
		}
		i := m.first - 1
		if i > first && r.set.tools.cues.article(r.doc.Tokens[i].Fold) {
			i--
		}
		if _, prep := r.set.tools.cues.preps[r.doc.Tokens[i].Fold]; prep && i > first {
			return i - 1
		}
	}
	return r.to - 1
}

// uttered gives the only parameter that can hold what is said, nil if there are
// none or several.
func (r *reading) uttered(frees []*param) *param {
	var only *param
	for _, p := range frees {
		said := p.speaks(r.set.tools.cues) || slices.ContainsFunc(sortedKeys(p.lefts), func(left string) bool { return r.set.tools.cues.utters[left] })
		if !said || p.resolver || p.pattern != nil || p.list != "" {
			continue
		}
		if only != nil {
			return nil
		}
		only = p
	}
	return only
}

func relates(fold string) bool {
	return slices.Contains([]string{"that", "which", "que", "qui"}, fold)
}

const utterances = "says writes tells asks replies answers responds diz responde pergunta dice pregunta dit repond"
