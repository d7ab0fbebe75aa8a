package slots

import "testing"

// However many values each place could have, the search looks at no more assignments than
// are allowed: work is counted, not time.
func TestTheSearchOverAssignmentsIsBounded(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 6; n++ {
		z := &Assignment{Weights: make([]float64, 2), Siblings: 1, Alike: func(a, b int) bool { return a == b }}
		for k := range n {
			var options []Option
			for c := range 40 {
				at := 100*k + c // no two share a word, so nothing is left out for that
				options = append(options, Option{First: at, Last: at, Weight: float64(c)})
			}
			z.Options = append(z.Options, BestOptions(options, n))
		}
		z.Marginals()
		if z.Ways > MaxAssignments || n >= 4 && z.Ways < MaxAssignments/10 {
			t.Errorf("%d places: %d assignments, want at most %d and not much less", n, z.Ways, MaxAssignments)
		}
	}
}
