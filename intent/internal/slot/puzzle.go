package slot

import "math"

// option is one value that a parameter may take, with the evidence for it and
// its weight against leaving the parameter empty.
type option struct {
	first, last int
	value       any
	evidence    [evCount]float64
	weight      float64
}

// puzzle asks which of their values the open parameters have: no two on the same
// words, rather in the order of the schema.
type puzzle struct {
	params  []*param
	options [][]option
	// order and siblings are the evidence that two values come in the order of
	// their parameters.
	order, siblings evidence
	weights         *weights
	ways            int // assignments that were looked at
}

// likely is the most probable value of a parameter.
type likely struct {
	option
	p   float64
	any float64 // that the parameter has a value at all
	// here is that it has this value or another one on some of its words: that
	// "Paris" is meant in "Paris, France", whether with the country or not.
	here float64
}

// assignment is what is chosen for each parameter: the number of an option, or
// -1 for none.
type assignment struct {
	chosen []int
	weight float64
	// inOrder counts pairs in the order of the schema less those against it,
	// inSiblings the same of siblings.
	inOrder, inSiblings float64
}

// each visits every assignment in which no two values share a word. There are at
// most mostWays of them, for no parameter has more options than choices allows.
func (z *puzzle) each(visit func(a *assignment)) {
	a := &assignment{chosen: make([]int, len(z.params))}
	z.from(0, a, visit)
}

func (z *puzzle) from(k int, a *assignment, visit func(a *assignment)) {
	if k == len(z.params) {
		z.ways++
		visit(a)
		return
	}
	before := *a
	a.chosen[k] = -1
	z.from(k+1, a, visit)
	for c, o := range z.options[k] {
		order, siblings, ok := z.beside(k, a, o)
		if !ok {
			continue
		}
		a.chosen[k] = c
		a.inOrder, a.inSiblings = before.inOrder+order, before.inSiblings+siblings
		a.weight = before.weight + o.weight + order*z.weights[z.order] + siblings*z.weights[z.siblings]
		z.from(k+1, a, visit)
		a.weight, a.inOrder, a.inSiblings = before.weight, before.inOrder, before.inSiblings
	}
	a.chosen[k] = -1
}

// beside tells whether a value can stand beside those chosen before, and how
// they are ordered.
func (z *puzzle) beside(k int, a *assignment, o option) (order, siblings float64, ok bool) {
	for q, c := range a.chosen[:k] {
		if c < 0 {
			continue
		}
		other := z.options[q][c]
		if o.first <= other.last && other.first <= o.last {
			return 0, 0, false
		}
		sign := 1.0
		if o.first < other.first {
			sign = -1
		}
		if z.params[q].sibling(z.params[k]) {
			siblings += sign
		} else {
			order += sign
		}
	}
	return order, siblings, true
}

// marginals adds up over all assignments how probable each value is.
func (z *puzzle) marginals() []likely {
	sums := make([][]float64, len(z.params))
	for k := range z.params {
		sums[k] = make([]float64, len(z.options[k]))
	}
	var total float64
	z.each(func(a *assignment) {
		e := math.Exp(a.weight)
		total += e
		for k, c := range a.chosen {
			if c >= 0 {
				sums[k][c] += e
			}
		}
	})
	out := make([]likely, len(z.params))
	for k := range z.params {
		for c, sum := range sums[k] {
			p := sum / total
			out[k].any += p
			if p > out[k].p {
				out[k].option, out[k].p = z.options[k][c], p
			}
		}
		for c, sum := range sums[k] {
			if o := z.options[k][c]; o.first <= out[k].last && out[k].first <= o.last {
				out[k].here += sum / total
			}
		}
	}
	return out
}

// mostWays bounds how many assignments are looked at.
const mostWays = 5000

// choices is how many options are kept for each of n parameters.
func choices(n int) int {
	most := 8
	for most > 1 && math.Pow(float64(most+1), float64(n)) > mostWays {
		most--
	}
	return most
}
