package slots

import (
	"slices"
	"time"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// scope is one range of one message, read for one capability. It is immutable except for inEntity,
// which grows as typed values are accepted.
type scope struct {
	set      *Set
	doc      *values.Doc
	from, to int
	entities []values.Entity
	quotes   []tokenize.Span
	now      time.Time
	// only limits the parameters; learning is set while an example of the manifest is read.
	only     []string
	learning bool
	inEntity map[int]bool
}

// passage is a scope with helpers for its tokens. Each helper uses only those before it.
type passage struct {
	*scope
	wording  *Wording
	spelling *NameReader
	near     *vicinity
	numerals *numerals
}

// request implements NameRequest for a set.
type request struct{ set *Set }

// Knows reports whether a token is in the request vocabulary.
func (r request) Knows(t tokenize.Token) bool { return r.set.Knows(t) }

// Long returns the request words that may be part of a compound.
func (r request) Long() []string { return r.set.long }

// Titles reports whether titles precede the values of a parameter in the examples.
func (r request) Titles() bool {
	return slices.ContainsFunc(r.set.params, func(p *param) bool { return p.leftContext[AnyTitle] > 0 })
}

// Numbers reports whether a parameter takes numbers.
func (r request) Numbers() bool { return slices.ContainsFunc(r.set.params, (*param).numeric) }

// Codes reports whether a parameter takes codes.
func (r request) Codes() bool {
	return slices.ContainsFunc(r.set.params, func(p *param) bool { return p.pattern != nil || p.identifiers > 0 })
}

// AskedHowMany reports whether a token is what a question counts, which is no name: "how many
// days", "wie viele Tage", "quanto de férias".
func (request) AskedHowMany(d *values.Doc, from, i int) bool {
	j := i - 1
	if j > from && (d.Tokens[j].Fold == "de" || d.Tokens[j].Fold == "d") && !d.Tokens[i].Break {
		j--
	}
	if j < from || d.Tokens[j+1].Break && !d.Tokens[j+1].Glued {
		return false
	}
	if d.Tokens[j].Has(lexicon.HowMany) {
		return true
	}
	switch d.Tokens[j].Fold {
	case "many", "much":
		return j > from && d.Tokens[j-1].Fold == "how"
	case "viel", "viele", "vielen":
		return j > from && d.Tokens[j-1].Fold == "wie"
	}
	return false
}

// vicinity scores a value at a position by the words around it.
type vicinity struct {
	*scope
	wording  *Wording
	spelling *NameReader
}

// numerals assigns numbers by their count, their lists and their units.
type numerals struct {
	*scope
	wording *Wording
	near    *vicinity
	// counts holds how many numbers the text has, how many of them in digits, and how many
	// required numeric parameters there are. runs are the lists of numbers.
	counts struct{ all, digits, places int }
	runs   [][]values.Entity
}

func newPassage(of scope) *passage {
	if of.inEntity == nil {
		of.inEntity = map[int]bool{}
	}
	// One allocation for all parts, since each message is read for several capabilities.
	all := &struct {
		scope
		passage
		vicinity
		numerals

		part  Scope
		words Wording
		names NameReader
	}{scope: of}
	all.part = Scope{Doc: of.doc, From: of.from, To: of.to, Entities: of.entities, Quotes: of.quotes, Lexicon: of.set.tools.Lexicon}
	all.words = Wording{Scope: &all.part}
	all.names = NameReader{Scope: &all.part, Wording: &all.words, Cues: of.set.tools.cues, Request: request{of.set}, InEntity: of.inEntity, Learning: of.learning}
	all.vicinity = vicinity{scope: &all.scope, wording: &all.words, spelling: &all.names}
	all.numerals = numerals{scope: &all.scope, wording: &all.words, near: &all.vicinity}
	all.passage = passage{&all.scope, &all.words, &all.names, &all.vicinity, &all.numerals}
	return &all.passage
}
