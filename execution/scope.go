package execution

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/expr"
)

// scope gives the values that a node's expressions may read: the results of
// earlier steps, the item it is bound to, and who asked.
func (l *loop) scope(n *node, refs []string) expr.Scope {
	steps := map[string]any{}
	for _, ref := range refs {
		id := stepOf(ref)
		if other, ok := l.nodes[id]; ok && other.v.state.Terminal() {
			steps[id] = l.stepValue(other)
		}
	}
	s := expr.Scope{"steps": steps, "context": l.contextValue()}
	if n.v.spec.Item != nil {
		s["item"] = n.v.spec.Item
	}
	return s
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

func (l *loop) stepValue(n *node) map[string]any {
	v := map[string]any{"state": string(n.v.state), "ok": n.v.state == contracts.NodeCompleted}
	if r := n.rec.Result; r != nil {
		v["summary"], v["facts"], v["artifacts"] = r.Summary, orEmpty(r.Facts), artifactValues(r.Artifacts)
	}
	if n.v.joins() {
		v["facts"] = joinFacts(l.graph, n.v, func(id string) NodeRecord { return l.nodes[id].rec })
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

func (l *loop) contextValue() map[string]any {
	owner := l.stored.Plan.Owner
	return map[string]any{
		"run_id":     l.stored.ID,
		"session_id": l.stored.SessionID,
		"principal":  principalValue(owner),
	}
}

func principalValue(p contracts.Principal) map[string]any {
	roles := make([]any, len(p.Roles))
	for i, r := range p.Roles {
		roles[i] = r
	}
	return map[string]any{"id": p.ID, "roles": roles, "on_behalf_of": p.OnBehalfOf}
}

// callScope is what param_map, verify and reconcile of one call may read.
func (l *loop) callScope(n *node, key string) expr.Scope {
	context := l.contextValue()
	context["idempotency_key"] = key
	s := expr.Scope{"params": asAny(n.rec.Params), "context": context}
	if r := n.rec.Result; r != nil {
		s["result"] = map[string]any{
			"summary": r.Summary, "facts": asAny(orEmpty(r.Facts)), "artifacts": artifactValues(r.Artifacts),
		}
	}
	return s
}

// withLabels adds, for every value that was chosen from a list, the label that
// it was chosen by: an approver must not have to know ids by heart.
func (l *loop) withLabels(reads []expr.Read) []expr.Read {
	for _, r := range reads {
		choice, isChoice := strings.CutSuffix(r.Path, ".facts.value")
		n, ok := l.nodes[stepOf(r.Path)]
		if !isChoice || !ok || n.rec.Result == nil {
			continue
		}
		if label, ok := n.rec.Result.Facts["label"]; ok {
			reads = append(reads, expr.Read{Path: choice + ".facts.label", Value: label})
		}
	}
	return reads
}

// evidence turns the reads of an action's expressions into what its approver
// is shown and its hash covers.
func evidence(reads []expr.Read) ([]contracts.EvidenceItem, error) {
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

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func asAny(m map[string]any) any { return orEmpty(m) }
