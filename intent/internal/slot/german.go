package slot

import (
	"strings"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// capitalNouns tells whether capitals say little in this text. It is looked at once.
func (r *spelling) capitalNouns() bool {
	if r.nouns == nil {
		german := r.set.tools.cues.everyday.CapitalNouns(r.doc.Tokens)
		r.nouns = &german
	}
	return *r.nouns
}

// noun tells a lone word that has its capital only for being a noun, as far as
// can be seen: it stands alone in a text in which all nouns have one.
func (r *spelling) noun(first, last int) bool {
	return first == last && r.capitalNouns() && !r.doc.Tokens[first].Is(text.FormCaps|text.FormMixed)
}

// askedHowMany tells what is asked a number of: "how many days", "wie viele Tage",
// "quanto de férias". It is no name.
func (r *spelling) askedHowMany(i int) bool {
	j := i - 1
	if j > r.from && (r.doc.Tokens[j].Fold == "de" || r.doc.Tokens[j].Fold == "d") && !r.doc.Tokens[i].Break {
		j--
	}
	if j < r.from || r.doc.Tokens[j+1].Break && !r.doc.Tokens[j+1].Glued {
		return false
	}
	if r.doc.Tokens[j].Has(lang.HowMany) {
		return true
	}
	switch r.doc.Tokens[j].Fold {
	case "many", "much":
		return j > r.from && r.doc.Tokens[j-1].Fold == "how"
	case "viel", "viele", "vielen":
		return j > r.from && r.doc.Tokens[j-1].Fold == "wie"
	}
	return false
}

// Compounds shorter than this, or with a part shorter than that, may be
// anything.
const compoundPart, compoundRest = 5, 3

// compound tells a German noun of which a part belongs to the request:
// "Urlaubstage" where "Urlaub" does.
func (s *Set) compound(t text.Token) bool {
	for _, w := range s.long {
		if len(w) >= compoundPart && len(t.Fold) >= len(w)+compoundRest && (strings.HasPrefix(t.Fold, w) || strings.HasSuffix(t.Fold, w)) {
			return true
		}
	}
	return false
}

// familiar tells words of the request, whole or as a part of a compound.
func (r *spelling) familiar(i int) bool {
	t := r.doc.Tokens[i]
	return r.set.Knows(t) || t.Is(text.FormTitle) && r.capitalNouns() && r.set.compound(t)
}
