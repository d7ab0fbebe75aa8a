package execution

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runmetrics"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/internal/expr"
)

// View returns the view of a run for callers. Nodes behind one that waits for a person have the
// state "blocked".
func (r *Runner) View(ctx context.Context, runID string) (contracts.RunView, error) {
	s, err := r.store.LoadRun(ctx, runID)
	if err != nil {
		return contracts.RunView{}, err
	}
	return runmetrics.View(s, r.cfg.Now())
}

// CompletedCall returns a write that took effect and the scope of its compensation.
func CompletedCall(s Snapshot, nodeID string) (contracts.Node, expr.Scope, error) {
	return runstate.CompletedCall(s, nodeID)
}

// Replay replays plan and ledger without calling a domain, and compares the node states with the
// stored ones. A broken chain is an error.
func (r *Runner) Replay(ctx context.Context, runID string) (Replayed, error) {
	s, err := r.store.LoadRun(ctx, runID)
	if err != nil {
		return Replayed{}, err
	}
	entries, err := r.store.Ledger(ctx, runID, 0, 0)
	if err != nil {
		return Replayed{}, err
	}
	if err := VerifyRun(s.Run, entries); err != nil {
		return Replayed{}, err
	}
	return runstate.Replay(s, entries, func(e contracts.LedgerEntry, into any) error {
		raw, err := r.store.Payload(ctx, e)
		if err != nil {
			return err
		}
		payload, err := runstate.OpenPayload(s.Run.Format, e, raw)
		if err != nil {
			return err
		}
		return contracts.Decode(payload.Body, into)
	})
}
