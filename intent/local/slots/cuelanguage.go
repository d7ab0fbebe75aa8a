package slots

import (
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// InEnglish reports whether most of the everyday words are English, or all that
// there are could be.
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

// Preposition tells what a word announces. "A" is one in French and Portuguese,
// but none in an English sentence.
func (c *Cues) Preposition(fold string, english bool) (Sense, bool) {
	announced, ok := c.Preps[fold]
	return announced, ok && (!english || fold == "on" || !c.Shared[fold])
}

// InClass reports whether a word is of a class in any language.
func InClass(fold string, c lexicon.Class) bool { return lexicon.Shipped().Folded(fold).Has(c) }

// IsArticle tells words that may stand between the name of a parameter and its value.
func IsArticle(fold string) bool { return InClass(fold, lexicon.Copula) }

// IsCoordination tells words that put equal things beside each other.
func IsCoordination(fold string) bool { return InClass(fold, lexicon.Joins) }

// IsNegation tells words that turn the next into its opposite.
func IsNegation(fold string) bool { return InClass(fold, lexicon.Switches) }

// LinksName tells words that stand between the name of a parameter and its value.
func LinksName(fold string) bool { return InClass(fold, lexicon.Links) }

// IsConjunction tells words between the last two items of a list.
func IsConjunction(fold string) bool { return InClass(fold, lexicon.Listing) }
