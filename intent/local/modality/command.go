package modality

import (
	"cmp"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// CommandStem returns the stem of the verb that a command begins with, after optional polite
// words. It returns "" if the text does not begin with a command.
func CommandStem(lex *tokenize.Lexicon, tokens []tokenize.Token) string {
	if i := headAt(lex, tokens); i >= 0 {
		return tokens[i].Stem
	}
	return ""
}

// CommandRoot returns the root of the verb that a command begins with, the same for all its forms.
func CommandRoot(lex *tokenize.Lexicon, tokens []tokenize.Token) string {
	i := headAt(lex, tokens)
	if i < 0 {
		return ""
	}
	return cmp.Or(lex.Root(tokens[i].Fold), tokens[i].Stem)
}

// headAt returns the index of the verb that a command begins with, or -1.
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

// CommandObject returns the words of the object right behind the verb of a command, without its
// article.
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

// CommandKinds returns the kinds of the verb that the tokens begin with, including phrasal verbs
// such as "call off".
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

// OnlyInforms reports whether the only verb of a command is one of notifying, which is none of the
// given kinds: "let the owner know".
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
