package decision

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// OrWords lets the answer to a search that found nothing be other words.
func OrWords(value map[string]any) map[string]any {
	whole := value
	if whole == nil {
		whole = map[string]any{} // anything goes
	}
	out := map[string]any{"anyOf": []any{whole, map[string]any{
		"type": "object", "required": []any{runstate.SearchWords}, "additionalProperties": false,
		"properties": map[string]any{runstate.SearchWords: map[string]any{"type": "string", "minLength": 1, "maxLength": 500}},
	}}}
	for _, defs := range []string{"$defs", "definitions"} { // references go by the root
		if d, ok := value[defs]; ok {
			out[defs] = d
		}
	}
	return out
}

// SearchAgain makes an answer of the words of a person whom a search that found
// nothing has asked: to search again by them. False says that the question is
// another one, or that the words are a value of the parameter already.
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
