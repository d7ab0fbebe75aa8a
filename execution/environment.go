package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// environment gives node handlers read access to what is outside the run: catalog, artifacts
// and reviewers.
type environment struct {
	ctx      context.Context //nolint:containedctx // of the one turn or request that reads
	catalogs Catalogs
	store    Artifacts
	// reviewers may be nil.
	reviewers Reviewers
	// pending are blobs that the next commit will store.
	pending []Blob
	// keepData enables storing raw output for debugging.
	keepData bool
}

// env returns the environment for one use.
func (r *Runner) env(ctx context.Context, pending []Blob) environment {
	return environment{
		ctx: ctx, catalogs: r.catalogs, store: r.store, reviewers: r.reviewers, pending: pending, keepData: !r.cfg.DropData,
	}
}

func (s environment) catalog() *contracts.Catalog { return s.catalogs.Catalog() }

// fitsSchema validates parameters against the capability's schema.
func fitsSchema(e *contracts.CapabilityEntry, params map[string]any) error {
	schema, err := e.Input()
	if err != nil {
		return err
	}
	if schema == nil {
		return nil
	}
	if faults := schema.Validate(params); len(faults) > 0 {
		return contracts.Invalid("the parameters do not fit the schema of "+e.Ref(), faults...)
	}
	return nil
}

// materialize replaces references to artifacts by their content, except where the schema takes the
// reference itself. It returns unavailable if the store cannot be read now.
func (s environment) materialize(e *contracts.CapabilityEntry, params map[string]any) (map[string]any, error) {
	if !runstate.HasArtifacts(params) {
		return params, nil
	}
	var schema map[string]any
	if err := json.Unmarshal(e.Capability.Schema, &schema); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", e.Ref(), err)
	}
	full, err := runstate.Materialize(params, schema, s.blob)
	if err != nil && s.ctx.Err() != nil {
		err = contracts.Errorf(contracts.CodeUnavailable, "the store was not asked to the end: %w", err)
	}
	return full, err
}

// poolWarning explains why nobody can approve a gate that is about to be opened. It returns "" if
// that cannot be determined: the gate is opened anyway.
func (s environment) poolWarning(i contracts.Interrupt) string {
	if s.reviewers == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	why, err := s.reviewers.WhyNoReviewer(ctx, i)
	if err != nil {
		return ""
	}
	return why
}

// revoked explains which revoked key invalidates the authorization of an action; see
// Reviewers.Revoked.
func (s environment) revoked(owner contracts.Principal, gate *contracts.Interrupt) (string, error) {
	if s.reviewers == nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	why, err := s.reviewers.Revoked(ctx, owner, gate)
	if err != nil {
		err = contracts.Errorf(contracts.CodeUnavailable, "the keys cannot be read now: %w", err)
	}
	return why, err
}

func (s environment) blob(sha string) ([]byte, error) {
	if i := slices.IndexFunc(s.pending, func(b Blob) bool { return b.SHA256 == sha }); i >= 0 {
		return s.pending[i].Body, nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	return s.store.Blob(ctx, sha)
}
