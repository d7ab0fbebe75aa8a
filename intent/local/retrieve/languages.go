package retrieve

import (
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// minLanguageProbability is the minimum probability of a language for an example to count for it.
// A language needs one in languageShare examples, and at least minLanguageExamples, since names
// can mislead language detection.
const (
	minLanguageProbability = 0.8
	languageShare          = 20
	minLanguageExamples    = 2
)

// LanguagesOf detects the languages of examples, as indexes into the lexica.
func LanguagesOf(lexica *lexicon.Lexica, examples []string) map[int]bool {
	counts, all := map[int]int{}, 0
	for _, e := range examples {
		tokens := tokenize.Tokens(e)
		if len(tokens) == 0 {
			continue
		}
		weights := lexicon.DetectLanguages(lexica, tokens, nil).At(0)
		if best := weights.Best(); weights[best] >= minLanguageProbability {
			counts[best]++
			all++
		}
	}
	out := map[int]bool{}
	for language, n := range counts {
		if n*languageShare >= all && (n >= minLanguageExamples || all < manyEnough) {
			out[language] = true
		}
	}
	return out
}

// RepeatedWords returns the longer words that occur in at least two examples, or in one if there
// are few examples.
func RepeatedWords(examples []string) []string {
	seen, often := map[string]int{}, 2
	if len(examples) <= manyEnough {
		often = 1
	}
	var out []string
	for _, e := range examples {
		for _, t := range tokenize.Tokens(e) {
			if len(t.Fold) < shortestNoun || t.Named() || t.Is(tokenize.FormDigits) || t.Has(lexicon.Function) || t.Has(lexicon.Filler) || t.Has(lexicon.Value) {
				continue
			}
			if seen[t.Fold]++; seen[t.Fold] == often && len(out) < mostNouns {
				out = append(out, t.Fold)
			}
		}
	}
	return out
}

// shortestNoun is the minimum length of a word, mostNouns the maximum number of words, manyEnough
// the number of examples up to which each word counts.
const shortestNoun, mostNouns, manyEnough = 4, 8, 5
