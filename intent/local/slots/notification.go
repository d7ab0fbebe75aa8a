package slots

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// InformsWhom tells the name of a switch that is a verb of telling and who is told:
// "notify_owner".
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

// notificationReach is how many words stand at most on each side of a verb of telling.
const notificationReach = 6

// Notification is a clause that only says whether somebody is to be notified.
type Notification struct {
	First, Last int
	On          bool
}

// ReadNotification reads a clause around a verb or a noun of telling at a place: "let the owner know",
// "der Kunde braucht keine Nachricht", "nobody needs to be informed". Is tells a word for the
// one who is told. What has other words in it, or tells what was, is left alone.
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
		return t.Has(lexicon.Past) || t.Has(lexicon.Helps) && !t.Has(lexicon.Needing) && !t.Has(lexicon.Want) && !t.Has(lexicon.Article) // "a" is French, too
	})
	if told || c.speaker || !c.named && !c.denied() || c.past(i) && !c.bids() {
		return Notification{}, false
	}
	return Notification{First: c.first, Last: c.last, On: !c.denied()}, true
}

// notificationClause grows over what belongs to it.
type notificationClause struct {
	lex         *lexicon.Lexica
	tokens      []tokenize.Token
	from, to    int
	is          func(i int) bool
	first, last int
	named       bool // who is told is said
	speaker     bool // it is whoever speaks
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

// past tells a verb in a form of the past, bids words that make an order of it.
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

// lets finds the verb before a word such as "know".
func (c *notificationClause) lets() bool {
	for j := c.last - 1; j >= c.from && j >= c.last-notificationReach && !c.tokens[j+1].Break; j-- {
		if c.tokens[j].Has(lexicon.Tells) {
			return true
		}
	}
	return false
}

// left takes the words before it in, back to a sign, a word such as "and", or one that says
// something else.
func (c *notificationClause) left() {
	for j := c.first - 1; j >= c.from && j >= c.last-notificationReach && !c.tokens[j+1].Break && c.takes(j); j-- {
		c.first = j
	}
}

// right does the same up to who is told.
func (c *notificationClause) right() {
	last := c.last
	for j := c.last + 1; j < c.to && j <= last+notificationReach && !c.tokens[j].Break && (!c.named || c.noun) && c.takes(j); j++ {
		if c.named || c.tokens[j].Has(lexicon.Needing) || IsDenial(c.tokens, j) || c.speaker {
			c.last = j
		}
	}
}

// takes reports whether a word belongs to the clause.
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
