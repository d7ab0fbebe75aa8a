package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/expr"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/planner"
)

// Compensate undoes one write, or without a node every write of an ended run, the last first. It
// submits a new run in the same session, with the gates that the policies of its calls require. A
// write is undone once: while that run is open a repeat returns it, and after that a conflict. If
// it had no effect, for example after a rejection, it may be tried again. It returns the session of
// the new run.
func (r *Runs) Compensate(ctx context.Context, who access.Principal, runID, nodeID string) (sessionID, undoRunID string, err error) {
	view, err := r.Read(ctx, who, runID)
	if err != nil {
		return "", "", err
	}
	if who.MaySteerRun(view.Plan.Owner) != nil {
		if err := who.May(access.ActionCompensate); err != nil {
			return "", "", err
		}
	}
	// Reading what is already undone and submitting the run is one critical section, so that no two
	// runs undo the same write.
	r.undoing.Lock()
	defer r.undoing.Unlock()
	release, _, err := orchestrator.AcquireLease(ctx, r.leases, "undo "+runID, func() bool { return false })
	if err != nil {
		return "", "", err
	}
	defer release()
	nodes, err := r.toUndo(ctx, view, nodeID)
	if err != nil {
		return "", "", err
	}
	plan, err := r.compensation(ctx, who, runID, nodes)
	if err != nil {
		return "", "", err
	}
	undoRunID, err = r.undo(ctx, view.SessionID, plan, runID, nodeID)
	return view.SessionID, undoRunID, err
}

// toUndo returns the writes to undo: the named one, or all that declare a compensation and are not
// undone yet, the last first.
func (r *Runs) toUndo(ctx context.Context, run contracts.RunView, nodeID string) ([]string, error) {
	undone, err := r.undone(ctx, run.RunID, nodeID)
	if err != nil {
		return nil, err
	}
	if nodeID != "" {
		if by := undone[nodeID]; by != "" {
			return nil, contracts.Errorf(contracts.CodeConflict, "%s of %s was undone already, by %s: look at it by \"run show\"", nodeID, run.RunID, by)
		}
		return []string{nodeID}, nil
	}
	if !run.State.Terminal() {
		return nil, contracts.Errorf(contracts.CodeConflict, "%s is under way: cancel it, and then undo what it has done", run.RunID)
	}
	written := answer.Undoable(r.catalogs.Catalog(), run)
	var out []string
	for _, n := range written {
		if undone[n.NodeID] == "" {
			out = append(out, n.NodeID)
		}
	}
	if len(out) == 0 {
		return nil, contracts.Errorf(contracts.CodeConflict, "%s has done nothing that is left to undo", run.RunID)
	}
	return out, nil
}

// undone returns, by node, the runs that have undone or may undo writes of a run. For all writes
// these are all compensations, for one node only those of the whole run: undo checks the node's
// own.
func (r *Runs) undone(ctx context.Context, runID, nodeID string) (map[string]string, error) {
	view, err := r.runner.View(ctx, runID)
	if err != nil {
		return nil, err
	}
	var asked []string
	if nodeID != "" {
		asked = []string{""}
	} else {
		for _, n := range view.Nodes {
			if n.Kind == contracts.KindTool && n.State == contracts.NodeCompleted && n.Role == "" {
				asked = append(asked, n.NodeID)
			}
		}
		asked = append(asked, "")
	}
	out := map[string]string{}
	for _, one := range asked {
		for try := range maxUndos {
			earlier, err := r.runner.View(ctx, undoID(runID, one, try))
			if contracts.CodeOf(err) == contracts.CodeNotFound {
				break
			}
			if err != nil {
				return nil, err
			}
			if nodeID == one && !earlier.State.Terminal() {
				continue // a repeat returns this run
			}
			for _, node := range undoneBy(earlier) {
				out[node] = earlier.RunID
			}
		}
	}
	return out, nil
}

// undoneBy returns the nodes that a run has undone, or may still undo.
func undoneBy(undo contracts.RunView) []string {
	var out []string
	for _, n := range undo.Plan.Nodes {
		came := slices.ContainsFunc(undo.Nodes, func(v contracts.NodeView) bool { return v.NodeID == n.NodeID && mayTakeEffect(v) })
		if n.Kind == contracts.KindTool && n.Role == "" && (came || !undo.State.Terminal()) {
			out = append(out, n.IntentID)
		}
	}
	return out
}

// maxUndos is the maximum number of attempts to undo one write.
const maxUndos = 20

