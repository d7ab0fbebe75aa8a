package mood

import (
	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// StartsNegated tells a command not to do something.
func StartsNegated(tokens []text.Token) bool {
	for _, t := range tokens[:min(len(tokens), 4)] {
		if Negates(t.Fold) || t.Fold == "no" || t.Fold == "ne" || t.Fold == "n" {
			return true
		}
	}
	return false
}

// TakesBack tells whether the message ends with words behind a sign that say
// nothing but "don't".
func TakesBack(lexicon *text.Lexicon, tokens []text.Token) bool {
	denied, ended, finite := false, false, false
	for i := len(tokens) - 1; i > 0; i-- {
		t := tokens[i]
		ended, finite = ended || t.Has(lang.Ending), finite || t.Has(lang.Finite)
		no := Negates(t.Fold) || Denies(t.Fold)
		if !no && !lexicon.Light(t.Fold) || t.Is(text.FormQuoted) {
			return false
		}
		if denied = denied || no; denied && t.Break {
			return !ended || !finite // ", já não é preciso" says why
		}
	}
	return false
}
