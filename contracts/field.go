package contracts

import (
	"maps"
	"strings"
)

// FieldName names a parameter, or a field of one that is an object: by itself, or by
// the JSON pointer "/parameter/field".
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

// FieldPath is what FieldName was made of: the parameter, and the fields that lead on.
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

// WithField gives parameters with one of them, or one of its fields, set; those that are
// given are not changed.
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

// Field returns a parameter, or a field of one.
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
