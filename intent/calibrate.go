package intent

import (
	"context"
	"hash/fnv"
	"math"
	"time"

	"github.com/manifold-run/manifold/contracts"
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

// observation is what a reading looked like, and whether it was right.
type observation struct {
	signals signals
	right   bool
	weight  float64
}

// question is an example that a fold does not know.
type question struct {
	text string
	ref  string // empty: of a capability that the fold does not have
}

// calibrated gives a copy of the index whose confidence was learned from the
// catalog itself. prior is the share of requests that are meant for nobody.
func (x *Index) calibrated(ctx context.Context, catalog *contracts.Catalog, prior float64) (*Index, error) {
	examples := x.examples()
	if examples < calibrationExamples || len(x.caps) < calibrationCapabilities {
		return x, nil
	}
	folds, asked := foldsFor(examples)
	var seen []observation
	for f := range asked {
		more, err := x.observe(ctx, fold{catalog: catalog, number: f, of: folds}, maxQuestions/int(min(asked, maxQuestions)))
		if err != nil {
			return nil, err
		}
		seen = append(seen, more...)
	}
	weigh(seen, prior)
	y := *x
	y.confidence, y.calibrates = fit(seen), true
	return &y, nil
}

// examples is how many examples all capabilities have.
func (x *Index) examples() int {
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

// observe trains an index without a fold and asks it about what it does not
// know.
func (x *Index) observe(ctx context.Context, f fold, most int) ([]observation, error) {
	catalog, questions := f.split()
	y, err := newIndex(catalog, x.tools).trained(ctx)
	if err != nil {
		return nil, err
	}
	if len(questions) > most {
		questions = spread(questions, most)
	}
	out := make([]observation, 0, len(questions))
	for n, q := range questions {
		if n%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if o, ok := y.ask(catalog, q); ok {
			out = append(out, o)
		}
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

// ask reads one question. A sentence that another capability has word for word
// teaches nothing.
func (x *Index) ask(catalog *contracts.Catalog, q question) (observation, bool) {
	m := x.tools.Read(q.text, foldNow())
	if len(m.Tokens) == 0 {
		return observation{}, false
	}
	s := &sentenceReader{x: x, q: Query{Catalog: catalog, AnyRole: true}, m: m}
	p := &part{to: len(m.Tokens)}
	all := s.rate(p, x.search(m.Tokens, s.allowed))
	if len(all) == 0 || all[0].exact {
		return observation{}, false
	}
	return observation{signals: x.signalsOf(m.Tokens, all, 0), right: q.ref == x.caps[all[0].number].entry.Ref(), weight: share(q)}, true
}

// share marks questions that are meant for nobody by a negative weight, until
// they are weighed.
func share(q question) float64 {
	if q.ref == "" {
		return -1
	}
	return 1
}

// weigh gives the requests that are meant for nobody their share.
func weigh(seen []observation, prior float64) {
	var in, out float64
	for _, o := range seen {
		if o.weight < 0 {
			out++
		} else {
			in++
		}
	}
	for i := range seen {
		if seen[i].weight < 0 {
			seen[i].weight = prior / (1 - prior) * in / out
		}
	}
}

// fold is one way to take a catalog apart.
type fold struct {
	catalog *contracts.Catalog
	// number is the place of the fold among as many as of says.
	number, of uint64
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

// The logistic regression is held to the shipped weights as if by so many
// observations.
const (
	fitHold  = 4.0
	fitSteps = 25
)

// fit finds weights by Newton's method.
func fit(seen []observation) weights {
	prior := shipped()
	w := prior
	for range fitSteps {
		var gradient [signalCount + 1]float64
		var curve [signalCount + 1][signalCount + 1]float64
		for i := range gradient {
			gradient[i] = -fitHold * (w.at(i) - prior.at(i))
			curve[i][i] = fitHold
		}
		for _, o := range seen {
			o.bend(w, &gradient, &curve)
		}
		step := solve(curve, gradient)
		largest := 0.0
		for i, d := range step {
			w.move(i, d)
			largest = max(largest, math.Abs(d))
		}
		if largest < 1e-6 {
			break
		}
	}
	return w
}

// at gives the weight of a signal; the one behind the last is the bias.
func (w *weights) at(i int) float64 {
	if i == signalCount {
		return w.bias
	}
	return w.of[i]
}

func (w *weights) move(i int, by float64) {
	by = max(-3, min(3, by))
	if i == signalCount {
		w.bias += by
		return
	}
	w.of[i] += by
}

// bend adds an observation to the gradient and to the curvature.
func (o observation) bend(w weights, gradient *[signalCount + 1]float64, curve *[signalCount + 1][signalCount + 1]float64) {
	z := w.bias
	var x [signalCount + 1]float64
	for i, v := range o.signals {
		x[i] = v
		z += w.of[i] * v
	}
	x[signalCount] = 1
	p := 1 / (1 + math.Exp(-z))
	miss := -p
	if o.right {
		miss = 1 - p
	}
	for i := range x {
		gradient[i] += o.weight * miss * x[i]
		for j := range x {
			curve[i][j] += o.weight * p * (1 - p) * x[i] * x[j]
		}
	}
}

// solve is Gauss elimination; the curvature is positive definite.
func solve(a [signalCount + 1][signalCount + 1]float64, b [signalCount + 1]float64) [signalCount + 1]float64 {
	const n = signalCount + 1
	for i := range n {
		for k := i + 1; k < n; k++ {
			factor := a[k][i] / a[i][i]
			for j := i; j < n; j++ {
				a[k][j] -= factor * a[i][j]
			}
			b[k] -= factor * b[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			b[i] -= a[i][j] * b[j]
		}
		b[i] /= a[i][i]
	}
	return b
}
