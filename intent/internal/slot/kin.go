package slot

import "github.com/manifold-run/manifold/intent/internal/text"

// Akin tells whether a word is a verb that asks for the same kind of thing as
// one that belongs to the request.
func (s *Set) Akin(t text.Token) bool {
	return s.kinds != 0 && !t.Named() && s.kinds&s.tools.Lexicon.Kin(t.Fold) != 0
}
