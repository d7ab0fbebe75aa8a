package runs

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Release releases a run from quarantine after a restore. It needs the right to settle outcomes:
// the caller confirms that nothing was done since the backup that the run would do again.
func (r *Runs) Release(ctx context.Context, who access.Principal, runID string) (contracts.RunView, error) {
	view, err := r.Read(ctx, who, runID)
	if err != nil {
		return contracts.RunView{}, err
	}
	if err := who.May(access.ActionSettle); err != nil {
		return contracts.RunView{}, err
	}
	if r.quarantine == nil || view.HeldSince == nil {
		return contracts.RunView{}, contracts.Errorf(contracts.CodeConflict, "run %s is not in quarantine", runID)
	}
	act := who.WithAuditRecord(ctx, contracts.ActQuarantine, runID, map[string]any{"released": true, "held_since": view.HeldSince})
	if err := r.quarantine.Release(act, runID); err != nil {
		return contracts.RunView{}, err
	}
	r.runner.Wake(runID)
	r.notifier.Committed(view.SessionID, runID)
	return r.Get(ctx, who, runID, 0)
}
