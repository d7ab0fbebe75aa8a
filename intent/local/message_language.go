package local

import (
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// sureLanguage is the share that the language of a message has at least, if it tells it.
const sureLanguage = 0.6

// LanguageOf is the language that a message is said in, by its code, such as "pt";
// "" if its words do not tell. What is answered in it is a courtesy: values and
// restraint are read in every language that is not ruled out.
func LanguageOf(message string) string {
	tokens := tokenize.Tokens(message)
	lexica := lexicon.Shipped()
	mix := lexicon.DetectLanguages(lexica, tokens, nil)
	sum := make(map[string]float64, len(lexica.Languages))
	words := 0
	for i := range tokens {
		if weights := mix.At(i); weights != nil {
			best := weights.Best()
			words++
			sum[lexica.Languages[best].Code] += weights[best]
		}
	}
	for code, share := range sum {
		if share >= sureLanguage*float64(words) {
			return code
		}
	}
	return ""
}
