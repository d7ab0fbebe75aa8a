package slots

import "encoding/json"

// FlattenLists replaces lists with their items.
func FlattenLists(values []any) []any {
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

// EnumKind returns the JSON type of the members of an enum.
func EnumKind(enum []any) string {
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
