// Package command reads how a command begins: its verb, and what that is done to.
package command

import (
	"cmp"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/mood"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// Head gives the stem of the verb that a command begins with, "" where a text
// begins otherwise. Words of politeness may stand before it.
func Head(lexicon *text.Lexicon, tokens []text.Token) string {
	if i := headAt(lexicon, tokens); i >= 0 {
		return tokens[i].Stem
	}
	return ""
}

// Root gives the verb that a command begins with as all its forms have it.
func Root(lexicon *text.Lexicon, tokens []text.Token) string {
	i := headAt(lexicon, tokens)
	if i < 0 {
		return ""
	}
	return cmp.Or(lexicon.Root(tokens[i].Fold), tokens[i].Stem)
}

// headAt gives the place of the verb that a command begins with, or -1.
func headAt(lexicon *text.Lexicon, tokens []text.Token) int {
	for i, t := range tokens {
		switch {
		case t.Named(), t.Is(text.FormDigits | text.FormSign), text.Asks(t.Fold):
			return -1
		case mood.Opening(t.Fold), lexicon.Filler(t.Fold), lexicon.Pronoun(t.Fold), t.Has(lang.BeforeVerb):
		case lexicon.Light(t.Fold):
			return -1
		default:
			return i
		}
	}
	return -1
}

// Object gives the words that stand right behind the verb of a command and its
// article: what the verb is done to, with what is said of it without a preposition.
func Object(lexicon *text.Lexicon, tokens []text.Token) []text.Token {
	from := headAt(lexicon, tokens) + 1
	for from > 0 && from < len(tokens) && (tokens[from].Has(lang.Article) || tokens[from].Has(lang.Mine)) {
		from++
	}
	to := from
	for from > 0 && to < len(tokens) && !tokens[to].Break && !tokens[to].Is(text.FormQuoted|text.FormDigits|text.FormSign) && !lexicon.Light(tokens[to].Fold) {
		to++
	}
	return tokens[from:to]
}

// Kin gives the kinds of the verb that tokens begin with, in two words too: "call off".
func Kin(lexicon *text.Lexicon, tokens []text.Token) lang.Kinds {
	for i, t := range tokens {
		kin := lexicon.Kin(t.Fold)
		if kin == 0 && i+1 < len(tokens) && !tokens[i+1].Break {
			kin = lexicon.Kin(tokens[i+1].Fold + t.Fold)
		}
		if kin != 0 || !mood.Opening(t.Fold) {
			return kin
		}
	}
	return 0
}

// Informs tells a command whose only verb is one of telling, and none of the kinds: "let the
// owner know" asks for nothing else, whoever is told.
func Informs(lexicon *text.Lexicon, tokens []text.Token, kinds lang.Kinds) bool {
	if kinds&(lang.KindOf("notify")|lang.KindOf("send")) != 0 {
		return false
	}
	tells, learns, informs := false, false, false
	for _, t := range tokens {
		kin := lexicon.Kin(t.Fold)
		if kin&kinds != 0 {
			return false
		}
		tells, learns, informs = tells || t.Has(lang.Tells), learns || t.Has(lang.Learns), informs || kin&lang.KindOf("notify") != 0
	}
	return informs || tells && learns
}
