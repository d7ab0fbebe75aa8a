package intent

import (
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
func (a *Adapter) SmallTalk(message string) (Talk, bool) {
	tokens := text.Tokens(message)
	if len(tokens) == 0 || len(tokens) > mostTalk {
		return "", false
	}
	return lang.TalkOf(a.local.tools.Lexicon.Lexica, tokens)
}

// Small tells a word that only joins others, such as an article or a preposition, and
// changes nothing of what is done.
func (a *Adapter) Small(word string) bool {
	tokens := text.Tokens(word)
	if len(tokens) != 1 {
		return false
	}
	lexicon := a.local.tools.Lexicon
	w := tokens[0].Word
	_, operator := lang.Find(&lexicon.Operators, tokens, 0)
	return lexicon.Function(w.Fold) && !operator && !w.Has(lang.Negation) && !w.Has(lang.Denial) && !w.Has(lang.Lacking) && !w.Has(lang.Condition) && !w.Has(lang.Switches) || w.Has(lang.Starts) || w.Has(lang.Ends)
}

// Values tells a text that may be nothing but values: no word in it says not, or sets a
// condition. Where another thing is asked about, none asks or points at something either.
func (a *Adapter) Values(said string, another bool) bool {
	for _, t := range text.Tokens(said) {
		says := t.Has(lang.Negation) || t.Has(lang.Condition) || another && (t.Has(lang.Asks) || t.Has(lang.Third))
		if says && !t.Is(text.FormQuoted) {
			return false
		}
	}
	return true
}

// mostTalk is how many words talk has at most: who says more wants something.
const mostTalk = 24
