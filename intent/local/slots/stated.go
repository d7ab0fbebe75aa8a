package slots

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Stated reads unambiguous values for open parameters from a statement beside a request: an
// address, a code or a quotation that only one parameter takes, the value of a boolean, and a time
// of day if the statement says what it is for. In a denied statement only booleans are read.
func (s *Set) Stated(m *Message, run Range, values map[string]any, denied bool) (map[string]any, map[string]contracts.Evidence) {
	r := &reading{passage: s.passage(m, run, nil), beside: true}
	r.collect()
	out, evidence := map[string]any{}, map[string]contracts.Evidence{}
	for _, p := range s.params {
		if p.single == "" || has(values, p.single) || has(values, p.list) {
			continue
		}
		found := statedFor(r, p)
		if len(found) != 1 || denied && found[0].value != false || foreignWords(r, found[0], values) > maxForeignWords || (found[0].kind == kindTime || found[0].kind == kindQuoted) && !mentionsParam(r, p, found[0]) {
			continue
		}
		span := found[0].in(r.doc)
		out[p.single] = found[0].value
		evidence[p.single] = contracts.Evidence{Kind: found[0].kind, P: found[0].p, Span: [2]int{span.Start, span.End}}
	}
	return out, evidence
}

// maxForeignWords is the maximum number of unknown words beside the value in a statement: its
// verb.
const maxForeignWords = 1

// statedFor returns the mentions that only this parameter takes.
func statedFor(r *reading, p *param) []mention {
	var out []mention
	for _, m := range r.mentions {
		if m.param != p || !isUnambiguous(r, m) || slices.ContainsFunc(out, func(o mention) bool { return o.first == m.first }) {
			continue
		}
		rival := slices.ContainsFunc(r.mentions, func(o mention) bool {
			return o.param != p && o.first <= m.last && m.first <= o.last && (isUnambiguous(r, o) || o.p >= floorOptional)
		})
		if rival {
			return nil
		}
		out = append(out, m)
	}
	return out
}

// isUnambiguous reports whether the kind of a mention is unambiguous.
func isUnambiguous(r *reading, m mention) bool {
	p := m.param
	switch m.kind {
	case kindAddress:
		return p.format != "" && m.p >= floorOptional && !m.doubt
	case kindTime:
		return !m.doubt
	case kindPattern:
		return !p.acceptsWords && p.clock == "" && m.p >= floorOptional
	case kindBoolean:
		return m.p < namedScore
	case kindQuoted:
		return p == r.near.speechParam(r.near.frees())
	}
	return false
}

// foreignWords counts the unknown words beside a value. An unknown name or another value exceeds
// the limit.
func foreignWords(r *reading, of mention, values map[string]any) int {
	var said []string
	for _, v := range values {
		if name, ok := v.(string); ok {
			said = append(said, tokenize.Phrase(name)...)
		}
	}
	n := 0
	for i := r.from; i < r.to; i++ {
		t := r.doc.Tokens[i]
		switch {
		case i >= of.first && i <= of.last, r.spelling.Familiar(i), r.set.tools.Lexicon.StopWord(t.Fold), slices.Contains(said, t.Fold):
		case t.Is(tokenize.FormDigits|tokenize.FormMixed|tokenize.FormQuoted) || r.inEntity[i] || t.Named() && !r.spelling.CapitalNouns() && !r.wording.Owned(i):
			return maxForeignWords + 1
		default:
			n++
		}
	}
	return n
}

// mentionsParam reports whether a statement contains a word of a parameter's name or of its
// description, also a split compound: "she picks it up at 9" is the time of a pickup. For a
// quotation a verb of saying is enough.
func mentionsParam(r *reading, p *param, of mention) bool {
	own := func(stem string) bool {
		return !clockWord(stem) && (slices.Contains(p.contentWords, stem) || p.own[stem])
	}
	for i := r.from; i < r.to; i++ {
		if i >= of.first && i <= of.last {
			continue
		}
		stem := r.doc.Tokens[i].Stem
		if own(stem) && !r.doc.Tokens[i].Has(lexicon.Function) || of.kind == kindQuoted && r.set.tools.cues.Utters[stem] {
			return true
		}
		for j := i + 1; j < min(r.to, i+3); j++ {
			if slices.Contains(p.words, stem+r.doc.Tokens[j].Stem) {
				return true
			}
		}
	}
	return false
}

// Takes marks the tokens that an open parameter could take by their form, so that a statement
// beside a request is not ignored.
func (a RequestWords) Takes(m *Message, values map[string]any) []bool {
	out := make([]bool, len(m.Tokens))
	r := &reading{passage: a.of.passage(m, Range{To: len(m.Tokens)}, nil)}
	r.collect()
	for _, n := range r.mentions {
		if has(values, n.param.single) || has(values, n.param.list) || !isUnambiguous(r, n) {
			continue
		}
		for i := n.first; i <= n.last; i++ {
			out[i] = true
		}
	}
	for _, e := range r.wording.Numbers() {
		for _, p := range a.of.params {
			if p.takesClock() && !has(values, p.single) && r.wording.BareHour(e) {
				out[e.First] = true
			}
		}
	}
	return out
}
