package schema

import "slices"

// Requirements are the names that must have a value, and the groups of
// alternatives of which one must be complete.
type Requirements struct {
	All    []string
	Groups [][][]string
}

// RequirementsOf reads them from a schema.
func RequirementsOf(root *Schema) Requirements {
	r := Requirements{All: root.Required}
	for _, alternatives := range [][]Schema{root.OneOf, root.AnyOf} {
		var group [][]string
		for _, alt := range alternatives {
			if len(alt.Required) > 0 {
				group = append(group, alt.Required)
			}
		}
		if len(group) > 0 && len(group) == len(alternatives) {
			r.Groups = append(r.Groups, group)
		}
	}
	return r
}

// Mentions tells a name among them.
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
