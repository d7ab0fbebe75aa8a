package grounding_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/execution/grounding"
)

// FuzzCheck checks for any sentence that the result is plain text without a link.
func FuzzCheck(f *testing.F) {
	all := worlds()
	grounds := map[string]*grounding.Ground{}
	for name, w := range all {
		grounds[name] = grounding.New(w.sources)
		for _, s := range w.holds {
			f.Add(s, s)
		}
	}
	f.Fuzz(func(t *testing.T, sentence, found string) {
		g := grounding.New([]grounding.Source{{ID: "n1", Kind: "k", Texts: []string{found}, Values: []any{map[string]any{"note": found, "list": []any{found}}}}})
		for _, g := range append([]*grounding.Ground{g}, grounds["loads"], grounds["accounts"]) {
			got, err := g.Check(sentence)
			if err == nil && (strings.Contains(got.Text, "](") || strings.Contains(got.Text, "<a")) {
				t.Errorf("%q stays as %q", sentence, got.Text)
			}
		}
	})
}
