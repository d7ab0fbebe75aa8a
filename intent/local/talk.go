package local

import (
	"slices"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// Talk is what a message says that asks for nothing that a capability does.
type Talk = lang.Talk

// The kinds of talk.
const (
	TalkThanks    = lang.TalkThanks
	TalkFarewell  = lang.TalkFarewell
	TalkWellbeing = lang.TalkWellbeing
	TalkAsker     = lang.TalkAsker
	TalkAbout     = lang.TalkAbout
	TalkApprovals = lang.TalkApprovals
	TalkGreeting  = lang.TalkGreeting
)

// SmallTalk tells what a message says that is nothing but talk, in whatever language:
// "thanks a lot, that's all for today". One word that is none of it makes it something
// else.
func (a *Reader) SmallTalk(message string) (Talk, bool) {
	tokens := text.Tokens(message)
	if len(tokens) == 0 || len(tokens) > mostTalk {
		return "", false
	}
	return lang.TalkOf(a.local.tools.Lexicon.Lexica, tokens)
}

// Small tells a word that only joins others, such as an article or a preposition, and
// changes nothing of what is done.
func (a *Reader) Small(word string) bool {
	tokens := text.Tokens(word)
	if len(tokens) != 1 {
		return false
	}
	lexicon := a.local.tools.Lexicon
	w := tokens[0].Word
	_, operator := lang.Find(&lexicon.Operators, tokens, 0)
	return (lexicon.Function(w.Fold) || w.Has(lang.Starts)) && !operator && !w.Has(lang.Negation) && !w.Has(lang.Denial) && !w.Has(lang.Lacking) && !w.Has(lang.Condition) && !w.Has(lang.Switches)
}

// Values tells a text that may be nothing but values: no word in it says not, sets a
// condition, or makes another amount of a number ("one more", "at least 3"). Where another
// thing is asked about, none asks or points at something either.
func (a *Reader) Values(said string, another bool) bool {
	lexica, tokens := a.local.tools.Lexicon.Lexica, text.Tokens(said)
	voice := lang.Listen(lexica, tokens, nil)
	for i, t := range tokens {
		if t.Is(text.FormQuoted) {
			continue
		}
		hit, _ := lang.Find(&lexica.Operators, tokens, i)
		switch {
		case t.Has(lang.Negation), t.Has(lang.Condition), another && (t.Has(lang.Asks) || t.Has(lang.Third)):
			return false
		case slices.Contains([]lang.Operator{lang.AtLeast, lang.AtMost, lang.Around, lang.Except, lang.Per}, hit.Value) && !t.Has(lang.Starts):
			return false
		}
		for l := range lexica.Languages {
			if voice.At(i).Likely(l) && t.In(l, lang.Further) {
				return false
			}
		}
	}
	return true
}

// mostTalk is how many words talk has at most: who says more wants something.
const mostTalk = 24
