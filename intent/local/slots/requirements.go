package slots

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// Requirements holds the required parameters of a schema, and groups of alternatives of which one
// must be complete.
type Requirements struct {
	All    []string
	Groups [][][]string
}

// RequirementsOf returns the requirements of a schema.
func RequirementsOf(root *contracts.SchemaView) Requirements {
	r := Requirements{All: root.Required}
	for _, choices := range root.Choices {
		var group [][]string
		for _, c := range choices {
			group = append(group, c.Required)
		}
		r.Groups = append(r.Groups, group)
	}
	return r
}

// Mentions reports whether a parameter is required or part of an alternative.
func (r Requirements) Mentions(name string) bool {
	if name == "" {
		return false
	}
	if slices.Contains(r.All, name) {
		return true
	}
	for _, group := range r.Groups {
		for _, alt := range group {
			if slices.Contains(alt, name) {
				return true
			}
		}
	}
	return false
}
