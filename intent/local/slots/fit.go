package slots

import (
	"iter"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Example is a training example: a request with its gold values.
type Example struct {
	// Weight is its weight relative to the other examples.
	Weight float64

	assignments []AssignmentExample
}

// Example compiles a training example: it reads a request as Complete does and labels the right
// options. A parameter without a right option should stay empty.
func (t *Tools) Example(entry *contracts.CapabilityEntry, message string, now time.Time, right func(name string, v any) bool, mayLack func(name string) bool) Example {
	s, m := Compile(t, entry, "", nil), t.Read(message, now)
	all := Range{To: len(m.Tokens)}
	filled := s.Fill(m, all, nil)
	n, params := s.openNumbers(m, all, nil, filled)
	out := Example{Weight: 1, assignments: []AssignmentExample{teach(params, n.numberAssignment(params, n.freeNumbers(filled, params)), right, mayLack)}}
	filled = s.completeNumbers(m, all, nil, filled)
	f := s.completer(m, all, nil, filled)
	open := f.open(filled)
	out.assignments = append(out.assignments, teach(open, f.texts(open), right, mayLack))
	return out
}

func teach(params []*param, z *Assignment, right func(name string, v any) bool, mayLack func(name string) bool) AssignmentExample {
	l := AssignmentExample{Assignment: z, Right: make([][]int, len(params))}
	for k, p := range params {
		for c, o := range z.Options[k] {
			if right(p.name(), o.Value) {
				l.Right[k] = append(l.Right[k], c)
			}
		}
		if len(l.Right[k]) == 0 || mayLack(p.name()) {
			l.Right[k] = append(l.Right[k], Unfilled)
		}
	}
	return l
}

// Weights holds one weight per feature.
type Weights struct{ w weights }

// Prior returns the hand-set weights that a fit is regularized towards. Features that no example
// shows keep them.
func Prior() Weights { return Weights{priorWeights()} }

// Shipped returns the weights that are compiled into the program.
func Shipped() Weights { return Weights{shippedWeights()} }

// With returns a copy of the tools with other weights.
func (t *Tools) With(w Weights) *Tools {
	out := *t
	out.weights = w.w
	return &out
}

// fitHold is the strength of the regularization.
const fitHold = 0.01

// regularization returns the relative strength of the regularization of a feature. How often
// optional values or spelled-out numbers occur depends on the authors of a data set.
func regularization(e evidence) float64 {
	if e == evOptional || e == evFigureOptional || e == evFigureSpelled {
		return 10
	}
	return 1
}

// Fit fits the weights to training examples, regularized towards the prior. The result is
// deterministic.
func Fit(examples []Example, prior Weights) Weights {
	var all []AssignmentExample
	for _, l := range examples {
		for _, p := range l.assignments {
			p.Worth = l.Weight
			all = append(all, p)
		}
	}
	return Weights{weights(FitAssignments(all, prior.w[:], func(e int) float64 { return fitHold * regularization(evidence(e)) }))}
}

// All iterates over the features in order, with their names and weights.
func (w Weights) All() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for e, x := range w.w {
			if !yield(evidence(e).String(), x) {
				return
			}
		}
	}
}
