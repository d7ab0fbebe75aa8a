// Package mend tells which words of a message may be read as others, and which stand for
// longer ones.
package mend

import (
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// InFull gives the word that one is typed for in a hurry, in the likeliest language that has
// one: a word that is asked for before a word of the language itself.
func InFull(lexicon *tokenize.Lexicon, d *values.Doc, i int, asked func(tokenize.Token) bool) (string, bool) {
	t := d.Tokens[i]
	if t.Known() {
		return "", false
	}
	own := ""
	for _, n := range d.Voice.Order(i) {
		for _, w := range lexicon.Languages[n].InFull(t.Fold) {
			if full := t.Respelled(w); asked(full) {
				return w, true
			} else if own == "" && full.Known() {
				own = w
			}
		}
	}
	return own, own != ""
}

// Plain tells a word that is written as words are: no name, no quotation, nothing that a sign
// holds together with its neighbour.
func Plain(tokens []tokenize.Token, i int) bool {
	t := tokens[i]
	glued := t.Glued || i+1 < len(tokens) && (tokens[i+1].Glued || len(tokens[i+1].Fold) == 1) // "needn't"
	return !glued && !t.Is(tokenize.FormCaps|tokenize.FormQuoted|tokenize.FormDigits) && (!t.Is(tokenize.FormTitle) || t.Is(tokenize.FormFirst))
}

// Mendable tells a word that no language has, in any form: no verb (its ending says whether it
// is told or asked for), no word of a phrase such as "except", and nothing with an accent.
func Mendable(lexicon *tokenize.Lexicon, t tokenize.Token) bool {
	if t.Known() || !tokenize.Spellable(t) || t.Lower != t.Fold || lexicon.Kin(t.Fold) != 0 {
		return false
	}
	for language := range lexicon.Languages {
		if lexicon.Rooted(language, t.Fold) {
			return false
		}
	}
	return !lexicon.Phrased(t.Fold)
}
