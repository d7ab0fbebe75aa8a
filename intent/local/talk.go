package local

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Talk is the kind of a message that asks for no action, such as a greeting.
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

// SmallTalk returns the kind of a message that is only small talk, in any language: "thanks a lot,
// that's all for today". A single other word makes it no small talk.
func (a *Reader) SmallTalk(message string) (Talk, bool) {
	tokens := tokenize.Tokens(message)
	if len(tokens) == 0 || len(tokens) > mostTalk {
		return "", false
	}
	return lexicon.TalkOf(a.local.tools.Lexicon.Lexica, tokens)
}

// Small reports whether a word is a function word, such as an article or a preposition, that does
// not change the action.
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

// Values reports whether a text may consist only of values: no word negates, sets a condition, or
// changes an amount ("one more", "at least 3"). With another, question words and pronouns are
// excluded too.
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

// mostTalk is the maximum length of small talk in words.
const mostTalk = 24
