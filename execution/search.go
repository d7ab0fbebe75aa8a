package execution

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// searchWords is the key of an answer that is no value, but what to search by.
const searchWords = "search"

// orWords lets the answer to a search that found nothing be other words.
func orWords(value map[string]any) map[string]any {
	out := map[string]any{"anyOf": []any{orEmpty(value), map[string]any{
		"type": "object", "required": []any{searchWords}, "additionalProperties": false,
		"properties": map[string]any{searchWords: map[string]any{"type": "string", "minLength": 1, "maxLength": 500}},
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
	answer = map[string]any{searchWords: words}
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

// wordsOf are the words of an answer that asks to search again.
func wordsOf(response any) (string, bool) {
	answer, _ := response.(map[string]any)
	words, ok := answer[searchWords].(string)
	return words, ok && len(answer) == 1
}

// searchBefore finds the search whose matches a node offers, and the parameter
// that has its words. "" says that there is none that could be made again.
func searchBefore(choice contracts.Node, nodes func(id string) (contracts.Node, bool)) (search contracts.Node, param string) {
	if choice.Human == nil || choice.Human.OptionsFrom == "" {
		return search, ""
	}
	for _, id := range choice.DependsOn {
		n, ok := nodes(id)
		if !ok || n.Role != contracts.RolePreSearch || len(n.Params) != 1 {
			continue
		}
		for name := range n.Params {
			return n, name
		}
	}
	return search, ""
}

func (l *loop) searchBefore(n *node) (search *node, param string) {
	spec, param := searchBefore(n.v.spec, func(id string) (contracts.Node, bool) {
		v, ok := l.graph.byID[id]
		if !ok {
			return contracts.Node{}, false
		}
		return v.spec, true
	})
	return l.nodes[spec.NodeID], param
}

// nothingFound is the question of a search without matches.
func (l *loop) nothingFound(n *node, i *contracts.Interrupt) {
	i.Prompt = "Nothing was found. " + i.Prompt
	search, param := l.searchBefore(n)
	if param == "" {
		return
	}
	i.ResponseSchema = orWords(i.ResponseSchema)
	// The plan's prompt has the first words in it, unless they are personal.
	if words, ok := search.rec.Edited[param].(string); ok {
		if before, _, quoted := strings.Cut(i.Prompt, ` is meant by "`); quoted {
			i.Prompt = contracts.CleanSummary(fmt.Sprintf("%s is meant by %q?", before, words))
		}
	}
}

// searchAgain makes the search before a choice again, by the words that were
// answered; the choice is then made among what it finds.
func (l *loop) searchAgain(n *node) bool {
	words, ok := wordsOf(n.gate.Response)
	if !ok || len(n.gate.Options) > 0 {
		return false
	}
	search, param := l.searchBefore(n)
	if param == "" || search.v.state != contracts.NodeCompleted {
		return false
	}
	edited := maps.Clone(search.v.spec.Params)
	edited[param] = words
	search.rec = NodeRecord{NodeID: search.rec.NodeID, Spec: search.rec.Spec, Edited: edited}
	n.rec = NodeRecord{NodeID: n.rec.NodeID, Spec: n.rec.Spec, State: contracts.NodePending}
	n.gate = nil
	l.graph.reopen(search.v)
	l.touch(n)
	l.again(search)
	return true
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
	search, param := searchBefore(choice, node)
	entry, ok := r.catalogs.Catalog().Capability(search.Tool)
	if param == "" || !ok {
		return nil // it is no search, or one that is asked about when it is made
	}
	return r.schemas.check(entry, map[string]any{param: words})
}
