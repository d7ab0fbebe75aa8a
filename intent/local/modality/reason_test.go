package modality_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// A reason begins with a word such as "because" of its own language: the French one is a
// noun in English, and behind "since" may stand where something begins.
func TestWhereAReasonBegins(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]bool{
		"close it because the lamp is broken":       true,
		"close it since the lamp is broken":         true,
		"what changed in the lamp since v7":         false,
		"what changed in the lamp since 12, please": false,
		"show any red car that is at the harbour":   false,
		"close it, the car is at the harbour":       false,
		"ferme la porte car la lampe est cassée":    true,
	} {
		m := modality.Segmented(lexicon.Shipped(), say, tokenize.Tokens(say), nil, func(int) bool { return false }, func(int, int) bool { return false })
		got := false
		for _, s := range m.Segments {
			got = got || s.Kind == modality.Reason
		}
		if got != want {
			t.Errorf("%q gives a reason: %t, want %t", say, got, want)
		}
	}
}
