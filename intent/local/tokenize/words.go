package tokenize

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// Lexicon tells the words that belong to language itself: what carries grammar,
// politeness or reference, whatever the subject is.
type Lexicon struct{ *lexicon.Lexica }

// NewLexicon gives the words of the languages that come with the program.
func NewLexicon() *Lexicon { return &Lexicon{lexicon.Shipped()} }

// FunctionWord reports whether a folded word is a function word such as "the", "of" or
// "for".
func (l *Lexicon) FunctionWord(fold string) bool {
	w := l.Folded(fold)
	return w.Has(lexicon.Function) || w.Has(lexicon.Pronoun)
}

// Filler tells greetings and words of politeness.
func (l *Lexicon) Filler(fold string) bool { return l.Folded(fold).Has(lexicon.Filler) }

// Pronoun tells words that refer to something said elsewhere.
func (l *Lexicon) Pronoun(fold string) bool { return l.Folded(fold).Has(lexicon.Pronoun) }

// Asks tells words that make a question.
func Asks(fold string) bool { return lexicon.Shipped().Folded(fold).Has(lexicon.Asks) }

// Terms gives the features of all light words.
func (l *Lexicon) Terms() []uint32 {
	var out []uint32
	for _, w := range slices.Concat(l.Words(lexicon.Function), l.Words(lexicon.Pronoun), l.Words(lexicon.Filler)) {
		out = append(out, hash('w', stem(Fold(w)), ""))
	}
	return unique(out)
}

// StopWord reports whether a token says nothing about the subject.
func (l *Lexicon) StopWord(fold string) bool {
	w := l.Folded(fold)
	return w.Has(lexicon.Function) || w.Has(lexicon.Pronoun) || w.Has(lexicon.Filler)
}
