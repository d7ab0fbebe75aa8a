package local

import (
	"context"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/retrieve"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// The minimum size of a catalog for calibration. A smaller one keeps the shipped weights.
const (
	calibrationExamples     = 40
	calibrationCapabilities = 5
)

// maxQuestions limits the number of held-out examples of one calibration.
const maxQuestions = 3000

// foldNow is the reference time while example parameters are read.
func foldNow() time.Time { return time.Date(2025, 6, 11, 10, 0, 0, 0, time.UTC) }

// crossValidated evaluates folds of the catalog on the examples that each leaves out, with
// embeddings if known is not nil. A small catalog gives no observations.
func (x *Index) crossValidated(ctx context.Context, catalog *contracts.Catalog, known *retrieve.VectorCache) ([]Observation, error) {
	examples := x.Examples()
	if examples < calibrationExamples || len(x.caps) < calibrationCapabilities {
		return nil, nil
	}
	folds, asked := retrieve.FoldCount(examples)
	found := make([][]Observation, asked)
	tools := x.tools.WithTokenCache()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)/2)) // half of a large machine goes on serving
	for f := range asked {
		group.Go(func() (err error) {
			found[f], err = examine(ctx, tools, retrieve.Fold{Catalog: catalog, Number: f, Of: folds}, known, maxQuestions/int(min(asked, maxQuestions)))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

// calibrated returns a copy of the index whose confidence model is fitted to observations of its
// catalog; without any it keeps the shipped one. With a vector cache it calibrates the model with
// embeddings. prior is the share of out-of-scope requests.
func (x *Index) calibrated(seen []Observation, prior float64, known *retrieve.VectorCache) *Index {
	if len(seen) == 0 {
		return x
	}
	weigh(seen, prior)
	y := *x
	if known != nil {
		m := *x.embeddings
		m.calibration.shown, m.calibrates = fitOwn(withKnownWords(seen, false), x.embeddings.calibration.shown)
		m.foreign, _ = fitOwn(withKnownWords(seen, true), x.embeddings.foreign)
		y.embeddings = &m
		return &y
	}
	y.calibration.shown, y.calibrates = fitOwn(seen, x.calibration.shown)
	return &y
}

// maxAcceptLoss is the maximum relative loss of in-scope requests for fitted weights, compared to
// the shipped ones.
const maxAcceptLoss = 0.03

// fitOwn fits the weights to the observations of a catalog. Two-fold cross-validation checks them:
// if they would be worse, it returns the weights before and false.
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
	own := netCorrect(&first, odd) + netCorrect(&second, even)
	if known := netCorrect(&before, seen); own < known-maxAcceptLoss*float64(meant(seen)) {
		return before, false
	}
	w := fit(seen, before, fitHold, allSignals())
	return w, true
}

// netCorrect returns the number of correct accepts minus the number of wrong ones, so that accepting
// everything is not better.
func netCorrect(w *weights, seen []Observation) float64 {
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

// Examples returns the number of examples of all capabilities.
func (x *Index) Examples() int {
	n := 0
	for _, c := range x.refs {
		n += c.examples
	}
	return n
}

// examine trains an index without a fold and evaluates it on the held-out examples; with
// embeddings if known is not nil.
func examine(ctx context.Context, tools *slots.Tools, f retrieve.Fold, known *retrieve.VectorCache, most int) ([]Observation, error) {
	catalog, questions := f.Split()
	y, err := newIndex(catalog, tools).trained(ctx)
	if err != nil {
		return nil, err
	}
	if known != nil {
		y = withEmbeddings(y, known, nil)
	}
	questions = retrieve.Sample(questions, most)
	// Examples that match except for a quotation would give no information.
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

// ask evaluates one held-out example, and with embeddings once more as if it were in a language
// that the catalog does not have. A capability without examples is skipped.
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
	note(func(string) []float32 { return asTranslation(known.Lookup(q.Text)) }, true)
	return out
}

// withKnownWords returns the observations with known words, or those without.
func withKnownWords(seen []Observation, strange bool) []Observation {
	return slices.DeleteFunc(slices.Clone(seen), func(o Observation) bool { return o.strange != strange })
}

// foreignWeight is the factor for out-of-scope requests: held-out capabilities cover fewer topics
// than real out-of-scope messages.
const foreignWeight = 1.33

// weigh weights the observations so that out-of-scope requests have their prior share.
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
