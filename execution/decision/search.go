package decision

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// OrWords extends a response schema so that the answer may also be a text to search for.
func OrWords(value map[string]any) map[string]any {
	whole := value
	if whole == nil {
		whole = map[string]any{} // accepts any value
	}
	out := map[string]any{"anyOf": []any{whole, map[string]any{
		"type": "object", "required": []any{runstate.SearchWords}, "additionalProperties": false,
		"properties": map[string]any{runstate.SearchWords: map[string]any{"type": "string", "minLength": 1, "maxLength": 500}},
	}}}
	for _, defs := range []string{"$defs", "definitions"} { // references are relative to the root
		if d, ok := value[defs]; ok {
			out[defs] = d
		}
	}
	return out
}

// SearchAgain turns text that answers an unsuccessful search into a request to search again. It
// reports false if the interrupt is no such question, or if the text is already a valid value of
// the parameter.
func SearchAgain(i contracts.Interrupt, words string) (answer any, ok bool) {
	either, _ := i.ResponseSchema["anyOf"].([]any)
	answer = map[string]any{runstate.SearchWords: words}
	if _, err := Value(i, answer); err != nil || len(either) != 2 || len(i.Options) > 0 {
		return nil, false
	}
	value, _ := either[0].(map[string]any)
	told := slices.ContainsFunc([]string{"pattern", "enum", "const", "format"}, func(rule string) bool { return value[rule] != nil })
	if _, err := Value(i, words); told && err == nil {
		return nil, false
	}
	return answer, true
}
