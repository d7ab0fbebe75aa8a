package text

import "strings"

// germanWords tell German from the other languages; words that are parts of
// names elsewhere too, such as "von" and "der", are left out.
const germanWords = "wie viel viele wer wann wo welche welcher welches hat haben habe noch ist sind zeig zeige zeigt mir bitte fur das dem ein eine einen einem und auf ab im vom zum zur " +
	"den am bis mit fur nicht kein keine ich wir soll sollen kann uber bei seit nach gib nenne"

// otherWords are everyday words of the languages that write nouns small.
const otherWords = "the a an is are has have of to for with what how who do does o os as um uma e que de da do com tem para el los una y con tiene la le les des est et avec pour"

// Everyday has words that tell languages apart that do and do not give every noun
// a capital.
type Everyday struct{ german, other map[string]bool }

// NewEveryday makes the words ready.
func NewEveryday() Everyday {
	set := func(words string) map[string]bool {
		out := map[string]bool{}
		for w := range strings.FieldsSeq(words) {
			out[w] = true
		}
		return out
	}
	return Everyday{set(germanWords), set(otherWords)}
}

// Has tells an everyday word of any language.
func (e Everyday) Has(t Token) bool { return e.german[t.Fold] || e.other[t.Fold] }

// CapitalNouns tells a text in a language in which every noun has a capital, so
// that a capital alone says little of a name.
func (e Everyday) CapitalNouns(tokens []Token) bool {
	german, other := 0, 0
	for _, t := range tokens {
		switch {
		case t.Is(FormQuoted):
		case e.german[t.Fold]:
			german++
		case e.other[t.Fold]:
			other++
		}
	}
	return german > other
}
