package tokenize

import "unicode"

// mostHumps is the maximum number of parts of a camel-case name.
const mostHumps = 8

// Humps returns the lower-case parts of a camel-case name: "chat", "open", "ai" for "chatOpenAI".
// The name begins with at least two lower-case letters, so "iPhone" is none.
func Humps(s string) []string {
	var out []string
	start, capital := 0, false
	for i, r := range s {
		if !unicode.IsLetter(r) || i < 2 && !unicode.IsLower(r) {
			return nil
		}
		upper := unicode.IsUpper(r)
		if upper && !capital {
			out, start = append(out, Fold(s[start:i])), i
		}
		capital = upper
	}
	if len(out) == 0 || len(out) > mostHumps {
		return nil
	}
	return append(out, Fold(s[start:]))
}
