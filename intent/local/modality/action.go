package modality

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Actions are pairs of a verb root and the stem of its object, taken from examples.
type Actions []action

type action struct{ root, object string }

// With adds a verb with each word of its object, except names.
func (d Actions) With(root string, object []tokenize.Token) Actions {
	for _, t := range object {
		if of := (action{root, t.Stem}); !t.Named() && !slices.Contains(d, of) {
			d = append(d, of)
		}
	}
	return d
}

// Done reports whether the verb occurs with one of these objects.
func (d Actions) Done(root string, object []tokenize.Token) bool {
	return slices.ContainsFunc(object, func(t tokenize.Token) bool { return slices.Contains(d, action{root, t.Stem}) })
}

// DoneTo reports whether any verb occurs with one of these objects.
func (d Actions) DoneTo(object []tokenize.Token) bool {
	return slices.ContainsFunc(object, func(t tokenize.Token) bool {
		return slices.ContainsFunc(d, func(of action) bool { return of.object == t.Stem })
	})
}
