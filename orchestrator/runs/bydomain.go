package runs

import (
	"context"
	"maps"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// ByDomain returns the state of a run by domain.
func (r *Runs) ByDomain(ctx context.Context, who access.Principal, runID string) (contracts.DomainState, error) {
	view, err := r.Read(ctx, who, runID)
	if err != nil {
		return contracts.DomainState{}, err
	}
	return byDomain(view), nil
}

// byDomain aggregates the nodes of a run into the state of each domain.
func byDomain(v contracts.RunView) contracts.DomainState {
	out := contracts.DomainState{
		RunID: v.RunID, State: v.State,
		Facts: map[string]map[string]any{}, Artifacts: map[string]contracts.ArtifactRefs{}, Debug: map[string][]contracts.StepDebug{},
	}
	stale := superseded(v)
	for _, n := range planOrder(v) {
		domain, _, named := strings.Cut(n.Tool, ".")
		if !named || n.ForEach != nil { // its copies are listed instead
			continue
		}
		out.Debug[domain] = append(out.Debug[domain], debugOf(n))
		if stale[n.NodeID] || n.State != contracts.NodeCompleted {
			continue
		}
		if out.Facts[domain] == nil {
			out.Facts[domain], out.Artifacts[domain] = map[string]any{}, contracts.ArtifactRefs{}
		}
		maps.Copy(out.Facts[domain], n.Facts)
		maps.Copy(out.Artifacts[domain], n.Artifacts)
	}
	return out
}

// planOrder returns the nodes in the order of the plan; an appended node follows the node that it
// was appended for.
func planOrder(v contracts.RunView) []*contracts.NodeView {
	appended := map[string][]*contracts.NodeView{}
	var planned []*contracts.NodeView
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Round != nil || n.Item != nil || n.CompensatesNode != "" {
			appended[n.ForNode] = append(appended[n.ForNode], n)
			continue
		}
		planned = append(planned, n)
	}
	var out []*contracts.NodeView
	var add func(n *contracts.NodeView)
	add = func(n *contracts.NodeView) {
		out = append(out, n)
		for _, m := range appended[n.NodeID] {
			add(m)
		}
	}
	for _, n := range planned {
		add(n)
	}
	return out
}

// superseded returns the nodes that are replaced by a later instance of their step, with their
// copies.
func superseded(v contracts.RunView) map[string]bool {
	newest := map[string]int{}
	step := func(n *contracts.NodeView) (string, int) {
		if n.Round != nil {
			return n.ForNode, n.Round.N
		}
		return n.NodeID, 1
	}
	for i := range v.Nodes {
		id, round := step(&v.Nodes[i])
		newest[id] = max(newest[id], round)
	}
	out := map[string]bool{}
	for i := range v.Nodes { // a copy follows the node that it was made for
		n := &v.Nodes[i]
		id, round := step(n)
		out[n.NodeID] = round < newest[id] || n.Round == nil && out[n.ForNode] && n.Item != nil
	}
	return out
}

func debugOf(n *contracts.NodeView) contracts.StepDebug {
	d := contracts.StepDebug{NodeID: n.NodeID, Tool: n.Tool, State: n.State, Attempts: n.Attempts, Error: n.Error, Checks: n.Checks}
	if n.StartedAt != nil && n.FinishedAt != nil {
		d.DurationMS = n.MachineMS
	}
	if n.Round != nil {
		d.Round, d.By = n.Round.N, n.Round.By
	}
	return d
}
