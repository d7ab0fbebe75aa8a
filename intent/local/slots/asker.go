package slots

import (
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// askers fills required subject parameters with "me" where the request refers to its sender and
// names nobody else: "my balance", "two days off for me". The domain resolves "me"
// (contracts.Subject).
func (f *completer) askers(filled *Filled) {
	at := f.speaker()
	for _, p := range f.set.params {
		if at >= 0 && p.subject && p.required && p.named(f.only) && (f.empty(p, filled) || f.hardlyNamed(p, filled)) {
			f.keep(filled, p, LikelyOption{Option: Option{First: at, Last: at, Value: p.wrapped("me")}, P: floorWrite}, kindPhrase)
		}
	}
}

// hardlyNamed reports whether the value of a parameter is a single capitalised noun with low
// confidence, in a language that capitalises all nouns: "Urlaub" in "wie viel Urlaub habe ich
// noch".
func (f *completer) hardlyNamed(p *param, filled *Filled) bool {
	ev := filled.Evidence[p.name()]
	return ev.Kind == kindPhrase && ev.P < floorWrite && f.spelling.Noun(f.wording.TokensIn(ev.Span[0], ev.Span[1]))
}

// speaker returns the index of the pronoun by which the sender refers to themselves, or -1.
func (f *completer) speaker() int {
	for i, t := range f.doc.Tokens[:f.to] {
		mix, free := f.doc.Languages.At(i).Best(), i >= f.from && !f.inEntity[i] && !f.field.taken[i-f.from] && !t.Is(tokenize.FormQuoted)
		if free && (t.In(mix, lexicon.Mine) || t.In(mix, lexicon.Speaker) && !f.onlyAsks(i)) {
			return i
		}
	}
	return -1
}

// onlyAsks reports whether a pronoun only names the recipient of the answer, as in "show me" or
// "can I see". In a write it is the beneficiary: "book me a day", "I need Friday off".
func (f *completer) onlyAsks(i int) bool {
	before, after := f.doc.Tokens[max(i-1, 0)], f.doc.Tokens[min(i+1, f.to-1)]
	begins := f.doc.Tokens[i].Has(lexicon.Subject)
	return !f.set.writes && (begins && (after.Has(lexicon.Filler) || after.Has(lexicon.Want)) || !begins && (before.Has(lexicon.Light) || after.Has(lexicon.Light)))
}
