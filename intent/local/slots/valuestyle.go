package slots

import (
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// ValueStyle is the orthographic style of a parameter's values.
type ValueStyle struct {
	Proper, Plain int
	Words         int      // of the longest
	Camels        []string // values in camel case: "chatOpenAI"
}

// See looks at one value.
func (e *ValueStyle) See(s string) {
	e.Words = max(e.Words, len(strings.Fields(s)))
	e.Camels = tokenize.AddCamelCase(e.Camels, s)
	r := []rune(s)
	switch {
	case len(r) == 0 || !unicode.IsLetter(r[0]):
	case unicode.IsUpper(r[0]):
		e.Proper++
	default:
		e.Plain++
	}
}

// Capitals tells parameters whose values are names.
func (e *ValueStyle) Capitals() bool { return e.Proper > 0 && e.Proper > e.Plain }

// Letters tells those whose values are ordinary words.
func (e *ValueStyle) Letters() bool { return e.Plain > 1 && e.Proper == 0 }

// wordsOfThing is how many words the name of a thing has at most.
const wordsOfThing = 3

// Things tells parameters whose values are short names, and nothing that is said.
func (e *ValueStyle) Things() bool { return e.Words > 0 && e.Words <= wordsOfThing }

// headWords is how many words what a description begins with has at most.
const headWords = 4

// DescribesYear tells a description that is of a year, such as "Earliest year of
// publication", and of no number of them, such as "Rate per year": a year begins or ends
// what comes before the first word of grammar.
func DescribesYear(description string, isYear func(stem string) bool) bool {
	tokens := tokenize.Tokens(description)
	if len(tokens) > 0 && tokens[0].Has(lexicon.Article) {
		tokens = tokens[1:]
	}
	for i, t := range tokens {
		if i > 0 && t.Break || t.Has(lexicon.Function) {
			tokens = tokens[:i]
			break
		}
	}
	return len(tokens) > 0 && len(tokens) <= headWords && (isYear(tokens[0].Stem) || isYear(tokens[len(tokens)-1].Stem))
}
