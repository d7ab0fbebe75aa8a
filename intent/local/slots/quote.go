package slots

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// quoted adds quoted text as candidates for the free-text parameters.
func (r *reading) quoted() {
	first := r.from
	for first < r.to {
		if !r.doc.Tokens[first].Is(tokenize.FormQuoted) {
			first++
			continue
		}
		last := r.wording.QuotedTo(first)
		r.quote(first, last)
		first = last + 1
	}
}

func (r *reading) quote(first, last int) {
	if last == r.to-1 && (first == r.from || r.set.verbatim != "" && r.wording.Dictates(first)) {
		return // the request is quoted as a whole, or ends in a quotation that is taken verbatim
	}
	raw := r.wording.Quotation(first, last)
	var fitting []*param
	values := map[*param]any{}
	frees := r.near.frees()
	closest := 0.0
	for _, p := range frees {
		closest = max(closest, r.near.named(p, first))
	}
	for _, p := range frees {
		switch v, ok := r.set.parse(p, raw, r.now); {
		case !ok:
		case r.near.named(p, first) == closest:
			fitting, values[p] = append(fitting, p), v
		case p.required && !p.resolver && !r.learning: // in "the sales channel 'good morning'" the value precedes the parameter name
			r.add(mention{param: p, first: first, last: last, value: v, kind: kindQuoted, p: 0.55})
		}
	}
	for _, p := range fitting {
		score := 0.6
		if len(fitting) == 1 {
			score = 0.84
		}
		if closest > 0 {
			score += 0.2
		}
		if len(fitting) > 1 && last-first >= minSpeechLength && p.speaks(r.set.tools.cues) {
			score += 0.1
		}
		if r.near.expects(p.leftContext, first-1) {
			score += 0.15
		}
		r.add(mention{param: p, first: first, last: last, value: values[p], kind: kindQuoted, p: min(score, 0.95)})
	}
}

// minSpeechLength is the minimum distance between the first and last token of a quotation that is
// rather speech than a name.
const minSpeechLength = 3

// speaks reports whether a parameter holds speech.
func (p *param) speaks(c *Cues) bool {
	return slices.ContainsFunc(p.words, func(w string) bool { return c.Speech[w] })
}

// HoldsSpeech reports whether a parameter holds what somebody says or writes, by its name.
func HoldsSpeech(s *Set, name string) bool {
	return slices.ContainsFunc(s.params, func(p *param) bool { return p.name() == name && p.speaks(s.tools.cues) })
}

// named returns how much of a parameter name stands right before a token: the number of its words
// plus the matched share of the name, or 0.
func (r *vicinity) named(p *param, i int) float64 {
	if !r.after(p, i) {
		return 0
	}
	j := i - 1
	for j > r.from && !slices.Contains(p.words, r.doc.Tokens[j].Stem) {
		j--
	}
	n := 0
	for j >= r.from && slices.Contains(p.words, r.doc.Tokens[j].Stem) {
		n, j = n+1, j-1
	}
	return float64(n) + float64(n)/float64(len(p.words)+1)
}
