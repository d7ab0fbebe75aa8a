// Package schema reads of a capability's schema and of its descriptions what helps to
// find values in words.
package schema

import "encoding/json"

// Flatten opens lists, which are examples of their items.
func Flatten(values []any) []any {
	var out []any
	for _, v := range values {
		if list, ok := v.([]any); ok {
			out = append(out, list...)
			continue
		}
		out = append(out, v)
	}
	return out
}

// KindOf gives the type of the values that a list of options has.
func KindOf(enum []any) string {
	if len(enum) == 0 {
		return "string"
	}
	switch enum[0].(type) {
	case float64, int, json.Number:
		return "number"
	case bool:
		return "boolean"
	}
	return "string"
}
