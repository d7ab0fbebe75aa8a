package tokenize

import "unicode"

// mostHumps is how many parts a name in camel case has at most.
const mostHumps = 8

// Humps are the parts of a name in camel case, in small letters: "chat", "open", "ai" of
// "chatOpenAI". It begins with two small letters at least, so that "iPhone" is none.
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
