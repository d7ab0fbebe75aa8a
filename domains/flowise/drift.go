package flowise

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// drift is how definitions differ from those that something was made with.
type drift struct {
	note    string
	forbids bool
	// nodes are the kinds of nodes that differ, as far as that is known.
	nodes []string
}

// driftOf compares the known definitions with those that a plan was made with,
// and follows the policy when they differ.
func (d *domain) driftOf(ctx context.Context, instance, fingerprint string) (drift, error) {
	if fingerprint == "" {
		return drift{}, nil
	}
	defs, err := d.definitions(ctx, instance)
	if err != nil || defs.Fingerprint() == fingerprint {
		return drift{}, err
	}
	out := drift{note: "the node definitions are no longer those that this was made with", forbids: d.drift == DriftFail}
	if d.drift != DriftRefresh {
		return out, nil
	}
	fresh, err := d.live(ctx, instance)
	if err != nil {
		return drift{}, err
	}
	out.note += "; they were refreshed"
	return out, d.keepDefinitions(ctx, instance, fresh)
}

// liveDrift compares the known definitions with those that the server has now.
// Kinds of nodes that are new there change nothing for a flow that is made.
// What was refreshed is not what the flow was validated with, so that the
// validation must be repeated.
func (d *domain) liveDrift(ctx context.Context, instance string) (drift, error) {
	known, err := d.definitions(ctx, instance)
	if err != nil {
		return drift{}, err
	}
	fresh, err := d.live(ctx, instance)
	if err != nil {
		return drift{}, err
	}
	_, removed, changed := changes(known, fresh)
	if len(removed)+len(changed) == 0 {
		return drift{}, nil
	}
	out := drift{nodes: slices.Sorted(slices.Values(slices.Concat(changed, removed))), forbids: d.drift != DriftWarn}
	out.note = fmt.Sprintf("the server defines %s in another way than is known here: %s",
		count(len(out.nodes), "node"), strings.Join(out.nodes[:min(maxDriftNodes, len(out.nodes))], ", "))
	if d.drift != DriftRefresh {
		return out, nil
	}
	out.note += "; the definitions were refreshed, so validate again"
	return out, d.keepDefinitions(ctx, instance, fresh)
}

// maxDriftNodes bounds the kinds of nodes that are named.
const maxDriftNodes = 10

// live asks the server for its definitions.
func (d *domain) live(ctx context.Context, instance string) (*knowledge.Snapshot, error) {
	client, err := d.pool.Client(instance)
	if err != nil {
		return nil, failure(err)
	}
	fresh, err := askDefinitions(ctx, client)
	if err != nil {
		return nil, failure(err)
	}
	return fresh, nil
}
