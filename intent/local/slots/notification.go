package slots

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// InformsWhom splits the name of a boolean parameter into a verb of notifying and the stems of the
// recipient: "notify_owner".
func InformsWhom(lex *lexicon.Lexica, name string) (who []string, ok bool) {
	words := tokenize.Tokens(name)
	if len(words) < 2 || lex.Kin(words[0].Fold)&lexicon.KindOf("notify") == 0 || words[0].Has(lexicon.Light) {
		return nil, false
	}
	for _, w := range words[1:] {
		who = append(who, w.Stem)
	}
	return who, true
}

// notificationReach is the maximum number of words on each side of the verb of notifying.
const notificationReach = 6

// Notification is a clause that only reports whether to notify somebody.
type Notification struct {
	First, Last int
	On          bool
}

// ReadNotification parses a clause around a verb or a noun of notifying at token i: "let the owner
// know", "der Kunde braucht keine Nachricht", "nobody needs to be informed". is reports whether a
// token names the recipient. A clause with other words, or in the past, is rejected.
func ReadNotification(lex *lexicon.Lexica, tokens []tokenize.Token, from, to, i int, is func(i int) bool) (Notification, bool) {
	c := notificationClause{lex: lex, tokens: tokens, from: from, to: to, is: is, first: i, last: i}
	t := tokens[i]
	switch {
	case t.Is(tokenize.FormQuoted|tokenize.FormMixed|tokenize.FormDigits) || t.Break && t.Has(lexicon.Light) && t.Has(lexicon.Filler) && !t.Has(lexicon.Tells):
		return Notification{}, false
	case t.Has(lexicon.Informs):
		c.noun = true
	case t.Has(lexicon.Learns):
		if !c.lets() {
			return Notification{}, false
		}
	case lex.Kin(t.Fold)&lexicon.KindOf("notify") == 0:
		return Notification{}, false
	}
	c.left()
	c.right()
	told := slices.ContainsFunc(c.words(), func(t tokenize.Token) bool {
		return t.Has(lexicon.Past) || t.Has(lexicon.Helps) && !t.Has(lexicon.Needing) && !t.Has(lexicon.Want) && !t.Has(lexicon.Article) // "a" is a French verb, too
	})
	if told || c.speaker || !c.named && !c.denied() || c.past(i) && !c.bids() {
		return Notification{}, false
	}
	return Notification{First: c.first, Last: c.last, On: !c.denied()}, true
}

// notificationClause is a clause that grows by adjacent tokens.
type notificationClause struct {
	lex         *lexicon.Lexica
	tokens      []tokenize.Token
	from, to    int
	is          func(i int) bool
	first, last int
	named       bool // the recipient is named
	speaker     bool // the recipient is the sender of the message
	noun        bool // "a message"
}

func (c *notificationClause) words() []tokenize.Token { return c.tokens[c.first : c.last+1] }

func (c *notificationClause) denied() bool {
	for i := c.first; i <= c.last; i++ {
		if IsDenial(c.tokens, i) {
			return true
		}
	}
	return false
}

// past reports whether a token is a verb in the past tense in any language.
func (c *notificationClause) past(i int) bool {
	for l := range c.lex.Languages {
		if c.lex.ToldOf(l, c.tokens[i].Word) || c.tokens[i].In(l, lexicon.Did) {
			return true
		}
	}
	return false
}

func (c *notificationClause) bids() bool {
	return slices.ContainsFunc(c.words(), func(t tokenize.Token) bool { return t.Has(lexicon.Needing) || t.Has(lexicon.Want) || t.Fold == "be" })
}

// lets reports whether a verb of telling precedes a word such as "know".
func (c *notificationClause) lets() bool {
	for j := c.last - 1; j >= c.from && j >= c.last-notificationReach && !c.tokens[j+1].Break; j-- {
		if c.tokens[j].Has(lexicon.Tells) {
			return true
		}
	}
	return false
}

// left extends the clause to the left, up to punctuation or a word that does not belong to it.
func (c *notificationClause) left() {
	for j := c.first - 1; j >= c.from && j >= c.last-notificationReach && !c.tokens[j+1].Break && c.takes(j); j-- {
		c.first = j
	}
}

// right extends the clause to the right, up to the recipient.
func (c *notificationClause) right() {
	last := c.last
	for j := c.last + 1; j < c.to && j <= last+notificationReach && !c.tokens[j].Break && (!c.named || c.noun) && c.takes(j); j++ {
		if c.named || c.tokens[j].Has(lexicon.Needing) || IsDenial(c.tokens, j) || c.speaker {
			c.last = j
		}
	}
}

// takes reports whether a token belongs to the clause, and records what it says.
func (c *notificationClause) takes(j int) bool {
	t := c.tokens[j]
	if t.Is(tokenize.FormQuoted|tokenize.FormMixed|tokenize.FormDigits) || t.Has(lexicon.Condition) || t.Has(lexicon.Asks) && !IsDenial(c.tokens, j) {
		return false
	}
	if c.is(j) {
		c.named = true
		return true
	}
	if hit, ok := lexicon.Find(&c.lex.Operators, c.tokens, j); ok && hit.Value != lexicon.Without && hit.Value != lexicon.Or && !IsDenial(c.tokens, j) {
		return false
	}
	if connective, ok := lexicon.Find(&c.lex.Separators, c.tokens, j); ok && (connective.Value == lexicon.ConnectiveAnd || connective.Value == lexicon.ConnectiveContrast || connective.Value == lexicon.ConnectiveThen) {
		return false
	}
	switch {
	case t.Has(lexicon.Speaker) && !t.Has(lexicon.Article):
		c.speaker = true
		return true
	case t.Has(lexicon.Third) && !t.Has(lexicon.Article), t.Fold == "them":
		c.named = true
		return true
	case IsDenial(c.tokens, j), t.Has(lexicon.Needing), t.Has(lexicon.Want), t.Has(lexicon.Tells), t.Has(lexicon.Light):
		return true
	}
	return t.Has(lexicon.Article) || c.lex.Kin(t.Fold) == 0 && (t.Has(lexicon.Function) || t.Has(lexicon.Filler) || t.Has(lexicon.Pronoun))
}
