package contracts

import (
	"maps"
	"strings"
)

// FieldName returns the name of a parameter, or of a field of an object parameter as the JSON
// pointer "/parameter/field".
func FieldName(path ...string) string {
	if len(path) == 1 {
		return path[0]
	}
	var b strings.Builder
	for _, step := range path {
		b.WriteString("/" + EscapeToken(step))
	}
	return b.String()
}

// FieldPath is the inverse of FieldName: it returns the parameter and the fields below it.
func FieldPath(name string) []string {
	if !strings.HasPrefix(name, "/") || strings.Count(name, "/") < 2 {
		return []string{name}
	}
	path := strings.Split(name[1:], "/")
	for i, step := range path {
		path[i] = UnescapeToken(step)
	}
	return path
}

// WithField returns a copy of params in which a parameter, or one of its fields, is set. It does
// not modify params.
func WithField(params map[string]any, name string, value any) map[string]any {
	out := maps.Clone(params)
	if out == nil {
		out = map[string]any{}
	}
	path := FieldPath(name)
	if len(path) == 1 {
		out[name] = value
		return out
	}
	inner, _ := out[path[0]].(map[string]any)
	out[path[0]] = WithField(inner, FieldName(path[1:]...), value)
	return out
}

// Field returns the value of a parameter or of one of its fields, and whether it is present.
func Field(params map[string]any, name string) (value any, given bool) {
	value = params
	for _, step := range FieldPath(name) {
		object, _ := value.(map[string]any)
		if value, given = object[step]; !given {
			return nil, false
		}
	}
	return value, true
}
