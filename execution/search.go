package execution

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/model"
)

// orWords lets the answer to a search that found nothing be other words.
func orWords(value map[string]any) map[string]any {
	out := map[string]any{"anyOf": []any{orEmpty(value), map[string]any{
		"type": "object", "required": []any{model.SearchWords}, "additionalProperties": false,
		"properties": map[string]any{model.SearchWords: map[string]any{"type": "string", "minLength": 1, "maxLength": 500}},
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
	answer = map[string]any{model.SearchWords: words}
	if _, err := AnswerValue(i, answer); err != nil || len(either) != 2 || len(i.Options) > 0 {
		return nil, false
	}
	value, _ := either[0].(map[string]any)
	told := slices.ContainsFunc([]string{"pattern", "enum", "const", "format"}, func(rule string) bool { return value[rule] != nil })
	if _, err := AnswerValue(i, words); told && err == nil {
		return nil, false
	}
	return answer, true
}

// nothingFound is the question of a search without matches.
func nothingFound(t *turn, i *contracts.Interrupt) {
	i.Prompt = "Nothing was found. " + i.Prompt
	search, param := t.run.SearchBefore(t.n.Node)
	if param == "" {
		return
	}
	i.ResponseSchema = orWords(i.ResponseSchema)
	// The plan's prompt has the first words in it, unless they are personal.
	if words, ok := search.Row.Edited[param].(string); ok {
		if before, _, quoted := strings.Cut(i.Prompt, ` is meant by "`); quoted {
			i.Prompt = contracts.CleanSummary(fmt.Sprintf("%s is meant by %q?", before, words))
		}
	}
}

// checkSearch holds the words of a further search to the search's own schema
// before they are taken for an answer.
func (r *Runner) checkSearch(ctx context.Context, i contracts.Interrupt, words string) error {
	if i.RunID == "" {
		return nil
	}
	s, err := r.store.LoadRun(ctx, i.RunID)
	if err != nil {
		return err
	}
	node := func(id string) (contracts.Node, bool) {
		at := slices.IndexFunc(s.Run.Plan.Nodes, func(n contracts.Node) bool { return n.NodeID == id })
		if at < 0 {
			return contracts.Node{}, false
		}
		return s.Run.Plan.Nodes[at], true
	}
	choice, _ := node(i.NodeID)
	search, param := model.SearchBefore(choice, node)
	entry, ok := r.catalogs.Catalog().Capability(search.Tool)
	if param == "" || !ok {
		return nil // it is no search, or one that is asked about when it is made
	}
	return fitsSchema(entry, map[string]any{param: words})
}
