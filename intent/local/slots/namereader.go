package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// NameRequest is what recognising names needs to know of a capability.
type NameRequest interface {
	// Knows reports whether a token is in the request vocabulary.
	Knows(t tokenize.Token) bool
	// Long returns the request words of five letters or more.
	Long() []string
	// Titles reports whether the examples have titles before values that are not part of them.
	// Numbers and Codes report whether a parameter takes numbers or codes.
	Titles() bool
	Numbers() bool
	Codes() bool
	// AskedHowMany reports whether token i is what a question such as "how many" counts, in a
	// range that begins at from.
	AskedHowMany(d *values.Doc, from, i int) bool
}

// NameReader recognises names by capitals, particles and context.
type NameReader struct {
	*Scope

	Wording *Wording
	Cues    *Cues
	Request NameRequest
	// InEntity holds the tokens of typed values.
	InEntity map[int]bool
	// Learning is set while an example of the manifest is read.
	Learning bool

	// capitalNouns caches CapitalNouns.
	capitalNouns *bool
	// capitalises caches Capitalises.
	capitalises *bool
}

// MaxNameTokens is the maximum length of unquoted free text.
const MaxNameTokens = 8

// Capitals returns the end of a run of capitalised words outside the request vocabulary.
func (r *NameReader) Capitals(i int) (last int, ok bool) {
	if !r.NameWord(i) {
		return 0, false
	}
	last = i
	for j := i + 1; j < r.To && j < i+MaxNameTokens && !r.Doc.Tokens[j].Break; j++ {
		switch {
		case r.NameWord(j) || r.continuesName(j) || r.DigitsOfName(j) || r.codeOfName(j):
			last = j
		default:
			next, ok := r.OverParticles(i, last)
			if !ok {
				return last, true
			}
			j, last = next, next
		}
	}
	return last, true
}

// maxParticles is the maximum number of particles in a row: "von und zu", "de la".
const maxParticles = 3

// OverParticles returns the capitalised word behind the particles that follow a name: "von der
// Heide", "da Silva". In German a common noun may precede them instead: "Chef von Karl Brandt".
func (r *NameReader) OverParticles(first, last int) (next int, ok bool) {
	next = last + 1
	for next < r.To && next <= last+maxParticles && !r.Doc.Tokens[next].Break && particle(r.Doc.Tokens[next].Fold) {
		next++
	}
	if next == last+1 || next >= r.To || r.Doc.Tokens[next].Break || !r.NameWord(next) {
		return 0, false
	}
	if next == last+2 && r.Noun(first, last) {
		article := first > r.From && r.Cues.Capitalising[r.Doc.Tokens[first-1].Fold]
		full := next+1 < r.To && !r.Doc.Tokens[next+1].Break && r.NameWord(next+1)
		return next, !article && !full
	}
	return next, true
}

// SecondSurname extends a name by one capitalised word behind "e" or "y", for a single-value
// parameter: "Costa e Silva". Several capitalised words are another name.
func (r *NameReader) SecondSurname(first, last int) int {
	if last == first || last+2 >= r.To || r.Doc.Tokens[last+1].Break || r.Doc.Tokens[last+1].Fold != "e" && r.Doc.Tokens[last+1].Fold != "y" {
		return last
	}
	if end, ok := r.Capitals(last + 2); ok && end == last+2 && !r.Doc.Tokens[end].Break {
		return end
	}
	return last
}

// Conjoined extends a text over "and" to more capitals: "Sales and Marketing" is one title for a
// single-value parameter. Names of people have two words, so "Tom Hensley and Grace Oduya" are
// two.
func (r *NameReader) Conjoined(first, last int, naming bool) int {
	for last+2 < r.To && !r.Doc.Tokens[last+1].Break && !r.Doc.Tokens[last+2].Break && IsCoordination(r.Doc.Tokens[last+1].Fold) {
		end, ok := r.Capitals(last + 2)
		if !ok || naming && last > first && end > last+2 {
			break
		}
		last = end
	}
	return last
}

// NameWord reports whether a token may be part of a name.
func (r *NameReader) NameWord(i int) bool {
	t := r.Doc.Tokens[i]
	if !t.Is(tokenize.FormTitle|tokenize.FormCaps) || t.Is(tokenize.FormQuoted) || r.InEntity[i] || r.Lexicon.StopWord(t.Fold) || r.Request.AskedHowMany(r.Doc, r.From, i) || r.Honours(i) {
		return false
	}
	if r.Learning {
		return !t.Is(tokenize.FormFirst) || i+1 < r.To && r.Doc.Tokens[i+1].Is(tokenize.FormTitle) && !r.Doc.Tokens[i+1].Break
	}
	return !r.Familiar(i) || r.Wording.CalledSo(i, i)
}

