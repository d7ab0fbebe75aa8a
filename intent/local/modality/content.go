package modality

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// givesContent reports whether a token is the verb of a relative clause whose speech was read as a
// value: "a note that says hello", "a note saying hello", and in German "die „Hallo“ sagt".
// Without a value the clause reports what somebody else says.
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

// SaysSomething reports whether a text contains such a clause.
func SaysSomething(tokens []tokenize.Token, covered []bool) bool {
	for i := range tokens {
		if givesContent(tokens, covered, i) {
			return true
		}
	}
	return false
}

// Hedged reports whether unquoted words such as "don't" or "unless" occur. In unquoted speech it
// is ambiguous whether they belong to the speech or to the request.
func Hedged(tokens []tokenize.Token) bool {
	return slices.ContainsFunc(tokens, func(t tokenize.Token) bool {
		return !t.Is(tokenize.FormQuoted) && (t.Has(lexicon.Negation) || t.Has(lexicon.Condition) || t.Has(lexicon.Lacking))
	})
}
