package local

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/manifold-run/manifold/intent/local/retrieve"
)

// weights turn signals into a confidence.
type weights struct {
	bias float64
	of   signals
}

func (w *weights) odds(s signals) float64 {
	z := w.bias
	for i, v := range s {
		z += w.of[i] * v
	}
	return z
}

// Calibration turns what a reading looks like into how often such a reading is
// right: for capabilities with examples, and for those that are only described.
type Calibration struct{ shown, described weights }

func (c *Calibration) of(described bool) *weights {
	if described {
		return &c.described
	}
	return &c.shown
}

// besideConfidence is the most that a capability gets which is only described,
// if nothing is said of what it needs, or if neither what is wanted nor most of
// its name is there: however many other words fit, it is about something else.
const besideConfidence = 0.7

func (c *Calibration) confidence(described bool, s signals) float64 {
	conf := min(1/(1+math.Exp(-c.of(described).odds(s))), certainIdentifier)
	if described && (s[signalAbsent] >= 1 || s[signalObject] == 0 && s[signalName] < 0.5) {
		conf = min(conf, besideConfidence)
	}
	return conf
}

func (c *Calibration) shift(by float64) {
	c.shown.bias += by
	c.described.bias += by
}

// Observation is a reading of a request whose meaning is known.
type Observation struct {
	// Right tells that the best candidate is what was meant, Nobody that nothing
	// there was, Described that the best candidate has no examples.
	Right, Nobody, Described bool
	// Weight is how much it counts.
	Weight float64

	signals signals
	// strange tells that none of its words were known.
	strange bool
}

// Observe reads a message as one request and compares what is found with the
// capability that is meant; an empty one means none. It is false where there is
// nothing to learn: nothing was found, or the message is an example.
func (l *Local) Observe(ctx context.Context, q Query, meant string) (Observation, bool) {
	return l.Index(q.Catalog).observe(q, meant, l.encoder(ctx), false)
}

func (x *Index) observe(q Query, meant string, encode encodeFunc, strange bool) (Observation, bool) {
	m := x.tools.Read(q.Message, foldNow())
	if strange {
		m.Tokens = asForeign(x, m)
	}
	if len(m.Tokens) == 0 {
		return Observation{}, false
	}
	s := &sentenceReader{x: x, q: q, m: m, encode: encode}
	of := s.rate(&part{to: len(m.Tokens)})
	if len(of.all) == 0 || of.all[0].exact {
		return Observation{}, false
	}
	c := x.caps[of.all[0].number]
	return Observation{
		Right: meant == c.entry.Ref(), Nobody: meant == "", Described: c.examples == 0, Weight: 1, signals: x.signals(of, 0),
	}, true
}

// Confidence is what a calibration gives a reading, before its words limit it.
func (c *Calibration) Confidence(o Observation) float64 { return c.confidence(o.Described, o.signals) }

// The logistic regression is held to what was known before as if by so many
// observations.
const fitHold = 4.0

// chosen tells which signals a fit may use.
type chosen [signalCount]bool

func allSignals() chosen {
	var c chosen
	for i := range c {
		c[i] = true
	}
	return c
}

// carriedOver are the signals whose weights carry over from one registry to others.
// What the rest is worth, each catalog learns for itself.
func carriedOver() chosen {
	c := allSignals()
	c[signalSpoken], c[signalLength], c[signalGrasp] = false, false, false
	return c
}

// FitCalibration fits weights to observations of many registries. What one kind
// of capability does not tell is taken from both together.
func FitCalibration(seen []Observation) Calibration {
	var described, shown []Observation
	for _, o := range seen {
		if o.Described {
			described = append(described, o)
		} else {
			shown = append(shown, o)
		}
	}
	alike := carriedOver()
	alike[signalBest], alike[signalExamples], alike[signalName], alike[signalObject] = false, false, false, false
	both := fit(seen, weights{}, fitHold, alike)
	alike[signalExamples] = true
	return Calibration{shown: fit(shown, both, fitHold, alike), described: fit(described, both, fitHold, carriedOver())}
}

// Flatten gives a calibration that is less sure by a factor for each kind.
func (c *Calibration) Flatten(shown, described float64) Calibration {
	return Calibration{shown: c.shown.flat(shown), described: c.described.flat(described)}
}

func (w *weights) flat(by float64) weights {
	out := weights{bias: w.bias * by}
	for i, v := range w.of {
		out.of[i] = v * by
	}
	return out
}

// judgedScale brings odds to the size of signals.
const judgedScale = 10

// Judged is an observation of which only the odds are left that a calibration
// gives it.
func (c *Calibration) Judged(o Observation) Observation {
	o.signals = signals{c.of(o.Described).odds(o.signals) / judgedScale}
	return o
}

// Steepness is the factor, at most 1, by which the odds of judged observations
// suit best what was right: below 1 they were too sure.
func Steepness(judged []Observation) float64 {
	if len(judged) == 0 {
		return 1
	}
	w := fit(judged, weights{}, 1e-3, chosen{true})
	return min(1, w.of[0]/judgedScale)
}

// Source is the calibration as Go code.
func (c *Calibration) Source() string {
	names := signalNames()
	kind := func(w *weights) string {
		var b strings.Builder
		fmt.Fprintf(&b, "weights{bias: %.2f, of: signals{\n", w.bias)
		for i, v := range w.of {
			if math.Abs(v) >= 0.005 {
				fmt.Fprintf(&b, "%s: %.2f,\n", names[i], v)
			}
		}
		return b.String() + "}}"
	}
	return fmt.Sprintf("func shipped() Calibration {\nreturn Calibration{\nshown: %s,\ndescribed: %s,\n}\n}\n", kind(&c.shown), kind(&c.described))
}

// fit finds weights by what was seen. What is not chosen stays as it was.
func fit(seen []Observation, prior weights, hold float64, use chosen) weights {
	of := make([]retrieve.Observation, len(seen))
	for i := range seen {
		of[i] = retrieve.Observation{Signals: seen[i].signals[:], Right: seen[i].Right, Weight: seen[i].Weight}
	}
	f := retrieve.LogisticFit{Prior: prior.list(), Hold: hold, Use: use[:], Supports: supports}
	return listed(f.To(of))
}

// supports tells signals that can only speak for a reading: where a few examples
// say otherwise, they are chance.
func supports(signal int) bool {
	return signal == signalTyped || signal == signalMargin || signal == signalFirst ||
		signal == signalMeant || signal == signalAlike || signal == signalMeantShare
}
