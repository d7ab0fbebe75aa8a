package retrieve

import (
	"math"
	"slices"
)

// LogisticWeights are the weights of the signals, with the bias last.
type LogisticWeights []float64

// odds are the logarithm of how likely it is by these signals.
func (w LogisticWeights) odds(signals []float64) float64 {
	z := w[len(w)-1]
	for i, v := range signals {
		z += w[i] * v
	}
	return z
}

// Observation is one labelled example of a logistic regression.
type Observation struct {
	Signals []float64
	Right   bool
	// Weight is how much it counts.
	Weight float64
}

// steps is how many steps a fit takes at most.
const steps = 25

// LogisticFit fits a logistic regression by Newton's method, regularized towards a prior.
type LogisticFit struct {
	// Prior is what was known before: the fit is held to it as if by Hold observations.
	Prior LogisticWeights
	Hold  float64
	// Use tells which signals it may use; the weights of the others stay as they were.
	Use []bool
	// Supports tells signals that can only speak for it: where a few observations say
	// otherwise, they are chance.
	Supports func(signal int) bool
}

// slope is how what a fit makes small changes with each weight, and how that bends.
type slope struct {
	gradient []float64
	curve    [][]float64
	signals  []float64 // of the observation that is added
}

func newSlope(size int) *slope {
	s := &slope{gradient: make([]float64, size), curve: make([][]float64, size), signals: make([]float64, size)}
	for i := range s.curve {
		s.curve[i] = make([]float64, size)
	}
	return s
}

// To gives the weights that suit what was seen.
func (f *LogisticFit) To(seen []Observation) LogisticWeights {
	w := slices.Clone(f.Prior)
	at := newSlope(len(w))
	for range steps {
		for i := range w {
			at.gradient[i] = -f.Hold * (w[i] - f.Prior[i])
			clear(at.curve[i])
			at.curve[i][i] = f.Hold
		}
		for _, o := range seen {
			at.bend(o, w, f.Use)
		}
		step := solve(at.curve, at.gradient)
		before, from, largest := f.loss(seen, w), slices.Clone(w), 0.0
		for share := 1.0; share > 1e-3; share /= 2 {
			copy(w, from)
			largest = 0
			for i, d := range step {
				largest = max(largest, math.Abs(f.move(w, i, share*d)))
			}
			if f.loss(seen, w) <= before {
				break
			}
		}
		if largest < 1e-6 {
			break
		}
	}
	return w
}

// mostMoved is how far one step moves a weight at most.
const mostMoved = 3

// move moves a weight, but none below 0 that can only speak for it; it gives how far that
// was.
func (f *LogisticFit) move(w LogisticWeights, i int, by float64) float64 {
	was := w[i]
	w[i] += max(-mostMoved, min(mostMoved, by))
	if i < len(w)-1 && f.Supports(i) && w[i] < 0 {
		w[i] = 0
	}
	return w[i] - was
}

// loss is what a fit makes small: how unlikely what was seen is, and how far the
// weights are from what was known before. A whole step of Newton's method may
// overshoot where signals nearly tell right from wrong by themselves.
func (f *LogisticFit) loss(seen []Observation, w LogisticWeights) float64 {
	sum := 0.0
	for i := range w {
		d := w[i] - f.Prior[i]
		sum += f.Hold / 2 * d * d
	}
	for _, o := range seen {
		z := w.odds(o.Signals)
		if o.Right {
			z = -z
		}
		sum += o.Weight * (max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))))
	}
	return sum
}

// bend adds an observation to the gradient and to the curvature.
func (s *slope) bend(o Observation, w LogisticWeights, use []bool) {
	x := s.signals
	for i, v := range o.Signals {
		if use[i] {
			x[i] = v
		}
	}
	x[len(w)-1] = 1
	p := 1 / (1 + math.Exp(-w.odds(o.Signals)))
	miss := -p
	if o.Right {
		miss = 1 - p
	}
	for i := range x {
		s.gradient[i] += o.Weight * miss * x[i]
		row := s.curve[i]
		for j := range x {
			row[j] += o.Weight * p * (1 - p) * x[i] * x[j]
		}
	}
}

// solve is Gauss elimination, which uses up what it is given; the curvature is positive
// definite.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
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
