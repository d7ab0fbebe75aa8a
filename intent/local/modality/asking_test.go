package modality_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Courtesy in the middle of what is asked for is no part of it; nothing else is left
// out, and of no message everything stays.
func TestCourtesyInTheMiddleAsksForNothing(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]string{
		"öffne bitte das Tor":  "offne das tor",
		"open please the door": "open the door",
		"open the door":        "open the door",
	} {
		tokens := tokenize.Tokens(say)
		m := modality.Segmented(lexicon.Shipped(), say, tokens, nil, func(int) bool { return false }, func(int, int) bool { return false })
		if got := said(m.Asking(tokens, 0)); got != want {
			t.Errorf("%q asks for %q, want %q", say, got, want)
		}
		var none *modality.Message
		if got := none.Asking(tokens, 0); len(got) != len(tokens) {
			t.Errorf("of no message %d of %d words stay", len(got), len(tokens))
		}
	}
}

func said(tokens []tokenize.Token) string {
	var words []string
	for _, t := range tokens {
		words = append(words, t.Fold)
	}
	return strings.Join(words, " ")
}
