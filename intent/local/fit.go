package local

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/manifold-run/manifold/intent/local/retrieve"
)

// weights are the coefficients of the confidence model.
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

// Calibration is the confidence model: it maps the signals of a candidate to the probability that
// it is right. It has separate weights for capabilities with examples and for those that are only
// described.
type Calibration struct{ shown, described weights }

func (c *Calibration) of(described bool) *weights {
	if described {
		return &c.described
	}
	return &c.shown
}

// unmatchedConfidence is the maximum confidence of a capability without examples if no required
// parameter has a candidate value, or if neither the object nor most of the name is in the text.
const unmatchedConfidence = 0.7

func (c *Calibration) confidence(described bool, s signals) float64 {
	conf := min(1/(1+math.Exp(-c.of(described).odds(s))), certainIdentifier)
	if described && (s[signalAbsent] >= 1 || s[signalObject] == 0 && s[signalName] < 0.5) {
		conf = min(conf, unmatchedConfidence)
	}
	return conf
}

func (c *Calibration) shift(by float64) {
	c.shown.bias += by
	c.described.bias += by
}

// Observation is a candidate for a request with its gold label.
type Observation struct {
	// Right is set if the best candidate is the gold capability, Nobody if the request is out of
	// scope, Described if the best candidate has no examples.
	Right, Nobody, Described bool
	// Weight is the weight of the observation.
	Weight float64

	signals signals
	// strange is set if none of its words were known.
	strange bool
}

// Observe reads a message as one request and compares the best candidate with the gold capability;
// an empty one means out of scope. It returns false if there is no candidate, or if the message is
// an example.
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

// Confidence returns the confidence of an observation before its words limit it.
func (c *Calibration) Confidence(o Observation) float64 { return c.confidence(o.Described, o.signals) }

// fitHold is the strength of the regularization towards the prior, in observations.
const fitHold = 4.0

// chosen marks the signals that a fit uses.
type chosen [signalCount]bool

func allSignals() chosen {
	var c chosen
	for i := range c {
		c[i] = true
	}
	return c
}

// carriedOver returns the signals whose weights transfer between catalogs. The others are fitted
// per catalog.
func carriedOver() chosen {
	c := allSignals()
	c[signalSpoken], c[signalLength], c[signalGrasp] = false, false, false
	return c
}

// FitCalibration fits the weights to observations of many catalogs. Signals that one kind of
// capability does not show take the weights of both together.
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

// Flatten returns a calibration with the odds of each kind scaled by a factor.
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

// judgedScale scales odds to the range of signals.
const judgedScale = 10

// Judged returns an observation with the odds of this calibration as its only signal.
func (c *Calibration) Judged(o Observation) Observation {
	o.signals = signals{c.of(o.Described).odds(o.signals) / judgedScale}
	return o
}

// Steepness returns the best factor for the odds of judged observations, at most 1. Below 1 they
// were overconfident.
func Steepness(judged []Observation) float64 {
	if len(judged) == 0 {
		return 1
	}
	w := fit(judged, weights{}, 1e-3, chosen{true})
	return min(1, w.of[0]/judgedScale)
}

// Source returns the calibration as Go code.
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

// fit fits weights to observations. Signals that are not chosen keep their weights.
func fit(seen []Observation, prior weights, hold float64, use chosen) weights {
	of := make([]retrieve.Observation, len(seen))
	for i := range seen {
		of[i] = retrieve.Observation{Signals: seen[i].signals[:], Right: seen[i].Right, Weight: seen[i].Weight}
	}
	f := retrieve.LogisticFit{Prior: prior.list(), Hold: hold, Use: use[:], Supports: supports}
	return listed(f.To(of))
}

// supports reports whether the weight of a signal must not be negative. A few observations to the
// contrary are noise.
func supports(signal int) bool {
	return signal == signalTyped || signal == signalMargin || signal == signalFirst ||
		signal == signalMeant || signal == signalAlike || signal == signalMeantShare
}
