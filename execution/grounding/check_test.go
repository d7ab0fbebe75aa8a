package grounding_test

import (
	"testing"

	"github.com/manifold-run/manifold/execution/grounding"
)

func TestTrueSentencesStay(t *testing.T) {
	t.Parallel()
	count := 0
	for name, w := range worlds() {
		g := grounding.New(w.sources)
		for _, s := range w.holds {
			count++
			got, err := g.Check(s)
			if err != nil {
				t.Errorf("%s: %q: %v", name, s, err)
			} else if len(got.Sources) == 0 {
				t.Errorf("%s: %q rests on nothing", name, s)
			}
		}
	}
	if count < 95 {
		t.Errorf("only %d sentences were tried", count)
	}
}
