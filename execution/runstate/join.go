package runstate

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// Joined returns the final state of a join: it fails only if no member that was to run completed.
// It sets the summary, and the error if there is one, in row.
func (s *State) Joined(n *Node, row *Row) contracts.NodeState {
	wanted := 0
	var found []string
	completed := 0
	for _, m := range s.graph.members(n) {
		if n.Spec.Merge != contracts.MergeAllCompleted && m.SkippedWithoutFailure() {
			continue
		}
		wanted++
		if !m.satisfied() {
			continue
		}
		completed++
		if r := m.Row.Result; r != nil && r.Summary != "" {
			found = append(found, r.Summary)
		}
	}
	row.Result = &Result{Summary: summaryOf(found, completed, wanted)}
	if completed == 0 && wanted > 0 {
		row.Error = &contracts.ToolError{Type: contracts.ErrUpstream, Message: fmt.Sprintf("none of %d succeeded", wanted)}
		return contracts.NodeFailed
	}
	return contracts.NodeCompleted
}

// summaryOf joins the summaries of a join's members up to the length of a summary, and counts the
// rest. It says if some members have not completed.
func summaryOf(found []string, completed, wanted int) string {
	text := fmt.Sprintf("%d of %d", completed, wanted)
	if len(found) == 0 {
		return text
	}
	if text += ": "; completed == wanted {
		text = ""
	}
	for i, next := range found {
		rest, sep := "", "; "
		if i == 0 {
			sep = ""
		}
		if left := len(found) - i - 1; left > 0 {
			rest = fmt.Sprintf("; and %d more", left)
		}
		if length(text+sep+next+rest) <= contracts.MaxSummaryChars {
			text += sep + next
			continue
		}
		if i == 0 { // not even the first fits
			return contracts.CleanSummary(text + next)
		}
		return text + fmt.Sprintf("; and %d more", len(found)-i)
	}
	return text
}

func length(text string) int { return utf8.RuneCountInString(text) }

// joinFacts returns a join's bundle in plan order, with the missing and the failed members. It is
// computed on each read, not stored.
func joinFacts(s *State, n *Node) map[string]any {
	items, missing, failed := []any{}, []any{}, []any{}
	for _, m := range s.graph.members(n) {
		id, row := m.ID(), m.Row
		switch m.State() {
		case contracts.NodeCompleted:
		case contracts.NodeFailed:
			failed = append(failed, id)
		default:
			missing = append(missing, id)
		}
		item := map[string]any{"node_id": id, "ok": m.State() == contracts.NodeCompleted, "facts": map[string]any{}, "summary": ""}
		if row.Result != nil {
			item["summary"], item["facts"] = row.Result.Summary, orEmpty(row.Result.Facts)
		}
		if row.Error != nil {
			item["summary"] = row.Error.Message
		}
		items = append(items, item)
	}
	return map[string]any{"items": items, "missing": missing, "failed": failed}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// SearchBefore returns the search whose matches a choice offers, and the parameter with its text.
// param is "" if there is no search that can be repeated.
func SearchBefore(choice contracts.Node, nodes func(id string) (contracts.Node, bool)) (search contracts.Node, param string) {
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

// SearchBefore is SearchBefore among the nodes of the run.
func (s *State) SearchBefore(choice *Node) (search *Node, param string) {
	spec, param := SearchBefore(choice.Spec, func(id string) (contracts.Node, bool) {
		n, ok := s.graph.byID[id]
		if !ok {
			return contracts.Node{}, false
		}
		return n.Spec, true
	})
	return s.graph.byID[spec.NodeID], param
}

// columns adds the facts of a join's members by name, in plan order, so that the results of a list
// can be read like those of one call.
func columns(s *State, n *Node, bundle map[string]any) map[string]any {
	for _, m := range s.graph.members(n) {
		if m.Row.Result == nil || m.State() != contracts.NodeCompleted {
			continue
		}
		for name, value := range m.Row.Result.Facts {
			switch name {
			case "items", "missing", "failed":
			default:
				values, _ := bundle[name].(expr.Column)
				bundle[name] = append(values, value)
			}
		}
	}
	return bundle
}

// ServesWrite reports whether a write uses the result of the node. Then a name that no search has
// found exactly is asked about, instead of taking the nearest match.
func (s *State) ServesWrite(n *Node) bool {
	return slices.ContainsFunc(n.dependents, func(d *Node) bool {
		return d.Writes() && slices.Contains(d.Spec.DependsOn, n.ID())
	})
}

// SearchPrompt returns the question of a choice, with the text that was searched for last, and
// reports whether another search is possible. The prompt says if nothing was found. If that is the
// requester, whom the domain does not know, it asks who is meant.
func SearchPrompt(s *State, choice *Node, nothing bool) (prompt string, again bool) {
	human := choice.Spec.Human
	search, param := s.SearchBefore(choice)
	prompt = human.Prompt
	if param != "" {
		// The plan's prompt contains the first text, unless it is personal.
		before, _, quoted := strings.Cut(prompt, ` is meant by "`)
		if words, ok := search.Row.Edited[param].(string); ok && quoted {
			prompt = contracts.CleanSummary(fmt.Sprintf("%s is meant by %q?", before, words))
		}
		if r := search.Row.Result; nothing && human.Ask != "" && r != nil && r.Facts[contracts.AskerUnknown] == true {
			return human.Ask, true
		}
	}
	if nothing {
		prompt = "Nothing was found. " + prompt
	}
	return prompt, param != ""
}

// FoundNothing returns the message of a look-up that found nothing: its own summary if it has one.
func FoundNothing(s *State, choice *Node) string {
	for _, id := range choice.Spec.DependsOn {
		if n := s.graph.byID[id]; n != nil && n.Spec.Role == contracts.RolePreSearch && n.Row.Result != nil && n.Row.Result.Summary != "" {
			return n.Row.Result.Summary
		}
	}
	return "nothing was found"
}

// SearchWords is the key of an answer that is not a value but a text to search for.
const SearchWords = "search"

// WordsOf returns the text of an answer that asks to search again.
func WordsOf(response any) (string, bool) {
	answer, _ := response.(map[string]any)
	words, ok := answer[SearchWords].(string)
	return words, ok && len(answer) == 1
}

// stepOf returns the step id of steps.n1.facts or steps["n1[0]"].facts.
func stepOf(ref string) string {
	rest, ok := strings.CutPrefix(ref, "steps")
	if !ok || rest == "" {
		return ""
	}
	if quoted, ok := strings.CutPrefix(rest, `["`); ok {
		id, _, _ := strings.Cut(quoted, `"]`)
		return id
	}
	id := strings.TrimPrefix(rest, ".")
	if i := strings.IndexAny(id, ".["); i >= 0 {
		id = id[:i]
	}
	return id
}
