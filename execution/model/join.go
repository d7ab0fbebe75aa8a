package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Joined is what a join comes to: it fails only if every member that was wanted
// did not complete. Row gets the summary, and the error if there is one.
func (s *State) Joined(n *Node, row *Row) contracts.NodeState {
	completed, wanted := 0, 0
	members := s.graph.members(n)
	for _, m := range members {
		if n.Spec.Merge != contracts.MergeAllCompleted && m.unwanted() {
			continue
		}
		wanted++
		if m.State() == contracts.NodeCompleted {
			completed++
		}
	}
	row.Result = &Result{Summary: fmt.Sprintf("%d of %d", completed, wanted)}
	if completed == 0 && wanted > 0 {
		row.Error = &contracts.ToolError{Type: contracts.ErrUpstream, Message: fmt.Sprintf("none of %d succeeded", wanted)}
		return contracts.NodeFailed
	}
	return contracts.NodeCompleted
}

// joinFacts is a join's bundle in plan order, with what is missing and what
// failed named. It is made when it is read, not stored.
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

// SearchBefore finds the search whose matches a node offers, and the parameter
// that has its words. "" says that there is none that could be made again.
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

// ServesWrite tells whether a write takes what the node gives. A name that no
// search has found exactly is then a question, and never the nearest one.
func (s *State) ServesWrite(n *Node) bool {
	return slices.ContainsFunc(n.dependents, func(d *Node) bool {
		return d.Writes() && slices.Contains(d.Spec.DependsOn, n.ID())
	})
}

// SearchWords is the key of an answer that is no value, but what to search by.
const SearchWords = "search"

// WordsOf are the words of an answer that asks to search again.
func WordsOf(response any) (string, bool) {
	answer, _ := response.(map[string]any)
	words, ok := answer[SearchWords].(string)
	return words, ok && len(answer) == 1
}

// stepOf reads the step id out of steps.n1.facts or steps["n1[0]"].facts.
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
