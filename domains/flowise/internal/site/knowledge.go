package site

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Kinds of stored snapshots.
const (
	SnapshotNodes       = "nodes"
	SnapshotTemplates   = "templates"
	SnapshotCredentials = "credentials"
)

// known are the cached definitions of one instance and the time of their refresh.
type known struct {
	nodes *knowledge.Snapshot
	at    time.Time
}

// Definitions returns the node definitions of an instance: the last refreshed or repaired ones,
// else the shipped ones. The cache is reloaded if another process has refreshed them.
func (s *Site) Definitions(ctx context.Context, instance string) (*knowledge.Snapshot, error) {
	at, err := s.Data.SnapshotTime(ctx, instance, SnapshotNodes)
	if err != nil {
		return nil, err
	}
	if at.IsZero() {
		return s.Shipped, nil
	}
	s.mu.Lock()
	have := s.known[instance]
	s.mu.Unlock()
	if have.nodes != nil && have.at.Equal(at) {
		return have.nodes, nil
	}
	encoded, at, err := s.Data.Snapshot(ctx, instance, SnapshotNodes)
	if err != nil {
		return nil, err
	}
	nodes, err := knowledge.Parse(encoded)
	if err != nil {
		return nil, fmt.Errorf("node definitions of %s: %w", instance, err)
	}
	s.mu.Lock()
	s.known[instance] = known{nodes, at}
	s.mu.Unlock()
	return nodes, nil
}

// KeepDefinitions stores new definitions, which are used from now on.
func (s *Site) KeepDefinitions(ctx context.Context, instance string, nodes *knowledge.Snapshot) error {
	encoded, err := nodes.Encode()
	if err != nil {
		return err
	}
	return s.Data.PutSnapshot(ctx, instance, SnapshotNodes, encoded)
}

// AskDefinitions reads the current definitions from a server.
func AskDefinitions(ctx context.Context, client *api.Client) (*knowledge.Snapshot, error) {
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

// Changes returns the kinds of nodes that differ between two snapshots.
func Changes(before, after *knowledge.Snapshot) (added, removed, changed []string) {
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

// FindNode finds a kind by name or label, or returns a message with the closest ones.
func FindNode(defs *knowledge.Snapshot, name string) (*knowledge.Definition, string) {
	if def, ok := defs.Node(name); ok {
		return def, ""
	}
	want := Plain(name)
	var near []string
	for _, def := range defs.Nodes() {
		squeezed := strings.ReplaceAll(want, " ", "")
		if Plain(def.Name) == squeezed || Plain(def.Label) == want {
			return def, ""
		}
		if strings.Contains(Plain(def.Name), squeezed) || strings.Contains(Plain(def.Label), want) || similar(squeezed, Plain(def.Name)) {
			near = append(near, def.Name)
		}
	}
	if len(near) == 0 {
		return nil, ""
	}
	return nil, "; did you mean " + strings.Join(near[:min(5, len(near))], ", ") + "?"
}
