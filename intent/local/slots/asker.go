package slots

import (
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// fillRequester fills required subject parameters with "me" where the request refers to its sender
// and names nobody else: "my balance", "two days off for me". The domain resolves "me"
// (contracts.Subject).
func (f *completer) fillRequester(filled *Filled) {
	at := f.requesterToken()
	for _, p := range f.set.params {
		if at >= 0 && p.subject && p.required && p.named(f.only) && (f.empty(p, filled) || f.isUncertainNoun(p, filled)) {
			f.keep(filled, p, LikelyOption{Option: Option{First: at, Last: at, Value: p.wrapped("me")}, P: floorWrite}, kindPhrase)
		}
	}
}

// isUncertainNoun reports whether the value of a parameter is a single capitalised noun with low
// confidence, in a language that capitalises all nouns: "Urlaub" in "wie viel Urlaub habe ich
// noch".
func (f *completer) isUncertainNoun(p *param, filled *Filled) bool {
	ev := filled.Evidence[p.name()]
	return ev.Kind == kindPhrase && ev.P < floorWrite && f.spelling.Noun(f.wording.TokensIn(ev.Span[0], ev.Span[1]))
}

// requesterToken returns the index of the pronoun by which the sender refers to themselves, or -1.
func (f *completer) requesterToken() int {
	for i, t := range f.doc.Tokens[:f.to] {
		mix, free := f.doc.Languages.At(i).Best(), i >= f.from && !f.inEntity[i] && !f.field.taken[i-f.from] && !t.Is(tokenize.FormQuoted)
		if free && (t.In(mix, lexicon.Mine) || t.In(mix, lexicon.Speaker) && !f.isAnswerRecipient(i)) {
			return i
		}
	}
	return f.wishing()
}

// wishing returns the index of the word by which the sender wishes for a write, in the courtesy
// before the request: "I would like to take Friday off", "queria folga amanhã". Else -1.
func (f *completer) wishing() int {
	if !f.set.writes {
		return -1
	}
	for i := f.from - 1; i >= 0 && !f.doc.Tokens[i+1].Break; i-- {
		t, mix := f.doc.Tokens[i], f.doc.Languages.At(i).Best()
		switch {
		case t.Is(tokenize.FormQuoted), t.Has(lexicon.Joins):
			return -1
		case t.In(mix, lexicon.Speaker), t.Has(lexicon.Want):
			return i
		}
	}
	return -1
}

// isAnswerRecipient reports whether a pronoun only names the recipient of the answer, as in "show
// me" or "can I see". In a write it is the beneficiary: "book me a day", "I need Friday off".
func (f *completer) isAnswerRecipient(i int) bool {
	before, after := f.doc.Tokens[max(i-1, 0)], f.doc.Tokens[min(i+1, f.to-1)]
	begins := f.doc.Tokens[i].Has(lexicon.Subject)
	return !f.set.writes && (begins && (after.Has(lexicon.Filler) || after.Has(lexicon.Want)) || !begins && (before.Has(lexicon.Light) || after.Has(lexicon.Light)))
}
