package retrieve

import (
	"cmp"
	"math"
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
)

// train runs stochastic gradient descent over all examples.
func (s *Space) train() {
	near := s.neighbours()
	type step struct {
		capability, example int
		key                 uint64
	}
	var steps []step
	for i, examples := range s.examples {
		for k, e := range examples {
			steps = append(steps, step{i, k, e.key()})
		}
	}
	// The order depends on each example alone, so that one more leaves the others in theirs.
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.key, b.key) })
	for epoch := range epochs {
		rate := firstRate / float32(1+epoch)
		for _, l := range steps {
			s.learn(l.capability, near[l.capability], s.examples[l.capability][l.example].Unpack(), rate)
		}
	}
}

// Mix spreads a number over all bits (the finalizer of MurmurHash3).
func Mix(n uint64) uint64 {
	n = (n ^ n>>33) * 0xff51afd7ed558ccd
	n = (n ^ n>>33) * 0xc4ceb9fe1a85ec53
	return n ^ n>>33
}

// key is a hash of the vector.
func (c CompactVector) key() uint64 {
	var key uint64
	for _, n := range c.numbers {
		key = Mix(key ^ uint64(uint8(n))) //nolint:gosec // only its bits matter
	}
	return key
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
