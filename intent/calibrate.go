package intent

import (
	"context"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/internal/meaning"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// A catalog must have this much to learn a confidence from. Below, the shipped
// weights stay.
const (
	calibrationExamples     = 40
	calibrationCapabilities = 5
)

// How a catalog is taken apart: each fold leaves out one of several examples
// of each capability, and some capabilities altogether, whose examples then
// are requests for something that there is not.
const (
	foldHold     = 5 // one of so many capabilities is left out of a fold
	fewExamples  = 500
	manyExamples = 30000
	maxQuestions = 3000 // of one calibration
)

// foldNow is what "now" is while parameters of examples are read.
func foldNow() time.Time { return time.Date(2025, 6, 11, 10, 0, 0, 0, time.UTC) }

// question is an example that a fold does not know.
type question struct {
	text string
	ref  string // empty: of a capability that the fold does not have
}

// calibrated gives a copy of the index whose confidence was learned from the
// catalog itself: that with meanings, if the library that knows them is given.
// prior is the share of requests that are meant for nobody.
func (x *Index) calibrated(ctx context.Context, catalog *contracts.Catalog, prior float64, known *meaning.Library) (*Index, error) {
	examples := x.Examples()
	if examples < calibrationExamples || len(x.caps) < calibrationCapabilities {
		return x, nil
	}
	folds, asked := foldsFor(examples)
	var seen []Observation
	for f := range asked {
		more, err := x.examine(ctx, fold{catalog: catalog, number: f, of: folds, known: known}, maxQuestions/int(min(asked, maxQuestions)))
		if err != nil {
			return nil, err
		}
		seen = append(seen, more...)
	}
	weigh(seen, prior)
	y := *x
	if known != nil {
		m := *x.senses
		m.calibration.shown, m.calibrates = fitOwn(plainly(seen, false), x.senses.calibration.shown)
		m.strange, _ = fitOwn(plainly(seen, true), x.senses.strange)
		y.senses = &m
		return &y, nil
	}
	y.calibration.shown, y.calibrates = fitOwn(seen, x.calibration.shown)
	return &y, nil
}

// mostLost is how much less of what is meant for a site weights of its own may be
// worth than those that come with the program.
const mostLost = 0.03

// fitOwn fits the weights of a site to what was observed of it. It is false, and
// the weights are those before, where by its own the site would hear worse: they
// are tried on the half of the observations that they were not fitted to.
func fitOwn(seen []Observation, before weights) (weights, bool) {
	var even, odd []Observation
	for i, o := range seen {
		if i%2 == 0 {
			even = append(even, o)
		} else {
			odd = append(odd, o)
		}
	}
	first, second := fit(even, before, fitHold, allSignals()), fit(odd, before, fitHold, allSignals())
	own := worth(&first, odd) + worth(&second, even)
	if known := worth(&before, seen); own < known-mostLost*float64(meant(seen)) {
		return before, false
	}
	w := fit(seen, before, fitHold, allSignals())
	return w, true
}

// worth is how many requests would be done rightly, less those that would be done
// wrongly: weights that accept more of everything hear no better.
func worth(w *weights, seen []Observation) float64 {
	n := 0.0
	for _, o := range seen {
		switch {
		case chance(w.odds(o.signals)) < DefaultAccept:
		case o.Right:
			n++
		default:
			n--
		}
	}
	return n
}

func meant(seen []Observation) int {
	n := 0
	for _, o := range seen {
		if !o.Nobody {
			n++
		}
	}
	return n
}

func chance(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// Examples is how many examples all capabilities have.
func (x *Index) Examples() int {
	n := 0
	for _, c := range x.refs {
		n += c.examples
	}
	return n
}

// foldsFor tells into how many folds examples are cut, and how many of these
// are tried: few examples must leave most of them in place, many tell enough
// in one fold.
func foldsFor(examples int) (folds, asked uint64) {
	switch {
	case examples <= fewExamples:
		return 8, 8
	case examples <= manyExamples:
		return 4, 2
	}
	return 8, 1
}

// examine trains an index without a fold and asks it about what it does not
// know.
func (x *Index) examine(ctx context.Context, f fold, most int) ([]Observation, error) {
	catalog, questions := f.split()
	y, err := newIndex(catalog, x.tools).trained(ctx)
	if err != nil {
		return nil, err
	}
	if f.known != nil {
		y = understood(y, f.known, nil)
	}
	if len(questions) > most {
		questions = spread(questions, most)
	}
	// Of what is an example but for its quotations nothing could be learned.
	maps.DeleteFunc(y.exact, func(said string, _ []int32) bool { return strings.Contains(said, text.AnyQuotation) })
	out := make([]Observation, 0, len(questions))
	for n, q := range questions {
		if n%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out = append(out, y.ask(catalog, q, f.known)...)
	}
	return out, nil
}

func spread(questions []question, most int) []question {
	out := make([]question, most)
	for i := range out {
		out[i] = questions[i*len(questions)/most]
	}
	return out
}

// ask reads one question; with meanings once more, as if it were in a language
// that the catalog has not. A capability that is only described teaches nothing
// about examples.
func (x *Index) ask(catalog *contracts.Catalog, q question, known *meaning.Library) []Observation {
	of := Query{Message: q.text, Catalog: catalog, AnyRole: true}
	var out []Observation
	note := func(heard hear, strange bool) {
		if o, ok := x.observe(of, q.ref, heard, strange); ok && !o.Described {
			o.strange = strange
			out = append(out, o)
		}
	}
	if known == nil {
		note(nil, false)
		return out
	}
	note(func(string) []float32 { return known.Hears(q.text) }, false)
	note(func(string) []float32 { return farther(known.Hears(q.text)) }, true)
	return out
}

// plainly gives the observations in the words of the catalog, or in none of them.
func plainly(seen []Observation, strange bool) []Observation {
	return slices.DeleteFunc(slices.Clone(seen), func(o Observation) bool { return o.strange != strange })
}

// foreignWeight is how much more requests for nobody count: what is left out of a
// catalog is asked for in fewer ways than all that nobody thought of.
const foreignWeight = 1.33

// weigh gives the requests that are meant for nobody their share.
func weigh(seen []Observation, prior float64) {
	var in, out float64
	for _, o := range seen {
		if o.Nobody {
			out++
		} else {
			in++
		}
	}
	for i := range seen {
		seen[i].Weight = 1
		if seen[i].Nobody {
			seen[i].Weight = foreignWeight * prior / (1 - prior) * in / out
		}
	}
}

// fold is one way to take a catalog apart.
type fold struct {
	catalog *contracts.Catalog
	// number is the place of the fold among as many as of says.
	number, of uint64
	// known knows what the examples mean; nil asks without.
	known *meaning.Library
}

// split gives the catalog without the fold, and what is left out as questions.
func (f fold) split() (*contracts.Catalog, []question) {
	var domains []*contracts.DomainEntry
	var questions []question
	for _, from := range f.catalog.Domains {
		d := &contracts.DomainEntry{Name: from.Name, Digest: from.Digest, Manifest: from.Manifest}
		for _, entry := range from.Capabilities {
			kept, asked := f.entry(entry)
			questions = append(questions, asked...)
			if kept != nil {
				d.Capabilities = append(d.Capabilities, kept)
			}
		}
		domains = append(domains, d)
	}
	return contracts.NewCatalog("", domains, nil), questions
}

// entry gives a capability without the examples of the fold; nil if the fold
// leaves it out.
func (f fold) entry(entry *contracts.CapabilityEntry) (*contracts.CapabilityEntry, []question) {
	hints := entry.Capability.Metadata.IntentHints
	if hints == nil || !entry.Routable() {
		return entry, nil
	}
	at := scatter(entry.Ref())
	var kept []string
	var asked []question
	turn := at
	held := (at/f.of+f.number)%foldHold == 0
	for _, example := range hints.Examples {
		turn++
		switch {
		case held:
			asked = append(asked, question{text: example})
		case turn%f.of == f.number:
			asked = append(asked, question{text: example, ref: entry.Ref()})
		default:
			kept = append(kept, example)
		}
	}
	if held {
		return nil, asked
	}
	c, h := *entry.Capability, *hints
	h.Examples = kept
	c.Metadata.IntentHints = &h
	return &contracts.CapabilityEntry{Domain: entry.Domain, Capability: &c, Policy: entry.Policy, Digest: entry.Digest}, asked
}

// scatter is a number that belongs to a name, whatever stands around it.
func scatter(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64() >> 8
}
