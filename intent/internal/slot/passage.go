package slot

import (
	"time"

	"github.com/manifold-run/manifold/intent/internal/text"
	"github.com/manifold-run/manifold/intent/internal/value"
)

// scope is what is read: one part of one message, for one capability. It is set
// before anything is read and stays; only inEntity grows while typed values are
// taken in.
type scope struct {
	set      *Set
	doc      *value.Doc
	from, to int
	entities []value.Entity
	quotes   []text.Span
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
	wording  *wording
	spelling *spelling
	near     *vicinity
	numerals *numerals
}

// wording is how the words stand: what is between two of them, in which quotation or
// list they are, and where a part of the sentence ends.
type wording struct{ *scope }

// spelling tells names from other words by how they are written.
type spelling struct {
	*scope
	wording *wording
	// nouns tells, once it was looked at, whether every noun has a capital here.
	nouns *bool
	// names tells, once it was looked at, whether a name is written with capitals here.
	names *bool
}

// vicinity tells what the words around a place say of the parameter that a value
// there is for.
type vicinity struct {
	*scope
	wording  *wording
	spelling *spelling
}

// numerals tells what a number may be for: how many there are, in which lists, with
// which units.
type numerals struct {
	*scope
	wording *wording
	near    *vicinity
	// counts are how many numbers the text has, how many of them in digits, and
	// how many the capability asks for; runs are the lists among them.
	counts struct{ all, digits, places int }
	runs   [][]value.Entity
}

func newPassage(of scope) *passage {
	if of.inEntity == nil {
		of.inEntity = map[int]bool{}
	}
	// One allocation for all parts: a message is read for several capabilities.
	all := &struct {
		scope
		passage
		wording
		spelling
		vicinity
		numerals
	}{scope: of}
	all.wording = wording{&all.scope}
	all.spelling = spelling{scope: &all.scope, wording: &all.wording}
	all.vicinity = vicinity{scope: &all.scope, wording: &all.wording, spelling: &all.spelling}
	all.numerals = numerals{scope: &all.scope, wording: &all.wording, near: &all.vicinity}
	all.passage = passage{&all.scope, &all.wording, &all.spelling, &all.vicinity, &all.numerals}
	return &all.passage
}
