package slots

import (
	"slices"
	"time"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// scope is what is read: one part of one message, for one capability. It is set
// before anything is read and stays; only inEntity grows while typed values are
// taken in.
type scope struct {
	set      *Set
	doc      *values.Doc
	from, to int
	entities []values.Entity
	quotes   []tokenize.Span
	now      time.Time
	// only limits the parameters, learning tells an example of the manifest.
	only     []string
	learning bool
	inEntity map[int]bool
}

// passage is a scope with what can be asked of its words. Each of the parts knows
// those before it.
type passage struct {
	*scope
	wording  *Wording
	spelling *NameReader
	near     *vicinity
	numerals *numerals
}

// request is what the spelling of names depends on in what is asked for.
type request struct{ set *Set }

// Knows tells a word of the request itself.
func (r request) Knows(t tokenize.Token) bool { return r.set.Knows(t) }

// Long are the words of the request that may be a part of a compound.
func (r request) Long() []string { return r.set.long }

// Titles tells that the examples of a parameter have titles before its values.
func (r request) Titles() bool {
	return slices.ContainsFunc(r.set.params, func(p *param) bool { return p.lefts[AnyTitle] > 0 })
}

// Numbers tells that a parameter takes numbers.
func (r request) Numbers() bool { return slices.ContainsFunc(r.set.params, (*param).numeric) }

// Codes tells that a parameter takes codes.
func (r request) Codes() bool {
	return slices.ContainsFunc(r.set.params, func(p *param) bool { return p.pattern != nil || p.identifiers > 0 })
}

// AskedHowMany tells what is asked a number of: "how many days", "wie viele Tage",
// "quanto de férias". It is no name.
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

// vicinity tells what the words around a place say of the parameter that a value
// there is for.
type vicinity struct {
	*scope
	wording  *Wording
	spelling *NameReader
}

// numerals tells what a number may be for: how many there are, in which lists, with
// which units.
type numerals struct {
	*scope
	wording *Wording
	near    *vicinity
	// counts are how many numbers the text has, how many of them in digits, and
	// how many the capability asks for; runs are the lists among them.
	counts struct{ all, digits, places int }
	runs   [][]values.Entity
}

func newPassage(of scope) *passage {
	if of.inEntity == nil {
		of.inEntity = map[int]bool{}
	}
	// One allocation for all parts: a message is read for several capabilities.
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
