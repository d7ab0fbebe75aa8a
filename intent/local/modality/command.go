package modality

import (
	"cmp"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// CommandStem gives the stem of the verb that a command begins with, "" where a text
// begins otherwise. Words of politeness may stand before it.
func CommandStem(lex *tokenize.Lexicon, tokens []tokenize.Token) string {
	if i := headAt(lex, tokens); i >= 0 {
		return tokens[i].Stem
	}
	return ""
}

// CommandRoot gives the verb that a command begins with as all its forms have it.
func CommandRoot(lex *tokenize.Lexicon, tokens []tokenize.Token) string {
	i := headAt(lex, tokens)
	if i < 0 {
		return ""
	}
	return cmp.Or(lex.Root(tokens[i].Fold), tokens[i].Stem)
}

// headAt gives the place of the verb that a command begins with, or -1.
func headAt(lex *tokenize.Lexicon, tokens []tokenize.Token) int {
	for i, t := range tokens {
		switch {
		case t.Named(), t.Is(tokenize.FormDigits | tokenize.FormSign), tokenize.Asks(t.Fold):
			return -1
		case Opening(t.Fold), lex.Filler(t.Fold), lex.Pronoun(t.Fold), t.Has(lexicon.BeforeVerb):
		case lex.StopWord(t.Fold):
			return -1
		default:
			return i
		}
	}
	return -1
}

// CommandObject gives the words that stand right behind the verb of a command and its
// article: what the verb is done to, with what is said of it without a preposition.
func CommandObject(lex *tokenize.Lexicon, tokens []tokenize.Token) []tokenize.Token {
	from := headAt(lex, tokens) + 1
	for from > 0 && from < len(tokens) && (tokens[from].Has(lexicon.Article) || tokens[from].Has(lexicon.Mine)) {
		from++
	}
	to := from
	for from > 0 && to < len(tokens) && !tokens[to].Break && !tokens[to].Is(tokenize.FormQuoted|tokenize.FormDigits|tokenize.FormSign) && !lex.StopWord(tokens[to].Fold) {
		to++
	}
	return tokens[from:to]
}

// CommandKinds gives the kinds of the verb that tokens begin with, in two words too: "call off".
func CommandKinds(lex *tokenize.Lexicon, tokens []tokenize.Token) lexicon.Kinds {
	for i, t := range tokens {
		kin := lex.Kin(t.Fold)
		if kin == 0 && i+1 < len(tokens) && !tokens[i+1].Break {
			kin = lex.Kin(tokens[i+1].Fold + t.Fold)
		}
		if kin != 0 || !Opening(t.Fold) {
			return kin
		}
	}
	return 0
}

// OnlyInforms tells a command whose only verb is one of telling, and none of the kinds: "let the
// owner know" asks for nothing else, whoever is told.
func OnlyInforms(lex *tokenize.Lexicon, tokens []tokenize.Token, kinds lexicon.Kinds) bool {
	if kinds&(lexicon.KindOf("notify")|lexicon.KindOf("send")) != 0 {
		return false
	}
	tells, learns, informs := false, false, false
	for _, t := range tokens {
		kin := lex.Kin(t.Fold)
		if kin&kinds != 0 {
			return false
		}
		tells, learns, informs = tells || t.Has(lexicon.Tells), learns || t.Has(lexicon.Learns), informs || kin&lexicon.KindOf("notify") != 0
	}
	return informs || tells && learns
}
