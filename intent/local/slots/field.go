package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// input is a parameter, or a field of an object parameter, with the name from contracts.FieldName.
type input struct {
	name string
	view *contracts.SchemaView
}

// leaf returns the last segment of the name.
func (in input) leaf() string {
	path := contracts.FieldPath(in.name)
	return path[len(path)-1]
}

// Limits for fields of objects. Deeper or further fields are not read from text.
const (
	maxFieldDepth = 3
	maxFields     = 60
)

// fieldsOf returns the parameters of a schema, with objects replaced by their fields.
func fieldsOf(root *contracts.SchemaView) []input {
	var out []input
	var add func(of *contracts.SchemaView, within []string)
	add = func(of *contracts.SchemaView, within []string) {
		for i := range of.Properties {
			p := &of.Properties[i]
			path := append(slices.Clone(within), p.Name)
			if p.Type == "object" && len(p.Properties) > 0 && len(path) < maxFieldDepth && len(out)+len(p.Properties) <= maxFields {
				add(&p.SchemaView, path)
				continue
			}
			out = append(out, input{contracts.FieldName(path...), &p.SchemaView})
		}
	}
	add(root, nil)
	return out
}

// within reports whether a name is that of a field of a parameter.
func within(name, of string) bool {
	return strings.HasPrefix(name, "/") && contracts.FieldPath(name)[0] == of
}

// Nested moves field values into their objects, except fields that were asked for by name.
func Nested(values map[string]any, asked []string) map[string]any {
	out := make(map[string]any, len(values))
	for _, name := range sortedKeys(values) {
		if path := contracts.FieldPath(name); len(path) == 1 || slices.Contains(asked, name) {
			out[name] = values[name]
			continue
		}
		out = contracts.WithField(out, name, values[name])
	}
	return out
}

// NestedEvidence returns the evidence for Nested. An object's span covers all its fields, and its
// probability is the lowest of them.
func NestedEvidence(of map[string]contracts.Evidence, asked []string) map[string]contracts.Evidence {
	out := make(map[string]contracts.Evidence, len(of))
	for _, name := range sortedKeys(of) {
		ev, top := of[name], contracts.FieldPath(name)[0]
		if slices.Contains(asked, name) {
			top = name
		}
		if known, ok := out[top]; ok {
			ev.Span = [2]int{min(ev.Span[0], known.Span[0]), max(ev.Span[1], known.Span[1])}
			ev.P = min(ev.P, known.P)
		}
		out[top] = ev
	}
	return out
}
