package local

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/retrieve"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// A catalog must have this much to learn a confidence from. Below, the shipped
// weights stay.
const (
	calibrationExamples     = 40
	calibrationCapabilities = 5
)

// maxQuestions is how many examples one calibration asks for at most.
const maxQuestions = 3000

// foldNow is what "now" is while parameters of examples are read.
func foldNow() time.Time { return time.Date(2025, 6, 11, 10, 0, 0, 0, time.UTC) }

// calibrated gives a copy of the index whose confidence was learned from the
// catalog itself: that with meanings, if the library that knows them is given.
// prior is the share of requests that are meant for nobody.
func (x *Index) calibrated(ctx context.Context, catalog *contracts.Catalog, prior float64, known *retrieve.VectorCache) (*Index, error) {
	examples := x.Examples()
	if examples < calibrationExamples || len(x.caps) < calibrationCapabilities {
		return x, nil
	}
	folds, asked := retrieve.FoldCount(examples)
	var seen []Observation
	for f := range asked {
		more, err := x.examine(ctx, retrieve.Fold{Catalog: catalog, Number: f, Of: folds}, known, maxQuestions/int(min(asked, maxQuestions)))
		if err != nil {
			return nil, err
		}
		seen = append(seen, more...)
	}
	weigh(seen, prior)
	y := *x
	if known != nil {
		m := *x.embeddings
		m.calibration.shown, m.calibrates = fitOwn(plainly(seen, false), x.embeddings.calibration.shown)
		m.foreign, _ = fitOwn(plainly(seen, true), x.embeddings.foreign)
		y.embeddings = &m
		return &y, nil
	}
	y.calibration.shown, y.calibrates = fitOwn(seen, x.calibration.shown)
	return &y, nil
}

// mostLost is how much less of what is meant for a site weights of its own may be
// worth than those that come with the program.
const mostLost = 0.03

// fitOwn fits the weights of a site to what was observed of it. It is false, and
// the weights are those before, where by its own accuracy would fall: they
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
// wrongly: weights that accept more of everything are no better.
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

// examine trains an index without a fold and asks it about what it does not
// know; with meanings, if the library that knows them is given.
func (x *Index) examine(ctx context.Context, f retrieve.Fold, known *retrieve.VectorCache, most int) ([]Observation, error) {
	catalog, questions := f.Split()
	y, err := newIndex(catalog, x.tools).trained(ctx)
	if err != nil {
		return nil, err
	}
	if known != nil {
		y = understood(y, known, nil)
	}
	questions = retrieve.Sample(questions, most)
	// Of what is an example but for its quotations nothing could be learned.
	maps.DeleteFunc(y.exact, func(said string, _ []int32) bool { return strings.Contains(said, tokenize.AnyQuotation) })
	out := make([]Observation, 0, len(questions))
	for n, q := range questions {
		if n%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out = append(out, y.ask(catalog, q, known)...)
	}
	return out, nil
}

// ask reads one question; with meanings once more, as if it were in a language
// that the catalog has not. A capability that is only described teaches nothing
// about examples.
func (x *Index) ask(catalog *contracts.Catalog, q retrieve.HeldOut, known *retrieve.VectorCache) []Observation {
	of := Query{Message: q.Text, Catalog: catalog, AnyRole: true}
	var out []Observation
	note := func(encode encodeFunc, strange bool) {
		if o, ok := x.observe(of, q.Ref, encode, strange); ok && !o.Described {
			o.strange = strange
			out = append(out, o)
		}
	}
	if known == nil {
		note(nil, false)
		return out
	}
	note(func(string) []float32 { return known.Lookup(q.Text) }, false)
	note(func(string) []float32 { return farther(known.Lookup(q.Text)) }, true)
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
