package flowise

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Kinds of snapshots in the store.
const (
	snapshotNodes       = "nodes"
	snapshotTemplates   = "templates"
	snapshotCredentials = "credentials"
)

// known are the definitions of one instance and when they were refreshed.
type known struct {
	nodes *knowledge.Snapshot
	at    time.Time
}

// definitions gives the node definitions of an instance: those that were
// refreshed or repaired last, else the shipped ones. They are read again when
// another process has refreshed them.
func (d *domain) definitions(ctx context.Context, instance string) (*knowledge.Snapshot, error) {
	at, err := d.data.SnapshotTime(ctx, instance, snapshotNodes)
	if err != nil {
		return nil, err
	}
	if at.IsZero() {
		return d.shipped, nil
	}
	d.mu.Lock()
	have := d.known[instance]
	d.mu.Unlock()
	if have.nodes != nil && have.at.Equal(at) {
		return have.nodes, nil
	}
	encoded, at, err := d.data.Snapshot(ctx, instance, snapshotNodes)
	if err != nil {
		return nil, err
	}
	nodes, err := knowledge.Parse(encoded)
	if err != nil {
		return nil, fmt.Errorf("node definitions of %s: %w", instance, err)
	}
	d.mu.Lock()
	d.known[instance] = known{nodes, at}
	d.mu.Unlock()
	return nodes, nil
}

func (d *domain) keepDefinitions(ctx context.Context, instance string, nodes *knowledge.Snapshot) error {
	encoded, err := nodes.Encode()
	if err != nil {
		return err
	}
	return d.data.PutSnapshot(ctx, instance, snapshotNodes, encoded)
}

// askDefinitions derives a snapshot from what a server answers now.
func askDefinitions(ctx context.Context, client *api.Client) (*knowledge.Snapshot, error) {
	version, err := client.Version(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := client.NodesNow(ctx)
	if err != nil {
		return nil, err
	}
	return knowledge.Derive(version, raw)
}

// changes lists the kinds of nodes that differ between two snapshots.
func changes(before, after *knowledge.Snapshot) (added, removed, changed []string) {
	for _, name := range after.Names() {
		old, had := before.Node(name)
		now, _ := after.Node(name)
		switch {
		case !had:
			added = append(added, name)
		case old.Hash != now.Hash:
			changed = append(changed, name)
		}
	}
	names := after.Names()
	for _, name := range before.Names() {
		if _, has := slices.BinarySearch(names, name); !has {
			removed = append(removed, name)
		}
	}
	return added, removed, changed
}

// size is how many bytes v has as JSON; what has none counts as too large.
func size(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		return 1 << 30
	}
	return len(raw)
}
