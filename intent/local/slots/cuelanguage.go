package slots

import (
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// InEnglish reports whether most function words of a text are English. With no evidence for
// another language it returns true.
func (c *Cues) InEnglish(tokens []tokenize.Token, lexicon *tokenize.Lexicon) bool {
	english, foreign := 0, 0
	for _, t := range tokens {
		switch {
		case c.English[t.Fold]:
			english++
		case c.Openers[t.Fold]:
		case (c.Everyday.Has(t) || lexicon.StopWord(t.Fold)) && !c.Shared[t.Fold]:
			foreign++
		}
	}
	return 3*english >= foreign
}

// Preposition returns the sense that a preposition announces. "a" is a preposition in French and
// Portuguese, but not in an English sentence.
func (c *Cues) Preposition(fold string, english bool) (Sense, bool) {
	announced, ok := c.Preps[fold]
	return announced, ok && (!english || fold == "on" || !c.Shared[fold])
}

// InClass reports whether a word is in a class in any language.
func InClass(fold string, c lexicon.Class) bool { return lexicon.Shipped().Folded(fold).Has(c) }

// IsArticle reports whether a word may stand between a parameter name and its value.
func IsArticle(fold string) bool { return InClass(fold, lexicon.Copula) }

// IsCoordination reports whether a word coordinates items, such as "and".
func IsCoordination(fold string) bool { return InClass(fold, lexicon.Joins) }

// IsNegation reports whether a word negates the next one.
func IsNegation(fold string) bool { return InClass(fold, lexicon.Switches) }

// LinksName reports whether a word links a parameter name to its value, such as "called".
func LinksName(fold string) bool { return InClass(fold, lexicon.Links) }

// IsConjunction reports whether a word joins the last two items of a list.
func IsConjunction(fold string) bool { return InClass(fold, lexicon.Listing) }
