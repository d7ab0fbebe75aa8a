package slot

import (
	"iter"
	"math"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Lesson is a request whose values are known: what the weights are fitted on.
type Lesson struct {
	// Weight is how much it counts beside the others.
	Weight float64

	puzzles []lesson
}

// lesson is a puzzle with the options that are right for each parameter; -1 among
// them tells that it may stay empty.
type lesson struct {
	puzzle
	right [][]int
}

// Lesson reads a request as Complete does and marks what is right. A parameter of
// which no option is right should stay empty.
func (t *Tools) Lesson(entry *contracts.CapabilityEntry, message string, now time.Time, right func(name string, v any) bool, mayLack func(name string) bool) Lesson {
	s, m := Compile(t, entry, "", nil), t.Read(message, now)
	all := Range{To: len(m.Tokens)}
	filled := s.Fill(m, all, nil)
	n, params := s.openNumbers(m, all, nil, filled)
	out := Lesson{Weight: 1, puzzles: []lesson{teach(n.figures(params, n.loose(filled, params)), right, mayLack)}}
	filled = s.completeNumbers(m, all, nil, filled)
	f := s.completer(m, all, nil, filled)
	out.puzzles = append(out.puzzles, teach(f.texts(f.open(filled)), right, mayLack))
	return out
}

func teach(z *puzzle, right func(name string, v any) bool, mayLack func(name string) bool) lesson {
	l := lesson{puzzle: *z, right: make([][]int, len(z.params))}
	for k, p := range z.params {
		name := p.single
		if name == "" {
			name = p.list
		}
		for c, o := range z.options[k] {
			if right(name, o.value) {
				l.right[k] = append(l.right[k], c)
			}
		}
		if len(l.right[k]) == 0 || mayLack(name) {
			l.right[k] = append(l.right[k], -1)
		}
	}
	return l
}

// Weights are how much each evidence counts.
type Weights struct{ w weights }

// Prior are the weights that a fit starts from and is held to: those of evidence
// that the lessons do not show stay as they are here.
func Prior() Weights { return Weights{priorWeights()} }

// With gives tools that weigh in another way.
func (t *Tools) With(w Weights) *Tools {
	out := *t
	out.weights = w.w
	return &out
}

// The fit: how often all lessons are gone through, how far a step goes at first,
// and how strongly the weights are held to the prior.
const (
	fitRounds = 400
	fitStep   = 0.1
	fitHold   = 0.003
)

// Fit moves the weights until the right values are as probable as the evidence
// allows. Nothing is drawn at random: the same lessons give the same weights.
func Fit(lessons []Lesson, prior Weights) Weights {
	w := prior.w
	var mean, square weights // of the slope, as Adam has it
	for round := 1; round <= fitRounds; round++ {
		slope := slopeOf(lessons, &w)
		for e := range w {
			g := slope[e] - fitHold*(w[e]-prior.w[e])
			mean[e] = 0.9*mean[e] + 0.1*g
			square[e] = 0.99*square[e] + 0.01*g*g
			m := mean[e] / (1 - math.Pow(0.9, float64(round)))
			v := square[e] / (1 - math.Pow(0.99, float64(round)))
			w[e] += fitStep * (1 - float64(round)/(fitRounds+1)) * m / (math.Sqrt(v) + 1e-8)
		}
	}
	return Weights{w}
}

// slopeOf is the slope of the log-likelihood: the evidence for what is right less
// the evidence that the weights expect.
func slopeOf(lessons []Lesson, w *weights) weights {
	var slope weights
	for i := range lessons {
		for k := range lessons[i].puzzles {
			lessons[i].puzzles[k].add(&slope, w, lessons[i].Weight)
		}
	}
	return slope
}

// expected is how probable each option is, and how much order is to be expected.
type expected struct {
	total          float64
	sums           [][]float64
	order, sibling float64
}

func (l *lesson) add(slope, w *weights, worth float64) {
	if len(l.params) == 0 {
		return
	}
	l.weights = w
	for k := range l.options {
		for c := range l.options[k] {
			o := &l.options[k][c]
			o.weight = w.sum(&o.evidence)
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
		return // the right values share a word
	}
	for k := range l.options {
		for c, o := range l.options[k] {
			d := worth * (right.sums[k][c]/right.total - all.sums[k][c]/all.total)
			if d == 0 {
				continue
			}
			for e, x := range o.evidence {
				slope[e] += d * x
			}
		}
	}
	slope[l.order] += worth * (right.order/right.total - all.order/all.total)
	slope[l.siblings] += worth * (right.sibling/right.total - all.sibling/all.total)
}

func (l *lesson) expect() expected {
	e := expected{sums: make([][]float64, len(l.options))}
	for k := range l.options {
		e.sums[k] = make([]float64, len(l.options[k]))
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

func (l *lesson) isRight(a *assignment) bool {
	for k, c := range a.chosen {
		ok := false
		for _, r := range l.right[k] {
			ok = ok || r == c
		}
		if !ok {
			return false
		}
	}
	return true
}

// All gives each weight with the name of its evidence, in order.
func (w Weights) All() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for e, x := range w.w {
			if !yield(evidence(e).String(), x) {
				return
			}
		}
	}
}
