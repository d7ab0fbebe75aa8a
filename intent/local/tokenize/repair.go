package tokenize

import "github.com/manifold-run/manifold/intent/local/lexicon"

// ExpandShorthand returns the full word of a chat abbreviation, in the most likely language. A
// word of the catalog (asked) is preferred.
func ExpandShorthand(lex *Lexicon, tokens []Token, mix lexicon.LanguageMix, i int, asked func(Token) bool) (string, bool) {
	t := tokens[i]
	if t.Known() {
		return "", false
	}
	own := ""
	for _, n := range mix.Order(i) {
		for _, w := range lex.Languages[n].InFull(t.Fold) {
			if full := t.Respelled(w); asked(full) {
				return w, true
			} else if own == "" && full.Known() {
				own = w
			}
		}
	}
	return own, own != ""
}

// IsPlainWord reports whether a token is an ordinary word: no name, no quotation, and not joined
// to its neighbour.
func IsPlainWord(tokens []Token, i int) bool {
	t := tokens[i]
	glued := t.Glued || i+1 < len(tokens) && (tokens[i+1].Glued || len(tokens[i+1].Fold) == 1) // such as "needn't"
	return !glued && !t.Is(FormCaps|FormQuoted|FormDigits) && (!t.Is(FormTitle) || t.Is(FormFirst))
}

// IsRepairable reports whether spelling correction may replace a word: it is unknown in every
// language and form, is no verb, is in no phrase such as "except", and has no accent.
func IsRepairable(lex *Lexicon, t Token) bool {
	if t.Known() || !Spellable(t) || t.Lower != t.Fold || lex.Kin(t.Fold) != 0 {
		return false
	}
	for language := range lex.Languages {
		if lex.Rooted(language, t.Fold) {
			return false
		}
	}
	return !lex.Phrased(t.Fold)
}
