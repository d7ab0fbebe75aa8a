package tokenize

import "strings"

// AnyQuotation is the placeholder of a quotation; no token has this form.
const AnyQuotation = ` "…"`

// leastAround is the minimum number of words outside of quotations for Quoting.
const leastAround = 3

// Quoting returns the key of a text with its quotations replaced by placeholders, or "" for a text
// without quotations or with few other words.
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

// Normal returns the normal form by which sentences are compared.
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
