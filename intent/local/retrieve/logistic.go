package retrieve

import (
	"math"
	"slices"
)

// LogisticWeights holds one weight per feature, with the bias last.
type LogisticWeights []float64

// logOdds returns the log-odds for a feature vector.
func (w LogisticWeights) logOdds(signals []float64) float64 {
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
	// Weight is the weight of the observation.
	Weight float64
}

// maxSteps is the maximum number of Newton steps.
const maxSteps = 25

// LogisticFit fits a logistic regression by Newton's method, regularized towards a prior.
type LogisticFit struct {
	// Prior is the centre of the regularization, Hold its strength in observations.
	Prior LogisticWeights
	Hold  float64
	// Use marks the features to fit; the others keep their weights.
	Use []bool
	// Supports reports whether the weight of a feature must not be negative. A few observations to
	// the contrary are noise.
	Supports func(signal int) bool
}

// newtonStep holds the gradient and the Hessian of the loss.
type newtonStep struct {
	gradient []float64
	curve    [][]float64
	signals  []float64 // features of the observation that is added
}

func newSlope(size int) *newtonStep {
	s := &newtonStep{gradient: make([]float64, size), curve: make([][]float64, size), signals: make([]float64, size)}
	for i := range s.curve {
		s.curve[i] = make([]float64, size)
	}
	return s
}

// To returns the weights that minimise the loss.
func (f *LogisticFit) To(seen []Observation) LogisticWeights {
	w := slices.Clone(f.Prior)
	at := newSlope(len(w))
	for range maxSteps {
		for i := range w {
			at.gradient[i] = -f.Hold * (w[i] - f.Prior[i])
			clear(at.curve[i])
			at.curve[i][i] = f.Hold
		}
		for _, o := range seen {
			at.addObservation(o, w, f.Use)
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

// maxChange is the maximum change of a weight in one step.
const maxChange = 3

// move changes a weight within its constraints and returns the actual change.
func (f *LogisticFit) move(w LogisticWeights, i int, by float64) float64 {
	was := w[i]
	w[i] += max(-maxChange, min(maxChange, by))
	if i < len(w)-1 && f.Supports(i) && w[i] < 0 {
		w[i] = 0
	}
	return w[i] - was
}

// loss returns the regularized negative log-likelihood. It is needed for step control, since a
// full Newton step may overshoot for nearly separable data.
func (f *LogisticFit) loss(seen []Observation, w LogisticWeights) float64 {
	sum := 0.0
	for i := range w {
		d := w[i] - f.Prior[i]
		sum += f.Hold / 2 * d * d
	}
	for _, o := range seen {
		z := w.logOdds(o.Signals)
		if o.Right {
			z = -z
		}
		sum += o.Weight * (max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))))
	}
	return sum
}

// addObservation adds an observation to the gradient and the Hessian.
func (s *newtonStep) addObservation(o Observation, w LogisticWeights, use []bool) {
	x := s.signals
	for i, v := range o.Signals {
		if use[i] {
			x[i] = v
		}
	}
	x[len(w)-1] = 1
	p := 1 / (1 + math.Exp(-w.logOdds(o.Signals)))
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

// solve solves a linear system by Gaussian elimination. It overwrites its arguments; the matrix is
// positive definite.
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
