package tokenize

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// Lexicon answers whether a word belongs to the language itself: grammar, politeness or reference.
type Lexicon struct{ *lexicon.Lexica }

// NewLexicon returns the lexicon of the embedded languages.
func NewLexicon() *Lexicon { return &Lexicon{lexicon.Shipped()} }

// FunctionWord reports whether a folded word is a function word such as "the", "of" or
// "for".
func (l *Lexicon) FunctionWord(fold string) bool {
	w := l.Folded(fold)
	return w.Has(lexicon.Function) || w.Has(lexicon.Pronoun)
}

// Filler reports whether a word is a greeting or polite word.
func (l *Lexicon) Filler(fold string) bool { return l.Folded(fold).Has(lexicon.Filler) }

// Pronoun reports whether a word refers to something said elsewhere.
func (l *Lexicon) Pronoun(fold string) bool { return l.Folded(fold).Has(lexicon.Pronoun) }

// Asks reports whether a word is a question word.
func Asks(fold string) bool { return lexicon.Shipped().Folded(fold).Has(lexicon.Asks) }

// Terms returns the features of all stop words.
func (l *Lexicon) Terms() []uint32 {
	var out []uint32
	for _, w := range slices.Concat(l.Words(lexicon.Function), l.Words(lexicon.Pronoun), l.Words(lexicon.Filler)) {
		out = append(out, hash('w', stem(Fold(w)), ""))
	}
	return unique(out)
}

// StopWord reports whether a word says nothing about the subject.
func (l *Lexicon) StopWord(fold string) bool {
	w := l.Folded(fold)
	return w.Has(lexicon.Function) || w.Has(lexicon.Pronoun) || w.Has(lexicon.Filler)
}
