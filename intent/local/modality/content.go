package modality

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// givesContent tells the verb that says what something shall say, where a value
// was read behind it: "a note that says hello", "a note saying hello"; in German before
// it: "die „Hallo“ sagt". A clause of which nothing was read reports what somebody else
// says.
func givesContent(tokens []tokenize.Token, covered []bool, i int) bool {
	if i < 2 || i >= len(covered) {
		return false
	}
	if tokens[i].Has(lexicon.Says) && covered[i-1] && tokenize.QuotedClause(tokens, i) > 1 {
		return true
	}
	if i+1 >= len(covered) || !covered[i+1] {
		return false
	}
	return tokens[i].Has(lexicon.Saying) || i > 2 && tokens[i].Has(lexicon.Says) && tokenize.HeadsRelativeClause(tokens, i)
}

// SaysSomething tells a text with such a clause.
func SaysSomething(tokens []tokenize.Token, covered []bool) bool {
	for i := range tokens {
		if givesContent(tokens, covered, i) {
			return true
		}
	}
	return false
}

// Hedged tells words outside of quotation marks such as "don't" and "unless".
// Where what somebody says has no marks, nobody can tell whether they belong to
// it or to the request.
func Hedged(tokens []tokenize.Token) bool {
	return slices.ContainsFunc(tokens, func(t tokenize.Token) bool {
		return !t.Is(tokenize.FormQuoted) && (t.Has(lexicon.Negation) || t.Has(lexicon.Condition) || t.Has(lexicon.Lacking))
	})
}
