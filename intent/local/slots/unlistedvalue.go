package slots

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// unlistedValue returns the value of an example in which none was found, for the only free-text
// parameter, if the manifest gives no values for it. The value is the words at the end that the
// manifest has nowhere else.
func unlistedValue(r *reading, found []mention) (mention, bool) {
	var p *param
	for _, q := range r.set.params {
		if !q.free() || q.pattern != nil || q.resolver {
			continue
		}
		if p != nil || q.examples > 0 || len(q.listed) > 0 {
			return mention{}, false
		}
		p = q
	}
	if p == nil || len(found) > 0 {
		return mention{}, false
	}
	first := len(r.doc.Tokens)
	for first > 1 && unfamiliar(r, r.doc.Tokens[first-1]) {
		first--
	}
	last := len(r.doc.Tokens) - 1
	announced := first > 1 && first <= last && (r.doc.Tokens[first-1].Has(lexicon.Function) || slices.Contains(tokenize.Stems(tokenize.SplitName(p.single)), r.doc.Tokens[first-1].Stem))
	if !announced || last-first >= maxUnlistedWords {
		return mention{}, false
	}
	return mention{param: p, first: first, last: last, value: r.wording.Text(first, last), kind: kindExample, p: 0.8}, true
}

// maxUnlistedWords is the maximum length of such a value in words.
const maxUnlistedWords = 3

func unfamiliar(r *reading, t tokenize.Token) bool {
	return !r.set.Knows(t) && !r.set.tools.Lexicon.StopWord(t.Fold) && !t.Has(lexicon.Function) && !t.Is(tokenize.FormDigits|tokenize.FormMixed) && r.set.tools.Lexicon.Kin(t.Fold) == 0
}

// addUnlistedValue adds the value as a known value, and the word before it as the context of values.
func addUnlistedValue(s *Set, r *reading, m mention) {
	m.param.leftContext[r.wording.LeftAt(m.first-1)] += minLeftExamples
	if s.spoken == nil {
		s.spoken = map[spokenValue]bool{}
	}
	word, _ := m.value.(string)
	s.addPhrase(word, m.param, m.value, kindExample, 0.88)
}
