package switches

import (
	"slices"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// Informs tells the name of a switch that is a verb of telling and who is told:
// "notify_owner".
func Informs(lex *lang.Lexica, name string) (who []string, ok bool) {
	words := text.Tokens(name)
	if len(words) < 2 || lex.Kin(words[0].Fold)&lang.KindOf("notify") == 0 || words[0].Has(lang.Light) {
		return nil, false
	}
	for _, w := range words[1:] {
		who = append(who, w.Stem)
	}
	return who, true
}

// farthest is how many words stand at most on each side of a verb of telling.
const farthest = 6

// Telling is a clause that says whether somebody is told, and no more.
type Telling struct {
	First, Last int
	On          bool
}

// Told reads a clause around a verb or a noun of telling at a place: "let the owner know",
// "der Kunde braucht keine Nachricht", "nobody needs to be informed". Is tells a word for the
// one who is told. What has other words in it, or tells what was, is left alone.
func Told(lex *lang.Lexica, tokens []text.Token, from, to, i int, is func(i int) bool) (Telling, bool) {
	c := clause{lex: lex, tokens: tokens, from: from, to: to, is: is, first: i, last: i}
	t := tokens[i]
	switch {
	case t.Is(text.FormQuoted|text.FormMixed|text.FormDigits) || t.Break && t.Has(lang.Light) && t.Has(lang.Filler) && !t.Has(lang.Tells):
		return Telling{}, false
	case t.Has(lang.Informs):
		c.noun = true
	case t.Has(lang.Learns):
		if !c.lets() {
			return Telling{}, false
		}
	case lex.Kin(t.Fold)&lang.KindOf("notify") == 0:
		return Telling{}, false
	}
	c.left()
	c.right()
	told := slices.ContainsFunc(c.words(), func(t text.Token) bool {
		return t.Has(lang.Past) || t.Has(lang.Helps) && !t.Has(lang.Needing) && !t.Has(lang.Want) && !t.Has(lang.Article) // "a" is French, too
	})
	if told || c.speaker || !c.named && !c.denied() || c.past(i) && !c.bids() {
		return Telling{}, false
	}
	return Telling{First: c.first, Last: c.last, On: !c.denied()}, true
}

// clause grows over what belongs to it.
type clause struct {
	lex         *lang.Lexica
	tokens      []text.Token
	from, to    int
	is          func(i int) bool
	first, last int
	named       bool // who is told is said
	speaker     bool // it is whoever speaks
	noun        bool // "a message"
}

func (c *clause) words() []text.Token { return c.tokens[c.first : c.last+1] }

func (c *clause) denied() bool {
	for i := c.first; i <= c.last; i++ {
		if Denies(c.tokens, i) {
			return true
		}
	}
	return false
}

// past tells a verb in a form of the past, bids words that make an order of it.
func (c *clause) past(i int) bool {
	for l := range c.lex.Languages {
		if c.lex.ToldOf(l, c.tokens[i].Word) || c.tokens[i].In(l, lang.Did) {
			return true
		}
	}
	return false
}

func (c *clause) bids() bool {
	return slices.ContainsFunc(c.words(), func(t text.Token) bool { return t.Has(lang.Needing) || t.Has(lang.Want) || t.Fold == "be" })
}

// lets finds the verb before a word such as "know".
func (c *clause) lets() bool {
	for j := c.last - 1; j >= c.from && j >= c.last-farthest && !c.tokens[j+1].Break; j-- {
		if c.tokens[j].Has(lang.Tells) {
			return true
		}
	}
	return false
}

// left takes the words before it in, back to a sign, a word such as "and", or one that says
// something else.
func (c *clause) left() {
	for j := c.first - 1; j >= c.from && j >= c.last-farthest && !c.tokens[j+1].Break && c.takes(j); j-- {
		c.first = j
	}
}

// right does the same up to who is told.
func (c *clause) right() {
	last := c.last
	for j := c.last + 1; j < c.to && j <= last+farthest && !c.tokens[j].Break && (!c.named || c.noun) && c.takes(j); j++ {
		if c.named || c.tokens[j].Has(lang.Needing) || Denies(c.tokens, j) || c.speaker {
			c.last = j
		}
	}
}

// takes tells whether a word belongs to the clause.
func (c *clause) takes(j int) bool {
	t := c.tokens[j]
	if t.Is(text.FormQuoted|text.FormMixed|text.FormDigits) || t.Has(lang.Condition) || t.Has(lang.Asks) && !Denies(c.tokens, j) {
		return false
	}
	if c.is(j) {
		c.named = true
		return true
	}
	if hit, ok := lang.Find(&c.lex.Operators, c.tokens, j); ok && hit.Value != lang.Without && hit.Value != lang.Or && !Denies(c.tokens, j) {
		return false
	}
	if joint, ok := lang.Find(&c.lex.Separators, c.tokens, j); ok && (joint.Value == lang.JointAnd || joint.Value == lang.JointContrast || joint.Value == lang.JointThen) {
		return false
	}
	switch {
	case t.Has(lang.Speaker) && !t.Has(lang.Article):
		c.speaker = true
		return true
	case t.Has(lang.Third) && !t.Has(lang.Article), t.Fold == "them":
		c.named = true
		return true
	case Denies(c.tokens, j), t.Has(lang.Needing), t.Has(lang.Want), t.Has(lang.Tells), t.Has(lang.Light):
		return true
	}
	return t.Has(lang.Article) || c.lex.Kin(t.Fold) == 0 && (t.Has(lang.Function) || t.Has(lang.Filler) || t.Has(lang.Pronoun))
}
