package slots

import (
	"strings"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// CapitalNouns reports whether capitals say little in this text. It is looked at once.
func (r *NameReader) CapitalNouns() bool {
	if r.nouns == nil {
		german := r.Cues.Everyday.CapitalNouns(r.Doc.Tokens)
		r.nouns = &german
	}
	return *r.nouns
}

// Noun tells a lone word that has its capital only for being a noun, as far as
// can be seen: it stands alone in a text in which all nouns have one.
func (r *NameReader) Noun(first, last int) bool {
	return first == last && r.CapitalNouns() && !r.Doc.Tokens[first].Is(tokenize.FormCaps|tokenize.FormMixed)
}

// Compounds shorter than this, or with a part shorter than that, may be
// anything.
const compoundPart, compoundRest = 5, 3

// compound tells a German noun of which a part belongs to the request:
// "Urlaubstage" where "Urlaub" does.
func compound(long []string, t tokenize.Token) bool {
	for _, w := range long {
		if len(w) >= compoundPart && len(t.Fold) >= len(w)+compoundRest && (strings.HasPrefix(t.Fold, w) || strings.HasSuffix(t.Fold, w)) {
			return true
		}
	}
	return false
}

// Familiar tells words of the request, whole or as a part of a compound.
func (r *NameReader) Familiar(i int) bool {
	t := r.Doc.Tokens[i]
	return r.Request.Knows(t) || t.Is(tokenize.FormTitle) && r.CapitalNouns() && compound(r.Request.Long(), t)
}
