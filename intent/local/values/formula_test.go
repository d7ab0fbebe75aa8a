package values_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// The first expression of a text is found as it is written; words, codes and numbers
// without a variable are none.
func TestAt(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]string{
		"the slope of 5x^2 - 3*x at 2": "5x^2 - 3*x", "integrate sin(x) + 2 from 0 to 1": "sin(x) + 2", "derive 3 * x**3 for me": "3 * x**3", "roots of x^2-4": "x^2-4",
		"take 2 x-rays": "", "what is 12 - 5": "", "a part-time desk": "", "from 3 to 9": "", `put "2x + 1" there`: "",
	} {
		d := values.NewDoc(say, tokenize.Tokens(say))
		got := ""
		for i := range d.Tokens {
			if raw, _, ok := values.FormulaAt(d, i, len(d.Tokens)); ok {
				got = raw
				break
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", say, got, want)
		}
	}
}
