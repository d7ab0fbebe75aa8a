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

// Difference is the difference between two sets of definitions, under a policy.
type Difference struct {
	Note    string
	Forbids bool
	// Nodes are the kinds of nodes that differ, if known.
	Nodes []string
}

// DriftOf compares the stored definitions with those with which a plan was made, and applies the
// policy if they differ.
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

// LiveDrift compares the stored definitions with the server's current ones. New kinds of nodes are
// ignored. After a refresh the flow must be validated again, because it was validated with the old
// definitions.
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

// live reads the definitions from the server.
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

// Drift is the policy if the node definitions have changed since a plan was made.
type Drift string

// The policies.
const (
	DriftWarn    Drift = "warn"
	DriftFail    Drift = "fail"
	DriftRefresh Drift = "refresh"
)
