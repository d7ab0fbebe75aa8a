package slots_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent/local/slots"
)

// A fit reads what the examples show to be a value, and leaves what they show to
// be none.
func TestFit(t *testing.T) {
	t.Parallel()
	const finder = `{"name":"locate","description":"Tells where it is.","schema":{"type":"object","properties":{"thing":{"type":"string"}},"required":["thing"]},"metadata":{"side_effect_class":"read"}}`
	entry, tools := capability(t, finder), slots.NewTools()
	for _, meant := range []bool{true, false} {
		right := func(_ string, v any) bool { return meant && v == "lantern" }
		never := func(string) bool { return false }
		lesson := tools.Example(entry, "where is it under lantern", saturday, right, never)
		fitted := tools.With(slots.Fit([]slots.Example{lesson, lesson}, slots.Prior()))
		got := slots.Compile(fitted, entry, "", nil).Answer(fitted.Read("where is it under parasol", saturday), nil).Values
		if (got["thing"] == "parasol") != meant || len(got) > 1 {
			t.Errorf("examples where it is meant (%v): read %v", meant, got)
		}
	}
}
