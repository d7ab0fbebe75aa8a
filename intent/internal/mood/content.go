package mood

import (
	"slices"

	"github.com/manifold-run/manifold/intent/internal/text"
)

// givesContent tells the verb that says what something shall say, where a value
// was read behind it: "a note that says hello", "a note saying hello". A clause
// of which nothing was read reports what somebody else says.
func givesContent(tokens []text.Token, covered []bool, i int) bool {
	if i < 2 || i+1 >= len(covered) || !covered[i+1] {
		return false
	}
	return saying(tokens[i].Fold) || i > 2 && !tokens[i].Break && saysNow(tokens[i].Fold) && relative(tokens[i-1].Fold)
}

func saying(fold string) bool {
	return slices.Contains([]string{"saying", "reading", "stating", "dizendo", "diciendo", "sagend", "disant"}, fold)
}

// SaysSomething tells a text with such a clause.
func SaysSomething(tokens []text.Token, covered []bool) bool {
	for i := range tokens {
		if givesContent(tokens, covered, i) {
			return true
		}
	}
	return false
}

func saysNow(fold string) bool {
	return slices.Contains([]string{"says", "writes", "tells", "asks", "replies", "answers", "responds", "diz", "responde", "pergunta", "dice", "dit", "repond"}, fold)
}

func relative(fold string) bool {
	return slices.Contains([]string{"that", "which", "que", "qui"}, fold)
}

// Hedged tells words outside of quotation marks such as "don't" and "unless".
// Where what somebody says has no marks, nobody can tell whether they belong to
// it or to the request.
func Hedged(tokens []text.Token) bool {
	return slices.ContainsFunc(tokens, func(t text.Token) bool {
		return !t.Is(text.FormQuoted) && (Negates(t.Fold) || condition(t.Fold) || lacking(t.Fold))
	})
}