// BeginsName reports whether the first word of a sentence begins a name that is its subject: "Ines
// Moreau weighs 61 kg". It is neither a verb nor a request word, and a capitalised word follows.
func (r *NameReader) BeginsName(i int) bool {
	t, last := r.Doc.Tokens[i], i+1
	if !t.Is(tokenize.FormFirst) || !t.Is(tokenize.FormTitle) || r.Learning || r.CapitalNouns() || !r.partOfName(i) || last >= r.To || r.Doc.Tokens[last].Break || !r.partOfName(last) {
		return false
	}
	for last+1 < r.To && !r.Doc.Tokens[last+1].Break && r.partOfName(last+1) {
		last++
	}
	if last+1 >= r.To || r.Doc.Tokens[last+1].Break || last-i >= MaxNameTokens {
		return false
	}
	next := r.Doc.Tokens[last+1]
	_, prep := r.Cues.Preps[next.Fold]
	return !next.Is(tokenize.FormDigits|tokenize.FormMixed|tokenize.FormQuoted|tokenize.FormTitle|tokenize.FormCaps) && !prep && !IsCoordination(next.Fold) && !next.Has(lexicon.Article) && !next.Has(lexicon.Courteous)
}

// Capitalises reports whether the text has a name of several capitalised words, so that its names
// are not in lower case. The result is cached.
func (r *NameReader) Capitalises() bool {
	if r.capitalises == nil {
		found := false
		for i := r.From; i+1 < r.To && !found; i++ {
			first, next := r.Doc.Tokens[i], r.Doc.Tokens[i+1]
			found = first.Is(tokenize.FormTitle) && next.Is(tokenize.FormTitle) && (!first.Is(tokenize.FormFirst) || r.BeginsName(i)) && !next.Break && r.partOfName(i) && r.partOfName(i+1)
		}
		r.capitalises = &found
	}
	return *r.capitalises
}

// partOfName reports whether a token is capitalised and neither a verb nor a request word.
func (r *NameReader) partOfName(i int) bool {
	return r.NameWord(i) && r.Lexicon.Kin(r.Doc.Tokens[i].Fold) == 0
}

// Honours reports whether a token is a title before a name, and the examples have titles that are
// not part of the value.
func (r *NameReader) Honours(i int) bool {
	next := i + 1
	return next < r.To && r.Doc.Tokens[i].Has(lexicon.Title) && r.Doc.Tokens[next].Is(tokenize.FormTitle|tokenize.FormCaps) && strings.Trim(r.Wording.Gap(i, next), ". ") == "" &&
		r.Request.Titles()
}

// continuesName reports whether a capitalised request word is inside a name, such as the last word
// of "Head of Time Keeping".
func (r *NameReader) continuesName(j int) bool {
	t := r.Doc.Tokens[j]
	if !t.Is(tokenize.FormTitle) || t.Is(tokenize.FormFirst|tokenize.FormQuoted) || r.InEntity[j] {
		return false
	}
	return !r.Lexicon.StopWord(t.Fold) || !r.CapitalNouns() // "Sá" is a name, "Sie" is not
}

// DigitsOfName reports whether a number ends a name, such as "Support Bot 2", for a capability
// that takes no numbers.
func (r *NameReader) DigitsOfName(j int) bool {
	if !r.Doc.Tokens[j].Is(tokenize.FormDigits) || r.Doc.Tokens[j].Break || r.Request.Numbers() {
		return false
	}
	return slices.ContainsFunc(r.Wording.Numbers(), func(e values.Entity) bool { return e.First == j && e.Last == j && !e.Money && !e.Percent })
}

// codeOfName reports whether a code such as "v2" ends a name, for a capability that takes no
// codes.
func (r *NameReader) codeOfName(j int) bool {
	t := r.Doc.Tokens[j]
	return t.Is(tokenize.FormMixed) && !t.Is(tokenize.FormQuoted) && !t.Glued && !r.InEntity[j] && (j+1 >= r.To || !r.Doc.Tokens[j+1].Glued) &&
		!r.Request.Codes()
}

func particle(fold string) bool { return InClass(fold, lexicon.Inside) }

// Only returns the only capitalised run, extended by capitalised request words right before it. It
// returns false if there are none or several.
func (r *NameReader) Only() (first, last int, ok bool) {
	for i := r.From; i < r.To; i++ {
		end, found := r.Capitals(i)
		if !found || r.Noun(i, end) {
			continue
		}
		if ok {
			return 0, 0, false
		}
		first, last, ok = i, end, true
		for first > r.From && r.Doc.Tokens[first-1].Is(tokenize.FormTitle|tokenize.FormCaps) && !r.Doc.Tokens[first-1].Is(tokenize.FormFirst|tokenize.FormQuoted) && !r.Doc.Tokens[first].Break {
			first--
		}
		i = end
	}
	return first, last, ok
}
