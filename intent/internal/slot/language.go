package slot

import (
	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// uncapitalised tells a text in which nothing is written as names are, as people
// type in a chat.
func (f *field) uncapitalised() bool {
	for i := f.from; i < f.to; i++ {
		if t := f.doc.Tokens[i]; !t.Is(text.FormQuoted) && t.Is(text.FormTitle|text.FormCaps) && !t.Is(text.FormFirst) {
			return false
		}
	}
	return true
}

// inEnglish tells whether most of the everyday words are English, or all that
// there are could be.
func (f *field) inEnglish() bool {
	english, foreign := 0, 0
	for _, t := range f.doc.Tokens[f.from:f.to] {
		c := f.set.tools.cues
		switch {
		case c.english[t.Fold]:
			english++
		case c.openers[t.Fold]:
		case (c.everyday.Has(t) || f.set.tools.Lexicon.Light(t.Fold)) && !c.shared[t.Fold]:
			foreign++
		}
	}
	return 3*english >= foreign
}

// preposition tells what a word announces. "A" is one in French and Portuguese,
// but none in an English sentence.
func (f *field) preposition(fold string) (sense, bool) {
	announced, ok := f.set.tools.cues.preps[fold]
	return announced, ok && (!f.english || fold == "on" || !f.set.tools.cues.shared[fold])
}

// is tells whether a word is of a class in any language.
func is(fold string, c lang.Class) bool { return lang.Shipped().Folded(fold).Has(c) }
