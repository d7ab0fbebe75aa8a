package local

import "testing"

// A site whose own fit hears less of what is meant for it keeps the weights that
// come with the program, and no fit turns what supports a reading against it.
func TestAFitThatHearsLessIsDropped(t *testing.T) {
	t.Parallel()
	before := shipped().shown
	var seen []Observation
	for i := range 80 {
		o := Observation{Right: true, Weight: 1}
		for s := range o.signals {
			o.signals[s] = 0.9
		}
		if i%4 == 0 { // compositions of requests look the same, and are for nobody
			o.Right, o.Nobody, o.Weight = false, true, 8
		}
		seen = append(seen, o)
	}
	if netCorrect(&before, seen) < 30 {
		t.Fatalf("the shipped weights are worth only %v of 40", netCorrect(&before, seen))
	}
	if w, own := fitOwn(seen, before); own || w != before {
		t.Errorf("the fit is kept, though it is worth %v", netCorrect(&w, seen))
	}
	w := fit(seen, weights{}, fitHold, allSignals())
	for _, s := range []int{signalTyped, signalMargin, signalFirst} {
		if w.of[s] < 0 {
			t.Errorf("%s speaks against a reading: %v", signalNames()[s], w.of[s])
		}
	}
}
