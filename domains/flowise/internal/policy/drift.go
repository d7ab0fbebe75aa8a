package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Difference is how definitions differ from those that something was made with.
type Difference struct {
	Note    string
	Forbids bool
	// Nodes are the kinds of nodes that differ, as far as that is known.
	Nodes []string
}

// DriftOf compares the known definitions with those that a plan was made with,
// and follows the policy when they differ.
func (r *Rules) DriftOf(ctx context.Context, instance, fingerprint string) (Difference, error) {
	if fingerprint == "" {
		return Difference{}, nil
	}
	defs, err := r.site.Definitions(ctx, instance)
	if err != nil || defs.Fingerprint() == fingerprint {
		return Difference{}, err
	}
	out := Difference{Note: "the node definitions are no longer those that this was made with", Forbids: r.Drift == DriftFail}
	if r.Drift != DriftRefresh {
		return out, nil
	}
	fresh, err := r.live(ctx, instance)
	if err != nil {
		return Difference{}, err
	}
	out.Note += "; they were refreshed"
	return out, r.site.KeepDefinitions(ctx, instance, fresh)
}

// LiveDrift compares the known definitions with those that the server has now.
// Kinds of nodes that are new there change nothing for a flow that is made.
// What was refreshed is not what the flow was validated with, so that the
// validation must be repeated.
func (r *Rules) LiveDrift(ctx context.Context, instance string) (Difference, error) {
	known, err := r.site.Definitions(ctx, instance)
	if err != nil {
		return Difference{}, err
	}
	fresh, err := r.live(ctx, instance)
	if err != nil {
		return Difference{}, err
	}
	_, removed, changed := site.Changes(known, fresh)
	if len(removed)+len(changed) == 0 {
		return Difference{}, nil
	}
	out := Difference{Nodes: slices.Sorted(slices.Values(slices.Concat(changed, removed))), Forbids: r.Drift != DriftWarn}
	out.Note = fmt.Sprintf("the server defines %s in another way than is known here: %s",
		present.Count(len(out.Nodes), "node"), strings.Join(out.Nodes[:min(MaxDriftNodes, len(out.Nodes))], ", "))
	if r.Drift != DriftRefresh {
		return out, nil
	}
	out.Note += "; the definitions were refreshed, so validate again"
	return out, r.site.KeepDefinitions(ctx, instance, fresh)
}

// MaxDriftNodes bounds the kinds of nodes that are named.
const MaxDriftNodes = 10

// live asks the server for its definitions.
func (r *Rules) live(ctx context.Context, instance string) (*knowledge.Snapshot, error) {
	client, err := r.site.Pool.Client(instance)
	if err != nil {
		return nil, site.Failure(err)
	}
	fresh, err := site.AskDefinitions(ctx, client)
	if err != nil {
		return nil, site.Failure(err)
	}
	return fresh, nil
}

// Drift describes what to do when the definitions of nodes are others than those
// that a plan was made with.
type Drift string

// The policies.
const (
	DriftWarn    Drift = "warn"
	DriftFail    Drift = "fail"
	DriftRefresh Drift = "refresh"
)
