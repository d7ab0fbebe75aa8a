package slots

import (
	"strings"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// CapitalNouns reports whether the text capitalises all nouns, so that a capital does not indicate
// a name. The result is cached.
func (r *NameReader) CapitalNouns() bool {
	if r.capitalNouns == nil {
		german := r.Cues.Everyday.CapitalNouns(r.Doc.Tokens)
		r.capitalNouns = &german
	}
	return *r.capitalNouns
}

// Noun reports whether a span is a single capitalised word in a text that capitalises all nouns,
// so that nothing shows that it is a name.
func (r *NameReader) Noun(first, last int) bool {
	return first == last && r.CapitalNouns() && !r.Doc.Tokens[first].Is(tokenize.FormCaps|tokenize.FormMixed)
}

// The minimum lengths of the known part and of the remainder of a compound.
const compoundPart, compoundRest = 5, 3

// compound reports whether a token is a German compound that begins or ends with a known word:
// "Urlaubstage" with "Urlaub".
func compound(long []string, t tokenize.Token) bool {
	for _, w := range long {
		if len(w) >= compoundPart && len(t.Fold) >= len(w)+compoundRest && (strings.HasPrefix(t.Fold, w) || strings.HasSuffix(t.Fold, w)) {
			return true
		}
	}
	return false
}

// Familiar reports whether a token is a word of the request vocabulary, or a compound with one.
func (r *NameReader) Familiar(i int) bool {
	t := r.Doc.Tokens[i]
	return r.Request.Knows(t) || t.Is(tokenize.FormTitle) && r.CapitalNouns() && compound(r.Request.Long(), t)
}
