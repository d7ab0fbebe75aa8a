package slot

import (
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// expectation is how the values of a parameter are written.
type expectation struct {
	proper, plain int
	words         int // of the longest
}

func (e *expectation) see(s string) {
	e.words = max(e.words, len(strings.Fields(s)))
	r := []rune(s)
	switch {
	case len(r) == 0 || !unicode.IsLetter(r[0]):
	case unicode.IsUpper(r[0]):
		e.proper++
	default:
		e.plain++
	}
}

// capitals tells parameters whose values are names; letters those whose values
// are ordinary words.
func (e *expectation) capitals() bool { return e.proper > 0 && e.proper > e.plain }
func (e *expectation) letters() bool  { return e.plain > 1 && e.proper == 0 }

// wordsOfThing is how many words the name of a thing has at most.
const wordsOfThing = 3

// things tells parameters whose values are short names, and nothing that is said.
func (e *expectation) things() bool { return e.words > 0 && e.words <= wordsOfThing }

// saysDate tells parameters whose name ends in a word for a date, unless the
// description gives values that are none.
func (p *param) saysDate() bool {
	if len(p.words) == 0 {
		return false
	}
	for _, v := range p.listed {
		if !strings.ContainsFunc(v, unicode.IsDigit) {
			return false
		}
	}
	switch p.words[len(p.words)-1] {
	case "date", "datum", "fecha":
		return true
	}
	return false
}

// headWords is how many words what a description begins with has at most.
const headWords = 4

// describesYear tells a description that is of a year, such as "Earliest year of
// publication", and of no number of them, such as "Rate per year": a year begins or ends
// what comes before the first word of grammar.
func describesYear(description string) bool {
	tokens := text.Tokens(description)
	if len(tokens) > 0 && tokens[0].Has(lang.Article) {
		tokens = tokens[1:]
	}
	for i, t := range tokens {
		if i > 0 && t.Break || t.Has(lang.Function) {
			tokens = tokens[:i]
			break
		}
	}
	return len(tokens) > 0 && len(tokens) <= headWords && (isYearWord(tokens[0].Stem) || isYearWord(tokens[len(tokens)-1].Stem))
}
