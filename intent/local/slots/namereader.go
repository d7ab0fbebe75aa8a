package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// NameRequest is what is asked for, as far as it tells names from other words.
type NameRequest interface {
	// Knows tells a word of the request itself.
	Knows(t tokenize.Token) bool
	// Long are its words of five letters or more as they are written.
	Long() []string
	// Titles tells that its examples have titles before values that are no part of them,
	// Numbers and Codes that it takes such.
	Titles() bool
	Numbers() bool
	Codes() bool
	// AskedHowMany tells what is asked a number of, in a part that begins at from.
	AskedHowMany(d *values.Doc, from, i int) bool
}

// NameReader recognises names by capitals, particles and context.
type NameReader struct {
	*Scope

	Wording *Wording
	Cues    *Cues
	Request NameRequest
	// InEntity are the places of typed values.
	InEntity map[int]bool
	// Learning tells an example of the manifest.
	Learning bool

	// nouns tells, once it was looked at, whether every noun has a capital here.
	nouns *bool
	// names tells, once it was looked at, whether a name is written with capitals here.
	names *bool
}

// MaxNameTokens bounds how long a free text without quotes can be.
const MaxNameTokens = 8

// Capitals finds a run of capitalised words that are no part of the request.
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

// mostParticles is how many stand in a row at most: "von und zu", "de la".
const mostParticles = 3

// OverParticles gives the capital behind the particles that follow a name:
// "von der Heide", "da Silva". In German a noun may stand before them instead:
// "Chef von Karl Brandt".
func (r *NameReader) OverParticles(first, last int) (next int, ok bool) {
	next = last + 1
	for next < r.To && next <= last+mostParticles && !r.Doc.Tokens[next].Break && particle(r.Doc.Tokens[next].Fold) {
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

// SecondSurname takes one capital behind "e" or "y" along where only one name is
// asked for: "Costa e Silva". Several are another name.
func (r *NameReader) SecondSurname(first, last int) int {
	if last == first || last+2 >= r.To || r.Doc.Tokens[last+1].Break || r.Doc.Tokens[last+1].Fold != "e" && r.Doc.Tokens[last+1].Fold != "y" {
		return last
	}
	if end, ok := r.Capitals(last + 2); ok && end == last+2 && !r.Doc.Tokens[end].Break {
		return end
	}
	return last
}

// Conjoined lets a text go on over "and" to more capitals: "Sales and
// Marketing" is one title where only one can be given. Names of people are of two words:
// "Tom Hensley and Grace Oduya" are two.
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

// NameWord reports whether a token looks like a part of a name.
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

// BeginsName tells the first word of a sentence that is a part of the name that it begins: it
// is no verb and no word of the request, a capital follows it, and the name is what the
// sentence tells something of: "Ines Moreau weighs 61 kg".
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

// Capitalises tells a text that has a name of several capitals: no name in it is in small
// letters.
func (r *NameReader) Capitalises() bool {
	if r.names == nil {
		found := false
		for i := r.From; i+1 < r.To && !found; i++ {
			first, next := r.Doc.Tokens[i], r.Doc.Tokens[i+1]
			found = first.Is(tokenize.FormTitle) && next.Is(tokenize.FormTitle) && (!first.Is(tokenize.FormFirst) || r.BeginsName(i)) && !next.Break && r.partOfName(i) && r.partOfName(i+1)
		}
		r.names = &found
	}
	return *r.names
}

// partOfName tells a word with a capital that is neither a verb nor a word of the request.
func (r *NameReader) partOfName(i int) bool {
	return r.NameWord(i) && r.Lexicon.Kin(r.Doc.Tokens[i].Fold) == 0
}

// Honours tells a title before a name, where the examples of a parameter have one that is no
// part of the value.
func (r *NameReader) Honours(i int) bool {
	next := i + 1
	return next < r.To && r.Doc.Tokens[i].Has(lexicon.Title) && r.Doc.Tokens[next].Is(tokenize.FormTitle|tokenize.FormCaps) && strings.Trim(r.Wording.Gap(i, next), ". ") == "" &&
		r.Request.Titles()
}

// continuesName lets a word of the request stand inside a name, such as the
// last word of "Head of Time Keeping".
func (r *NameReader) continuesName(j int) bool {
	t := r.Doc.Tokens[j]
	if !t.Is(tokenize.FormTitle) || t.Is(tokenize.FormFirst|tokenize.FormQuoted) || r.InEntity[j] {
		return false
	}
	return !r.Lexicon.StopWord(t.Fold) || !r.CapitalNouns() // "Sá" is a name, "Sie" is not
}

// DigitsOfName lets a number end a name, such as "Support Bot 2", where the
// capability takes no numbers.
func (r *NameReader) DigitsOfName(j int) bool {
	if !r.Doc.Tokens[j].Is(tokenize.FormDigits) || r.Doc.Tokens[j].Break || r.Request.Numbers() {
		return false
	}
	return slices.ContainsFunc(r.Wording.Numbers(), func(e values.Entity) bool { return e.First == j && e.Last == j && !e.Money && !e.Percent })
}

// codeOfName lets a code such as "v2" end a name, where the capability takes no codes.
func (r *NameReader) codeOfName(j int) bool {
	t := r.Doc.Tokens[j]
	return t.Is(tokenize.FormMixed) && !t.Is(tokenize.FormQuoted) && !t.Glued && !r.InEntity[j] && (j+1 >= r.To || !r.Doc.Tokens[j+1].Glued) &&
		!r.Request.Codes()
}

func particle(fold string) bool { return InClass(fold, lexicon.Inside) }

// Only gives the only run of capitals, with words of the request that stand right before it as
// parts of the same name; false where there are none or several.
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
