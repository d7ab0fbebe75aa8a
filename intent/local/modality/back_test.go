package modality_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// A negation forbids what a command asks for; one that says which things are meant does not.
func TestAFilterForbidsNothing(t *testing.T) {
	t.Parallel()
	for say, negated := range map[string]bool{
		"do not list the contracts":             true,
		"please never list the contracts":       true,
		"zeig mir nicht die Verträge":           true,
		"não mostres os contratos":              true,
		"que no se muestren los contratos":      true,
		"which contracts has nobody signed":     false,
		"which contracts were not signed":       false,
		"contracts that nobody signed":          false,
		"contracts nobody signed":               false,
		"welche Verträge hat niemand geändert":  false,
		"contratos que ninguém assinou":         false,
		"contratos que nadie ha firmado":        false,
		"Verträge, die niemand unterschrieb":    false,
		"niemand hat die Verträge gesehen":      false,
		"list the contracts that nobody signed": false,
	} {
		if got := modality.StartsNegated(tokenize.Tokens(say)); got != negated {
			t.Errorf("%q is negated: %v", say, got)
		}
	}
}
