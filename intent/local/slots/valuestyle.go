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
	Words         int      // of the longest value
	Camels        []string // values in camel case: "chatOpenAI"
}

// See records one value.
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

// Capitals reports whether the values are names.
func (e *ValueStyle) Capitals() bool { return e.Proper > 0 && e.Proper > e.Plain }

// Letters reports whether the values are common words.
func (e *ValueStyle) Letters() bool { return e.Plain > 1 && e.Proper == 0 }

// maxThingWords is the maximum length of the name of a thing in words.
const maxThingWords = 3

// Things reports whether the values are short names and no speech.
func (e *ValueStyle) Things() bool { return e.Words > 0 && e.Words <= maxThingWords }

// headWords is the maximum length in words of the noun phrase that a description begins with.
const headWords = 4

// DescribesYear reports whether a description is about a year, such as "Earliest year of
// publication", and not about a number of years, such as "Rate per year": its first noun phrase
// begins or ends with a word for a year.
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
