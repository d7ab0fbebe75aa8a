package slots

import (
	"cmp"
	"math"
	"slices"
)

// Option is one candidate value of a slot: the tokens that it covers, the evidence for it,
// and its weight relative to leaving the slot empty.
type Option struct {
	First, Last int
	Value       any
	Evidence    []float64
	Weight      float64
}

// Assignment is an assignment problem: it assigns to each slot one candidate value or none, so
// that no two values cover the same token. Values in slot order are preferred.
type Assignment struct {
	Options [][]Option
	// Order and Siblings are the features for two values in slot order; Siblings is used instead
	// of Order if Alike reports that two slots differ only in their position.
	Order, Siblings int
	Alike           func(a, b int) bool
	Weights         []float64
	// Ways counts the assignments that were enumerated.
	Ways int
}

// WeightedSum is the dot product of weights and evidence.
func WeightedSum(weights, evidence []float64) float64 {
	out := 0.0
	for e, x := range evidence {
		out += x * weights[e]
	}
	return out
}

// LikelyOption is the most probable value of a slot, with its marginal probabilities.
type LikelyOption struct {
	Option
	P   float64
	Any float64 // probability that the slot has any value
	// Here is the probability that the slot has this value or one that overlaps it: that "Paris"
	// is meant in "Paris, France", with the country or without.
	Here float64
}

// minOptionWeight is the weight at or below which an option is pruned.
const minOptionWeight = -3

// BestOptions prunes the candidates of one of n slots to those with the highest weight.
func BestOptions(options []Option, n int) []Option {
	options = slices.DeleteFunc(options, func(o Option) bool { return o.Weight <= minOptionWeight })
	slices.SortStableFunc(options, func(a, b Option) int { return cmp.Compare(b.Weight, a.Weight) })
	return options[:min(len(options), maxOptions(n))]
}

// assignment is a partial assignment: the option index per slot, -1 for none.
type assignment struct {
	chosen []int
	weight float64
	// inOrder is the number of value pairs in slot order minus the number of pairs out of order;
	// inSiblings is the same for sibling slots.
	inOrder, inSiblings float64
}

// each visits every assignment in which no two values overlap. choices limits the options per slot
// so that there are at most MaxAssignments.
func (z *Assignment) each(visit func(a *assignment)) {
	a := &assignment{chosen: make([]int, len(z.Options))}
	z.from(0, a, visit)
}

func (z *Assignment) from(k int, a *assignment, visit func(a *assignment)) {
	if k == len(z.Options) {
		z.Ways++
		visit(a)
		return
	}
	before := *a
	a.chosen[k] = -1
	z.from(k+1, a, visit)
	for c, o := range z.Options[k] {
		order, siblings, ok := z.compatible(k, a, o)
		if !ok {
			continue
		}
		a.chosen[k] = c
		a.inOrder, a.inSiblings = before.inOrder+order, before.inSiblings+siblings
		a.weight = before.weight + o.Weight + order*z.Weights[z.Order] + siblings*z.Weights[z.Siblings]
		z.from(k+1, a, visit)
		a.weight, a.inOrder, a.inSiblings = before.weight, before.inOrder, before.inSiblings
	}
	a.chosen[k] = -1
}

// compatible reports whether an option overlaps none of those chosen before, and returns the
// change of the order features.
func (z *Assignment) compatible(k int, a *assignment, o Option) (order, siblings float64, ok bool) {
	for q, c := range a.chosen[:k] {
		if c < 0 {
			continue
		}
		other := z.Options[q][c]
		if o.First <= other.Last && other.First <= o.Last {
			return 0, 0, false
		}
		sign := 1.0
		if o.First < other.First {
			sign = -1
		}
		if z.Alike(q, k) {
			siblings += sign
		} else {
			order += sign
		}
	}
	return order, siblings, true
}

// Marginals returns the most probable value per slot with its marginal probabilities, summed over
// all assignments.
func (z *Assignment) Marginals() []LikelyOption {
	sums := make([][]float64, len(z.Options))
	for k := range z.Options {
		sums[k] = make([]float64, len(z.Options[k]))
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
	out := make([]LikelyOption, len(z.Options))
	for k := range z.Options {
		for c, sum := range sums[k] {
			p := sum / total
			out[k].Any += p
			if p > out[k].P {
				out[k].Option, out[k].P = z.Options[k][c], p
			}
		}
		for c, sum := range sums[k] {
			if o := z.Options[k][c]; o.First <= out[k].Last && out[k].First <= o.Last {
				out[k].Here += sum / total
			}
		}
	}
	return out
}

// MaxAssignments bounds how many assignments are enumerated.
const MaxAssignments = 5000

// maxOptions returns the maximum number of options per slot for n slots.
func maxOptions(n int) int {
	most := 8
	for most > 1 && math.Pow(float64(most+1), float64(n)) > MaxAssignments {
		most--
	}
	return most
}
