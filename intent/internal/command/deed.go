package command

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Deeds are verbs, each with the stem of a word for what it is done to, as examples have them.
type Deeds []deed

type deed struct{ root, object string }

// With adds a verb with the words for what it is done to; names are none.
func (d Deeds) With(root string, object []tokenize.Token) Deeds {
	for _, t := range object {
		if of := (deed{root, t.Stem}); !t.Named() && !slices.Contains(d, of) {
			d = append(d, of)
		}
	}
	return d
}

// Done tells whether a verb is done to what the words behind it name.
func (d Deeds) Done(root string, object []tokenize.Token) bool {
	return slices.ContainsFunc(object, func(t tokenize.Token) bool { return slices.Contains(d, deed{root, t.Stem}) })
}

// DoneTo tells whether some verb is done to what the words name.
func (d Deeds) DoneTo(object []tokenize.Token) bool {
	return slices.ContainsFunc(object, func(t tokenize.Token) bool {
		return slices.ContainsFunc(d, func(of deed) bool { return of.object == t.Stem })
	})
}
