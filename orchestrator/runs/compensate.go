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
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/planner"
)

// Compensate asks to undo one write: a run of its own in the same session,
// behind the gates that its own policy demands. A write is undone once: while
// that run is under way a repeat is answered with it, and what was undone is a
// conflict. One that came to nothing, as after a rejection, may be tried again.
// It gives the session in which the run is.
func (r *Runs) Compensate(ctx context.Context, who access.Principal, runID, nodeID string) (sessionID string, err error) {
	view, err := r.Read(ctx, who, runID)
	if err != nil {
		return "", err
	}
	if who.MaySteerRun(view.Plan.Owner) != nil {
		if err := who.May(access.ActionCompensate); err != nil {
			return "", err
		}
	}
	plan, err := r.compensation(ctx, who, runID, nodeID)
	if err != nil {
		return "", err
	}
	if err := r.undo(ctx, view.SessionID, plan, runID, nodeID); err != nil {
		return "", err
	}
	return view.SessionID, nil
}

// maxUndos is how often it may be tried to undo one write.
const maxUndos = 20

// undo starts the run that undoes a write. Its id follows from the write, so that
// two who ask at once cannot both start one.
func (r *Runs) undo(ctx context.Context, sessionID string, plan contracts.Plan, runID, nodeID string) error {
	for try := range maxUndos {
		plan.RunID = undoID(runID, nodeID, try)
		_, err := r.runner.Submit(ctx, sessionID, plan)
		if contracts.CodeOf(err) != contracts.CodeConflict {
			return err
		}
		earlier, err := r.runner.View(ctx, plan.RunID)
		if err != nil || !earlier.State.Terminal() {
			return err
		}
		if mayHaveUndone(earlier) {
			return contracts.Errorf(contracts.CodeConflict, "%s of %s was undone already, by %s: look at it by \"run show\"", nodeID, runID, earlier.RunID)
		}
	}
	return contracts.Errorf(contracts.CodeConflict, "%s of %s was tried to be undone %d times; undo it in its system", nodeID, runID, maxUndos)
}

func undoID(runID, nodeID string, try int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "undo %s %s %d", runID, nodeID, try))
	return "run_" + hex.EncodeToString(sum[:10])
}

// mayHaveUndone tells whether the call itself of an ended run took effect, as
// far as anybody knows.
func mayHaveUndone(run contracts.RunView) bool {
	return slices.ContainsFunc(run.Nodes, func(n contracts.NodeView) bool {
		return n.Kind == contracts.KindTool && n.Role == "" && (n.State == contracts.NodeCompleted || n.State == contracts.NodeOutcomeUnknown)
	})
}

func (r *Runs) compensation(ctx context.Context, who access.Principal, runID, nodeID string) (contracts.Plan, error) {
	snapshot, err := r.store.LoadRun(ctx, runID)
	if err != nil {
		return contracts.Plan{}, err
	}
	node, scope, err := execution.CompletedCall(snapshot, nodeID)
	if err != nil {
		return contracts.Plan{}, err
	}
	catalog := r.catalogs.Catalog()
	entry, ok := catalog.Capability(node.Tool)
	if !ok || entry.Capability.Metadata.Compensation == nil {
		return contracts.Plan{}, contracts.Errorf(contracts.CodeUnsupported, "%s declares no compensation", node.Tool)
	}
	rule := entry.Capability.Metadata.Compensation
	undo, err := catalog.Resolve(rule.Capability, entry.Domain)
	if err != nil {
		return contracts.Plan{}, err
	}
	params, _, err := expr.ResolveCall(rule.ParamMap, scope)
	if err != nil {
		return contracts.Plan{}, err
	}
	result, err := planner.Compile(planner.Request{
		Goal: "undo " + nodeID + " of " + runID, Catalog: catalog, Owner: who.Contract(), Instances: snapshot.Run.Plan.Instances,
		Intents: []contracts.Intent{{
			ID: "i1", Domain: undo.Domain, Capability: undo.Capability.Name, Parameters: params, Confidence: 1, Source: "caller",
		}},
	})
	if err != nil {
		return contracts.Plan{}, err
	}
	if len(result.Questions) > 0 {
		return contracts.Plan{}, contracts.Errorf(contracts.CodeInvalid, "the compensation lacks something: %s", result.Questions[0].Prompt)
	}
	if err := named(&result.Plan, node.Evidence); err != nil {
		return contracts.Plan{}, err
	}
	return result.Plan, who.CoversPlan(result.Plan)
}

// named gives the gates of a plan the labels that its values were chosen by
// when they were sent before.
func named(plan *contracts.Plan, evidence []contracts.EvidenceItem) error {
	evidence = slices.DeleteFunc(slices.Clone(evidence), func(e contracts.EvidenceItem) bool {
		return !strings.HasSuffix(e.Path, ".facts.value") && !strings.HasSuffix(e.Path, ".facts.label")
	})
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		sent := contracts.Interrupt{Action: &contracts.Action{Parameters: n.Params}, Evidence: evidence}
		if slices.ContainsFunc(slices.Collect(maps.Keys(n.Params)), func(name string) bool { return sent.Label(name) != "" }) {
			n.Evidence = evidence
		}
	}
	var err error
	plan.PlanHash, err = planner.HashPlan(*plan)
	return err
}
