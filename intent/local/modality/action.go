package modality

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Actions are verbs with the stems of their objects, as examples have them.
type Actions []action

type action struct{ root, object string }

// With adds a verb with the words for what it is done to; names are none.
func (d Actions) With(root string, object []tokenize.Token) Actions {
	for _, t := range object {
		if of := (action{root, t.Stem}); !t.Named() && !slices.Contains(d, of) {
			d = append(d, of)
		}
	}
	return d
}

// Done reports whether a verb is done to what the words behind it name.
func (d Actions) Done(root string, object []tokenize.Token) bool {
	return slices.ContainsFunc(object, func(t tokenize.Token) bool { return slices.Contains(d, action{root, t.Stem}) })
}

// DoneTo reports whether some verb is done to what the words name.
func (d Actions) DoneTo(object []tokenize.Token) bool {
	return slices.ContainsFunc(object, func(t tokenize.Token) bool {
		return slices.ContainsFunc(d, func(of action) bool { return of.object == t.Stem })
	})
}
