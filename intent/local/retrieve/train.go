package retrieve

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Training moves the vector of a capability away from the examples of its nearest neighbours, with
// which it may be confused. The constants were tuned on the validation split of one public data
// set.
const (
	epochs    = 4
	rivals    = 24
	sharpness = 14
	firstRate = 0.2
	order     = 20 // seed of the example order, so that the same catalog gives the same weights
)

// train runs stochastic gradient descent over all examples.
func (s *Space) train() {
	near := s.neighbours()
	type step struct{ capability, example int }
	var steps []step
	for i, examples := range s.examples {
		for k := range examples {
			steps = append(steps, step{i, k})
		}
	}
	turns := rand.New(rand.NewPCG(order, epochs)).Perm(len(steps)) //nolint:gosec // it must be the same each time
	for epoch := range epochs {
		rate := firstRate / float32(1+epoch)
		for _, at := range turns {
			l := steps[at]
			s.learn(l.capability, near[l.capability], s.examples[l.capability][l.example].Unpack(), rate)
		}
	}
}

// learn takes one step of stochastic gradient descent on an example.
func (s *Space) learn(truth int, others []int, v []float32, rate float32) {
	shares := make([]float64, len(others)+1)
	shares[0] = sharpness * float64(dot(s.of(truth), v))
	for i, o := range others {
		shares[i+1] = sharpness * float64(dot(s.of(o), v))
	}
	top, sum := slices.Max(shares), 0.0
	for i, z := range shares {
		shares[i] = math.Exp(z - top)
		sum += shares[i]
	}
	add(s.of(truth), v, rate*float32(1-shares[0]/sum))
	for i, o := range others {
		add(s.of(o), v, -rate*float32(shares[i+1]/sum))
	}
}

// neighbours returns the nearest capabilities of each capability.
func (s *Space) neighbours() [][]int {
	type place struct {
		number   int
		likeness float32
	}
	out := make([][]int, s.Size())
	likeness := make([]float32, s.Size())
	for i := range out {
		if len(s.examples[i]) == 0 {
			continue
		}
		s.Score(s.of(i), likeness)
		kept := make([]place, 0, rivals+1)
		for k, l := range likeness {
			if k == i || len(kept) == rivals && l <= kept[rivals-1].likeness || l == 0 {
				continue
			}
			at, _ := slices.BinarySearchFunc(kept, l, func(p place, l float32) int { return cmp.Or(cmp.Compare(l, p.likeness), -1) })
			if kept = slices.Insert(kept, at, place{k, l}); len(kept) > rivals {
				kept = kept[:rivals]
			}
		}
		for _, p := range kept {
			out[i] = append(out[i], p.number)
		}
	}
	return out
}
