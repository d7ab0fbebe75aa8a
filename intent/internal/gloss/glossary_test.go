package gloss_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent/internal/gloss"
	"github.com/manifold-run/manifold/intent/local/retrieve"
)

// A word is read as the word of a capability that means the same, and not where another
// word of the domain is rather meant, nor as a value that another one nearly is.
func TestAWordIsReadAsOneThatMeansTheSame(t *testing.T) {
	t.Parallel()
	const rooms, pupils = 0, 1
	entry := func(fold string, sort gloss.Sort, of int32, v ...float32) gloss.Entry {
		return gloss.Entry{Fold: fold, Sort: sort, Of: map[int32]bool{of: true}, Vector: retrieve.Quantize(v)}
	}
	g := gloss.NewGlossary([]gloss.Entry{
		entry("room", gloss.Word, rooms, 1, 0, 0), entry("pupil", gloss.Word, pupils, 0.6, 0.8, 0),
		entry("open", gloss.Value, rooms, 0, 0.1, 0.995), entry("closed", gloss.Value, rooms, 0, 0.3, 0.954),
		entry("blurred", gloss.Blurred, rooms, 0, -1, 0),
		{Fold: "unheard", Of: map[int32]bool{rooms: true}},
	})
	all := func(gloss.Entry) bool { return true }
	for name, c := range map[string]struct {
		capability int32
		vector     []float32
		fits       func(gloss.Entry) bool
		want       string
	}{
		"the same":                      {rooms, []float32{0.99, 0.1, 0}, all, "room"},
		"far from all":                  {rooms, []float32{0.5, -0.8, -0.3}, all, ""},
		"another capability's":          {rooms, []float32{0.75, 0.66, 0}, all, ""},
		"its own":                       {pupils, []float32{0.75, 0.66, 0}, all, "pupil"},
		"two values that are near":      {rooms, []float32{0, 0.2, 0.98}, all, ""},
		"one that cannot be told":       {rooms, []float32{0, -1, 0}, all, ""},
		"of words that fit alone":       {rooms, []float32{0, 0.2, 0.98}, func(e gloss.Entry) bool { return e.Fold == "open" }, "open"},
		"a capability that has no word": {7, []float32{1, 0, 0}, all, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, like, ok := g.Nearest(c.capability, g.Likes(c.vector), c.fits)
			if got.Fold != c.want || ok != (c.want != "") || ok && like < 0.6 {
				t.Errorf("%q, %.2f, %t", got.Fold, like, ok)
			}
		})
	}
}
