package runstate

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// Scope returns the values that a node's expressions may use: the results of earlier steps, its
// item, its round, and the requester. It returns an error if the limit of a budget cannot be
// computed.
func (s *State) Scope(n *Node, refs []string) (expr.Scope, error) {
	return s.ScopeOf(Reader{Node: n, Frame: n.Spec.Frame}, refs)
}

func stepValue(s *State, n *Node) map[string]any {
	v := map[string]any{"state": string(n.State()), "ok": n.State() == contracts.NodeCompleted}
	if n.InWorkflow() { // a skipped step has all members, and they are empty
		v["summary"], v["facts"], v["artifacts"] = "", map[string]any{}, map[string]any{}
	}
	if r := n.Row.Result; r != nil {
		v["summary"], v["facts"], v["artifacts"] = r.Summary, orEmpty(r.Facts), artifactValues(r.Artifacts)
	}
	if n.IsJoin() && n.State() != contracts.NodeSkipped {
		bundle := joinFacts(s, n)
		if s.Run.Format != Format1 { // approvals of that format were given without them
			bundle = columns(s, n, bundle)
		}
		v["facts"] = bundle
	}
	if e := n.Row.Error; e != nil && n.InWorkflow() {
		v["error"] = map[string]any{"type": e.Type, "message": e.Message}
	}
	return v
}

func artifactValues(refs contracts.ArtifactRefs) map[string]any {
	out := make(map[string]any, len(refs))
	for name, ref := range refs {
		out[name] = map[string]any{"$artifact": ref}
	}
	return out
}

func contextValue(s *State) map[string]any {
	return map[string]any{
		"run_id":     s.Run.ID,
		"session_id": s.Run.SessionID,
		"principal":  principalValue(s.Run.Plan.Owner),
	}
}

func principalValue(p contracts.Principal) map[string]any {
	roles := make([]any, len(p.Roles))
	for i, r := range p.Roles {
		roles[i] = r
	}
	return map[string]any{"id": p.ID, "roles": roles, "on_behalf_of": p.OnBehalfOf}
}

// CallScope returns the values that param_map, verify and reconcile of a call may use.
func (s *State) CallScope(row *Row) expr.Scope {
	context := contextValue(s)
	context["idempotency_key"] = row.Key(s.Run.ID)
	scope := expr.Scope{"params": any(orEmpty(row.Params)), "context": context}
	if r := row.Result; r != nil {
		scope["result"] = map[string]any{
			"summary": r.Summary, "facts": any(orEmpty(r.Facts)), "artifacts": artifactValues(r.Artifacts),
		}
	}
	return scope
}

// WithLabels adds the label of every value that was chosen from a list, so that an approver need
// not know ids.
func (s *State) WithLabels(of *Node, reads []expr.Read) []expr.Read {
	for _, r := range reads {
		choice, isChoice := strings.CutSuffix(r.Path, ".facts.value")
		n := s.LatestInstance(StepID(of.Spec.Frame, stepOf(r.Path)))
		if !isChoice || n == nil || n.Row.Result == nil {
			continue
		}
		if label, ok := n.Row.Result.Facts["label"]; ok {
			reads = append(reads, expr.Read{Path: choice + ".facts.label", Value: label})
		}
	}
	return reads
}

// Evidence returns the values that the expressions of an action have read. Its approver sees them
// and its hash covers them. They name the instances that were read.
func (s *State) Evidence(of *Node, reads []expr.Read) ([]contracts.EvidenceItem, error) {
	reads = slices.Clone(reads)
	slices.SortStableFunc(reads, func(a, b expr.Read) int { return strings.Compare(a.Path, b.Path) })
	reads = slices.CompactFunc(reads, func(a, b expr.Read) bool { return a.Path == b.Path })
	items := make([]contracts.EvidenceItem, 0, len(reads))
	size := 0
	for _, r := range reads {
		id := stepOf(r.Path)
		if id == "" {
			continue
		}
		if n := s.LatestInstance(StepID(of.Spec.Frame, id)); n != nil {
			id = n.ID()
		}
		body, err := contracts.Canonical(r.Value)
		if err != nil {
			return nil, err
		}
		value := r.Value
		if size += len(body); size > contracts.MaxEvidenceBytes {
			value = map[string]any{"sha256": contracts.HashBytes(body)}
		}
		items = append(items, contracts.EvidenceItem{NodeID: id, Path: r.Path, Value: value})
	}
	return items, nil
}