// undo submits the run that undoes a write. Its id is derived from the write, so that concurrent
// callers submit only one.
func (r *Runs) undo(ctx context.Context, sessionID string, plan contracts.Plan, runID, nodeID string) (string, error) {
	for try := range maxUndos {
		plan.RunID = undoID(runID, nodeID, try)
		_, err := r.runner.Submit(ctx, sessionID, plan)
		if contracts.CodeOf(err) != contracts.CodeConflict {
			return plan.RunID, err
		}
		earlier, err := r.runner.View(ctx, plan.RunID)
		if err != nil || !earlier.State.Terminal() {
			return plan.RunID, err
		}
		if nodeID != "" && slices.ContainsFunc(earlier.Nodes, mayTakeEffect) {
			return "", contracts.Errorf(contracts.CodeConflict, "%s of %s was undone already, by %s: look at it by \"run show\"", nodeID, runID, earlier.RunID)
		}
	}
	if nodeID == "" {
		nodeID = "all"
	}
	return "", contracts.Errorf(contracts.CodeConflict, "%s of %s was tried to be undone %d times; undo it in its system", nodeID, runID, maxUndos)
}

func undoID(runID, nodeID string, try int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "undo %s %s %d", runID, nodeID, try))
	return "run_" + hex.EncodeToString(sum[:10])
}

// mayTakeEffect reports whether a node is a planned call that took effect or may have.
func mayTakeEffect(n contracts.NodeView) bool {
	return n.Kind == contracts.KindTool && n.Role == "" && (n.State == contracts.NodeCompleted || n.State == contracts.NodeOutcomeUnknown)
}

// compensation returns the plan that undoes writes of a run, one after the other.
func (r *Runs) compensation(ctx context.Context, who access.Principal, runID string, nodes []string) (contracts.Plan, error) {
	snapshot, err := r.store.LoadRun(ctx, runID)
	if err != nil {
		return contracts.Plan{}, err
	}
	catalog := r.catalogs.Catalog()
	evidence := map[string][]contracts.EvidenceItem{}
	var intents []contracts.Intent
	for i, id := range nodes {
		in, shown, err := undoing(catalog, snapshot, id)
		if err != nil {
			return contracts.Plan{}, err
		}
		if i > 0 {
			in.After = []string{nodes[i-1]}
		}
		intents, evidence[id] = append(intents, in), shown
	}
	result, err := planner.Compile(planner.Request{
		Goal: "undo " + strings.Join(nodes, ", ") + " of " + runID, Catalog: catalog, Owner: who.Contract(), Instances: snapshot.Run.Plan.Instances, Intents: intents,
	})
	if err != nil {
		return contracts.Plan{}, err
	}
	if len(result.Questions) > 0 {
		return contracts.Plan{}, contracts.Errorf(contracts.CodeInvalid, "the compensation lacks something: %s", result.Questions[0].Prompt)
	}
	for i := range result.Plan.Nodes {
		named(&result.Plan.Nodes[i], evidence[result.Plan.Nodes[i].IntentID])
	}
	if result.Plan.PlanHash, err = planner.HashPlan(result.Plan); err != nil {
		return contracts.Plan{}, err
	}
	return result.Plan, who.CoversPlan(result.Plan)
}

// undoing returns the intent that undoes one write of a run, with the write's node id as its id,
// and the evidence for the write's values.
func undoing(catalog *contracts.Catalog, snapshot execution.Snapshot, nodeID string) (contracts.Intent, []contracts.EvidenceItem, error) {
	node, scope, err := execution.CompletedCall(snapshot, nodeID)
	if err != nil {
		return contracts.Intent{}, nil, err
	}
	entry, ok := catalog.Capability(node.Tool)
	if !ok || entry.Capability.Metadata.Compensation == nil {
		return contracts.Intent{}, nil, contracts.Errorf(contracts.CodeUnsupported, "%s declares no compensation", node.Tool)
	}
	rule := entry.Capability.Metadata.Compensation
	undo, err := catalog.Resolve(rule.Capability, entry.Domain)
	if err != nil {
		return contracts.Intent{}, nil, err
	}
	params, _, err := expr.ResolveCall(rule.ParamMap, scope)
	return contracts.Intent{ID: nodeID, Domain: undo.Domain, Capability: undo.Capability.Name, Parameters: params, Confidence: 1, Source: "caller"}, node.Evidence, err
}

// named shows at the gate of an undo the labels by which the values of the write were chosen.
func named(n *contracts.Node, evidence []contracts.EvidenceItem) {
	evidence = slices.DeleteFunc(slices.Clone(evidence), func(e contracts.EvidenceItem) bool {
		return !strings.HasSuffix(e.Path, ".facts.value") && !strings.HasSuffix(e.Path, ".facts.label")
	})
	sent := contracts.Interrupt{Action: &contracts.Action{Parameters: n.Params}, Evidence: evidence}
	if slices.ContainsFunc(slices.Collect(maps.Keys(n.Params)), func(name string) bool { return sent.Label(name) != "" }) {
		n.Evidence = evidence
	}
}
