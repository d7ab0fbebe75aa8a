package slots_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent/local/retrieve"
	"github.com/manifold-run/manifold/intent/local/slots"
)

// A word is read as the word of a capability that means the same, and not where another
// word of the domain is rather meant, nor as a value that another one nearly is.
func TestAWordIsReadAsOneThatMeansTheSame(t *testing.T) {
	t.Parallel()
	const rooms, pupils = 0, 1
	entry := func(fold string, sort slots.EntryKind, of int32, v ...float32) slots.GlossaryEntry {
		return slots.GlossaryEntry{Fold: fold, Kind: sort, Of: map[int32]bool{of: true}, Vector: retrieve.Quantize(v)}
	}
	g := slots.NewGlossary([]slots.GlossaryEntry{
		entry("room", slots.EntryWord, rooms, 1, 0, 0), entry("pupil", slots.EntryWord, pupils, 0.6, 0.8, 0),
		entry("open", slots.EntryValue, rooms, 0, 0.1, 0.995), entry("closed", slots.EntryValue, rooms, 0, 0.3, 0.954),
		entry("blurred", slots.EntryAmbiguous, rooms, 0, -1, 0),
		{Fold: "unheard", Of: map[int32]bool{rooms: true}},
	})
	all := func(slots.GlossaryEntry) bool { return true }
	for name, c := range map[string]struct {
		capability int32
		vector     []float32
		fits       func(slots.GlossaryEntry) bool
		want       string
	}{
		"the same":                      {rooms, []float32{0.99, 0.1, 0}, all, "room"},
		"far from all":                  {rooms, []float32{0.5, -0.8, -0.3}, all, ""},
		"another capability's":          {rooms, []float32{0.75, 0.66, 0}, all, ""},
		"its own":                       {pupils, []float32{0.75, 0.66, 0}, all, "pupil"},
		"two values that are near":      {rooms, []float32{0, 0.2, 0.98}, all, ""},
		"one that cannot be told":       {rooms, []float32{0, -1, 0}, all, ""},
		"of words that fit alone":       {rooms, []float32{0, 0.2, 0.98}, func(e slots.GlossaryEntry) bool { return e.Fold == "open" }, "open"},
		"a capability that has no word": {7, []float32{1, 0, 0}, all, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, like, ok := g.Nearest(c.capability, g.Similarities(c.vector), c.fits)
			if got.Fold != c.want || ok != (c.want != "") || ok && like < 0.6 {
				t.Errorf("%q, %.2f, %t", got.Fold, like, ok)
			}
		})
	}
}
