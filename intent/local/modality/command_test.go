package modality_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// A deed is a verb, in any of its forms, with what it is done to.
func TestDeedsOfExamples(t *testing.T) {
	t.Parallel()
	lexicon := tokenize.NewLexicon()
	read := func(say string) (string, []tokenize.Token) {
		tokens := tokenize.Tokens(say)
		return modality.CommandRoot(lexicon, tokens), modality.CommandObject(lexicon, tokens)
	}
	var deeds modality.Actions
	for _, say := range []string{"rename the harbour", "please cancel a crossing of Ida Noor", "cambia el puerto de Ida"} {
		deeds = deeds.With(read(say))
	}
	for say, want := range map[string]struct{ done, doneTo bool }{
		"rename the harbour \"North\"": {true, true},
		"cámbiale el puerto":           {true, true},
		"please cancel my crossing":    {true, true},
		"cancel the harbour":           {false, true},
		"rename the lighthouse":        {false, false},
		"crossings":                    {false, false},
	} {
		root, object := read(say)
		if done, doneTo := deeds.Done(root, object), deeds.DoneTo(object); done != want.done || doneTo != want.doneTo {
			t.Errorf("%q: done %v, done to %v, want %+v", say, done, doneTo, want)
		}
	}
}
