package execution

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/runstate"
)

// Decide commits a decision or an answer to an open interrupt. All interfaces use it. The first
// decision that closes the interrupt wins; later callers get conflict with the decided interrupt as
// Detail.
func (r *Runner) Decide(ctx context.Context, id string, body contracts.Resume, who decision.Decider) (contracts.Interrupt, error) {
	current, err := GetInterrupt(ctx, r.store, id)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	if body.Decision == contracts.DecisionEdit && current.Workflow == "" {
		if err := r.checkEdit(ctx, current, body); err != nil {
			return contracts.Interrupt{}, err
		}
	}
	if words, ok := runstate.WordsOf(body.Response); ok && current.Workflow == "" {
		if err := r.checkSearch(ctx, current, words); err != nil {
			return contracts.Interrupt{}, err
		}
	}
	given := decision.Read(current, body)
	decided, err := UpdateInterrupt(ctx, r.store, id, func(i *contracts.Interrupt, now time.Time) error {
		return given.Decide(i, who, now)
	})
	if err != nil {
		return contracts.Interrupt{}, err
	}
	if decided.RunID != "" {
		r.Wake(decided.RunID)
	}
	return decided, nil
}

// checkEdit validates edited parameters before they supersede a gate.
func (r *Runner) checkEdit(ctx context.Context, i contracts.Interrupt, body contracts.Resume) error {
	if i.Type != contracts.InterruptWriteApproval || i.Action == nil {
		return contracts.Errorf(contracts.CodeInvalid, "only a write approval can be edited")
	}
	if body.EditedParams == nil {
		return contracts.Errorf(contracts.CodeInvalid, "an edit must carry edited_params: all parameters as they should be")
	}
	entry, ok := r.catalogs.Catalog().Capability(i.Action.Capability)
	if !ok {
		return contracts.Errorf(contracts.CodeConflict, "%s is no longer offered", i.Action.Capability)
	}
	params, err := r.env(ctx, nil).materialize(entry, i.Action.Edit(body.EditedParams))
	if err != nil {
		return err
	}
	return fitsSchema(entry, params)
}
