package values

import (
	"regexp"
	"strings"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// expression matches a formula such as "3x^2 - 2*x + sin(x)".
var expression = regexp.MustCompile(`^[-(]*` + term + `\)*(?:\s*[-+*/]\s*\(*` + term + `\)*)*(?:(?:\^|\*\*)\d+)?`) //nolint:gochecknoglobals // compiled once, never changed

const term = `(?:\d+(?:\.\d+)?(?:\s?\*\s?)?(?:` + variable + `)?|` + variable + `)`

const variable = `(?:[a-z]{2,4}\([^()]{1,20}\)|[a-zA-Z](?:(?:\^|\*\*)\(?-?[0-9a-z]+\)?)?)`

// FormulaAt reads a formula that begins at token i and ends before token to. A word or a number
// without a variable is no formula.
func FormulaAt(d *Doc, i, to int) (raw string, last int, ok bool) {
	if i > 0 && d.Tokens[i].Glued || d.Tokens[i].Is(tokenize.FormQuoted) {
		return "", 0, false
	}
	start := d.Tokens[i].Start
	for start > 0 && strings.ContainsRune("-(", rune(d.Src[start-1])) {
		start--
	}
	raw = expression.FindString(d.Src[start:])
	end := start + len(raw)
	last = i - 1
	for last+1 < to && d.Tokens[last+1].End <= end && !d.Tokens[last+1].Is(tokenize.FormQuoted) {
		last++
	}
	raw = strings.TrimRight(raw, " ")
	whole := last >= i && d.Tokens[last].End >= start+len(strings.TrimRight(raw, " )"))
	return raw, last, whole && computes(raw) && !goesOn(d.Src[end:])
}

// computes reports whether a text has a variable, an operator and a number.
func computes(raw string) bool {
	letter := strings.ContainsFunc(raw, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
	return letter && strings.ContainsAny(raw, "^*+-/") && strings.ContainsAny(raw, "0123456789")
}

// goesOn reports whether the match ends inside a word: "2 x-rays".
func goesOn(behind string) bool {
	return behind != "" && (behind[0] >= 'a' && behind[0] <= 'z' || behind[0] >= '0' && behind[0] <= '9')
}
