package tokenize

import "strings"

// AnyQuotation stands for a quotation, whatever it says; no word of a text is written so.
const AnyQuotation = ` "…"`

// leastAround is how many words stand around the quotations of an example that is one
// whatever is quoted.
const leastAround = 3

// Quoting is the key of a text with whatever in its quotation marks; "" for a text
// without, or of few words beside them.
func Quoting(tokens []Token) string {
	var b strings.Builder
	around := 0
	for i, t := range tokens {
		switch {
		case !t.Is(FormQuoted):
			b.WriteString(" " + t.Fold)
			around++
		case i == 0 || !tokens[i-1].Is(FormQuoted):
			b.WriteString(AnyQuotation)
		}
	}
	if around < leastAround || !strings.Contains(b.String(), AnyQuotation) {
		return ""
	}
	return b.String()
}

// Normal is the form in which two sentences are the same.
func Normal(tokens []Token) string {
	var b strings.Builder
	for _, t := range tokens {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.Fold)
	}
	return b.String()
}
