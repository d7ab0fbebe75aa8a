package slot

import "testing"

// However many values each parameter could have, the search looks at no more
// assignments than are allowed: work is counted, not time.
func TestTheSearchOverAssignmentsIsBounded(t *testing.T) {
	t.Parallel()
	for n := 1; n <= mostFree; n++ {
		z := &puzzle{weights: &weights{}, order: evOrder, siblings: evSiblings}
		for k := range n {
			var options []option
			for c := range 40 {
				at := 100*k + c // no two share a word, so nothing is left out for that
				options = append(options, option{first: at, last: at, weight: float64(c)})
			}
			z.params, z.options = append(z.params, &param{}), append(z.options, best(options, choices(n)))
		}
		z.marginals()
		if z.ways > mostWays || n >= 4 && z.ways < mostWays/10 {
			t.Errorf("%d parameters: %d assignments, want at most %d and not much less", n, z.ways, mostWays)
		}
	}
}
