package tokenize

import "strings"

// Spells returns the number of words whose prefixes form a lower-case code, or 0.
func Spells(code string, words []Token) int {
	if code == "" || len(words) == 0 {
		return 0
	}
	for n := range len(code) {
		if !strings.HasPrefix(words[0].Fold, code[:n+1]) {
			return 0
		}
		if n+1 == len(code) {
			return 1
		}
		if rest := Spells(code[n+1:], words[1:]); rest > 0 {
			return rest + 1
		}
	}
	return 0
}
