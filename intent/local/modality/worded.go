package modality

import "github.com/manifold-run/manifold/contracts"

// HasContentWord reports whether a run has a content word outside of values: "what is for lunch"
// has none if lunch is a value, so it has no request word.
func HasContentWord(m *Message, from, to int, values map[string]contracts.Evidence) bool {
	for i := from; i < to; i++ {
		taken := false
		for _, v := range values {
			taken = taken || v.Span[0] < m.Tokens[i].End && m.Tokens[i].Start < v.Span[1]
		}
		if !taken && m.word(i) && !m.isFunctionWord(i) {
			return true
		}
	}
	return false
}
