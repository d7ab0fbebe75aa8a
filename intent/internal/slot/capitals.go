package slot

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
	"github.com/manifold-run/manifold/intent/internal/value"
)

// capitals finds a run of capitalised words that are no part of the request.
func (r *spelling) capitals(i int) (last int, ok bool) {
	if !r.nameWord(i) {
		return 0, false
	}
	last = i
	for j := i + 1; j < r.to && j < i+maxNameTokens && !r.doc.Tokens[j].Break; j++ {
		switch {
		case r.nameWord(j) || r.continuesName(j) || r.digitsOfName(j) || codeOfName(r.scope, j):
			last = j
		default:
			next, ok := r.overParticles(i, last)
			if !ok {
				return last, true
			}
			j, last = next, next
		}
	}
	return last, true
}

// mostParticles is how many stand in a row at most: "von und zu", "de la".
const mostParticles = 3

// overParticles gives the capital behind the particles that follow a name:
// "von der Heide", "da Silva". In German a noun may stand before them instead:
// "Chef von Karl Brandt".
func (r *spelling) overParticles(first, last int) (next int, ok bool) {
	next = last + 1
	for next < r.to && next <= last+mostParticles && !r.doc.Tokens[next].Break && particle(r.doc.Tokens[next].Fold) {
		next++
	}
	if next == last+1 || next >= r.to || r.doc.Tokens[next].Break || !r.nameWord(next) {
		return 0, false
	}
	if next == last+2 && r.noun(first, last) {
		article := first > r.from && r.set.tools.cues.capitalising[r.doc.Tokens[first-1].Fold]
		full := next+1 < r.to && !r.doc.Tokens[next+1].Break && r.nameWord(next+1)
		return next, !article && !full
	}
	return next, true
}

// secondSurname takes one capital behind "e" or "y" along where only one name is
// asked for: "Costa e Silva". Several are another name.
func (r *spelling) secondSurname(first, last int) int {
	if last == first || last+2 >= r.to || r.doc.Tokens[last+1].Break || r.doc.Tokens[last+1].Fold != "e" && r.doc.Tokens[last+1].Fold != "y" {
		return last
	}
	if end, ok := r.capitals(last + 2); ok && end == last+2 && !r.doc.Tokens[end].Break {
		return end
	}
	return last
}

// nameWord tells whether a token looks like a part of a name.
func (r *spelling) nameWord(i int) bool {
	t := r.doc.Tokens[i]
	if !t.Is(text.FormTitle|text.FormCaps) || t.Is(text.FormQuoted) || r.inEntity[i] || r.set.tools.Lexicon.Light(t.Fold) || r.askedHowMany(i) || r.honours(i) {
		return false
	}
	if r.learning {
		return !t.Is(text.FormFirst) || i+1 < r.to && r.doc.Tokens[i+1].Is(text.FormTitle) && !r.doc.Tokens[i+1].Break
	}
	return !r.familiar(i) || calledSo(r.scope, i, i)
}

// beginsName tells the first word of a sentence that is a part of the name that it begins: it
// is no verb and no word of the request, a capital follows it, and the name is what the
// sentence tells something of: "Ines Moreau weighs 61 kg".
func (r *spelling) beginsName(i int) bool {
	t, last := r.doc.Tokens[i], i+1
	if !t.Is(text.FormFirst) || !t.Is(text.FormTitle) || r.learning || r.capitalNouns() || !r.partOfName(i) || last >= r.to || r.doc.Tokens[last].Break || !r.partOfName(last) {
		return false
	}
	for last+1 < r.to && !r.doc.Tokens[last+1].Break && r.partOfName(last+1) {
		last++
	}
	if last+1 >= r.to || r.doc.Tokens[last+1].Break || last-i >= maxNameTokens {
		return false
	}
	next := r.doc.Tokens[last+1]
	_, prep := r.set.tools.cues.preps[next.Fold]
	return !next.Is(text.FormDigits|text.FormMixed|text.FormQuoted|text.FormTitle|text.FormCaps) && !prep && !Joins(next.Fold) && !next.Has(lang.Article) && !next.Has(lang.Courteous)
}

// capitalises tells a text that has a name of several capitals: no name in it is in small
// letters.
func (r *spelling) capitalises() bool {
	if r.names == nil {
		found := false
		for i := r.from; i+1 < r.to && !found; i++ {
			first, next := r.doc.Tokens[i], r.doc.Tokens[i+1]
			found = first.Is(text.FormTitle) && next.Is(text.FormTitle) && (!first.Is(text.FormFirst) || r.beginsName(i)) && !next.Break && r.partOfName(i) && r.partOfName(i+1)
		}
		r.names = &found
	}
	return *r.names
}

// partOfName tells a word with a capital that is neither a verb nor a word of the request.
func (r *spelling) partOfName(i int) bool {
	return r.nameWord(i) && r.set.tools.Lexicon.Kin(r.doc.Tokens[i].Fold) == 0
}

// honours tells a title before a name, where the examples of a parameter have one that is no
// part of the value.
func (r *spelling) honours(i int) bool {
	next := i + 1
	return next < r.to && r.doc.Tokens[i].Has(lang.Title) && r.doc.Tokens[next].Is(text.FormTitle|text.FormCaps) && strings.Trim(r.wording.gap(i, next), ". ") == "" &&
		slices.ContainsFunc(r.set.params, func(p *param) bool { return p.lefts[titled] > 0 })
}

// continuesName lets a word of the request stand inside a name, such as the
// last word of "Head of Time Keeping".
func (r *spelling) continuesName(j int) bool {
	t := r.doc.Tokens[j]
	if !t.Is(text.FormTitle) || t.Is(text.FormFirst|text.FormQuoted) || r.inEntity[j] {
		return false
	}
	return !r.set.tools.Lexicon.Light(t.Fold) || !r.capitalNouns() // "Sá" is a name, "Sie" is not
}

// digitsOfName lets a number end a name, such as "Support Bot 2", where the
// capability takes no numbers.
func (r *spelling) digitsOfName(j int) bool {
	if !r.doc.Tokens[j].Is(text.FormDigits) || r.doc.Tokens[j].Break || slices.ContainsFunc(r.set.params, (*param).numeric) {
		return false
	}
	return slices.ContainsFunc(r.wording.numbers(), func(e value.Entity) bool { return e.First == j && e.Last == j && !e.Money && !e.Percent })
}

// codeOfName lets a code such as "v2" end a name, where the capability takes no codes.
func codeOfName(r *scope, j int) bool {
	t := r.doc.Tokens[j]
	return t.Is(text.FormMixed) && !t.Is(text.FormQuoted) && !t.Glued && !r.inEntity[j] && (j+1 >= r.to || !r.doc.Tokens[j+1].Glued) &&
		!slices.ContainsFunc(r.set.params, func(p *param) bool { return p.pattern != nil || p.identifiers > 0 })
}

func particle(fold string) bool { return is(fold, lang.Inside) }
