package local

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Talk is what a message says that asks for nothing that a capability does.
type Talk = lexicon.Talk

// The kinds of talk.
const (
	TalkThanks    = lexicon.TalkThanks
	TalkFarewell  = lexicon.TalkFarewell
	TalkWellbeing = lexicon.TalkWellbeing
	TalkAsker     = lexicon.TalkAsker
	TalkAbout     = lexicon.TalkAbout
	TalkApprovals = lexicon.TalkApprovals
	TalkGreeting  = lexicon.TalkGreeting
)

// SmallTalk tells what a message says that is nothing but talk, in whatever language:
// "thanks a lot, that's all for today". One word that is none of it makes it something
// else.
func (a *Reader) SmallTalk(message string) (Talk, bool) {
	tokens := tokenize.Tokens(message)
	if len(tokens) == 0 || len(tokens) > mostTalk {
		return "", false
	}
	return lexicon.TalkOf(a.local.tools.Lexicon.Lexica, tokens)
}

// Small tells a word that only joins others, such as an article or a preposition, and
// changes nothing of what is done.
func (a *Reader) Small(word string) bool {
	tokens := tokenize.Tokens(word)
	if len(tokens) != 1 {
		return false
	}
	lex := a.local.tools.Lexicon
	w := tokens[0].Word
	_, operator := lexicon.Find(&lex.Operators, tokens, 0)
	return (lex.FunctionWord(w.Fold) || w.Has(lexicon.Starts)) && !operator && !w.Has(lexicon.Negation) && !w.Has(lexicon.Denial) && !w.Has(lexicon.Lacking) && !w.Has(lexicon.Condition) && !w.Has(lexicon.Switches)
}

// Values tells a text that may be nothing but values: no word in it says not, sets a
// condition, or makes another amount of a number ("one more", "at least 3"). Where another
// thing is asked about, none asks or points at something either.
func (a *Reader) Values(said string, another bool) bool {
	lexica, tokens := a.local.tools.Lexicon.Lexica, tokenize.Tokens(said)
	mix := lexicon.DetectLanguages(lexica, tokens, nil)
	for i, t := range tokens {
		if t.Is(tokenize.FormQuoted) {
			continue
		}
		hit, _ := lexicon.Find(&lexica.Operators, tokens, i)
		switch {
		case t.Has(lexicon.Negation), t.Has(lexicon.Condition), another && (t.Has(lexicon.Asks) || t.Has(lexicon.Third)):
			return false
		case slices.Contains([]lexicon.Operator{lexicon.AtLeast, lexicon.AtMost, lexicon.Around, lexicon.Except, lexicon.Per}, hit.Value) && !t.Has(lexicon.Starts):
			return false
		}
		for l := range lexica.Languages {
			if mix.At(i).Likely(l) && t.In(l, lexicon.Further) {
				return false
			}
		}
	}
	return true
}

// mostTalk is how many words talk has at most: who says more wants something.
const mostTalk = 24
