package slots

import (
	"math"
	"slices"
)

// Unfilled marks a slot that may stay empty in the gold labels.
const Unfilled = -1

// AssignmentExample is an assignment problem with its gold labels.
type AssignmentExample struct {
	*Assignment

	Right [][]int
	Worth float64 // relative to other examples
}

// The number of gradient steps, and the initial step size.
const (
	iterations = 400
	step       = 0.1
)

// FitAssignments fits the weights by maximum likelihood, regularized towards the prior. hold
// returns the strength of the regularization per feature. The result is deterministic.
func FitAssignments(examples []AssignmentExample, prior []float64, hold func(evidence int) float64) []float64 {
	w := slices.Clone(prior)
	mean, square := make([]float64, len(w)), make([]float64, len(w)) // moments of the gradient, as in Adam
	for round := 1; round <= iterations; round++ {
		slope := gradientOf(examples, w)
		for e := range w {
			g := slope[e] - hold(e)*(w[e]-prior[e])
			mean[e] = 0.9*mean[e] + 0.1*g
			square[e] = 0.99*square[e] + 0.01*g*g
			m := mean[e] / (1 - math.Pow(0.9, float64(round)))
			v := square[e] / (1 - math.Pow(0.99, float64(round)))
			w[e] += step * (1 - float64(round)/(iterations+1)) * m / (math.Sqrt(v) + 1e-8)
		}
	}
	return w
}

// gradientOf returns the gradient of the log-likelihood: the features of the gold assignments minus
// the expected features.
func gradientOf(examples []AssignmentExample, w []float64) []float64 {
	slope := make([]float64, len(w))
	for i := range examples {
		examples[i].add(slope, w)
	}
	return slope
}

// expected holds the unnormalised expectation of each option and of the order features.
type expected struct {
	total          float64
	sums           [][]float64
	order, sibling float64
}

func (l *AssignmentExample) add(slope, w []float64) {
	if len(l.Options) == 0 {
		return
	}
	l.Weights = w
	for k := range l.Options {
		for c := range l.Options[k] {
			o := &l.Options[k][c]
			o.Weight = WeightedSum(w, o.Evidence)
		}
	}
	all, right := l.expect(), l.expect()
	l.each(func(a *assignment) {
		e := math.Exp(a.weight)
		all.see(a, e)
		if l.isRight(a) {
			right.see(a, e)
		}
	})
	if right.total == 0 {
		return // the gold values overlap
	}
	for k := range l.Options {
		for c, o := range l.Options[k] {
			d := l.Worth * (right.sums[k][c]/right.total - all.sums[k][c]/all.total)
			if d == 0 {
				continue
			}
			for e, x := range o.Evidence {
				slope[e] += d * x
			}
		}
	}
	slope[l.Order] += l.Worth * (right.order/right.total - all.order/all.total)
	slope[l.Siblings] += l.Worth * (right.sibling/right.total - all.sibling/all.total)
}

func (l *AssignmentExample) expect() expected {
	e := expected{sums: make([][]float64, len(l.Options))}
	for k := range l.Options {
		e.sums[k] = make([]float64, len(l.Options[k]))
	}
	return e
}

func (x *expected) see(a *assignment, e float64) {
	x.total += e
	x.order += e * a.inOrder
	x.sibling += e * a.inSiblings
	for k, c := range a.chosen {
		if c >= 0 {
			x.sums[k][c] += e
		}
	}
}

func (l *AssignmentExample) isRight(a *assignment) bool {
	for k, c := range a.chosen {
		ok := false
		for _, r := range l.Right[k] {
			ok = ok || r == c
		}
		if !ok {
			return false
		}
	}
	return true
}
