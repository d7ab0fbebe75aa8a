package slot

import (
	"slices"

	"github.com/manifold-run/manifold/intent/internal/text"
)

// Akin tells whether a word is a verb that asks for the same kind of thing as
// one that belongs to the request.
func (s *Set) Akin(t text.Token) bool {
	groups := s.tools.Lexicon.Kin(t.Fold)
	if len(groups) == 0 || t.Named() {
		return false
	}
	for known := range s.vocabulary {
		if slices.ContainsFunc(s.tools.Lexicon.Kin(known), func(g int) bool { return slices.Contains(groups, g) }) {
			return true
		}
	}
	return false
}
