package site

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
)

// Refreshing selects what to read again from a server: nodes, templates or credentials.
type Refreshing struct {
	What string
	// Instance is the server; "" is the default one.
	Instance string
	// DryRun stores nothing.
	DryRun bool
}

// Refreshed is a server's answer in the form in which it is stored.
type Refreshed struct {
	Instance string
	Snapshot []byte
	SHA256   string
	// Added, Removed and Changed are names, compared with the previous snapshot.
	Added, Removed, Changed []string
}

// String formats the report in a few lines.
func (r Refreshed) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "instance %s: %d bytes, sha256 %s\n", r.Instance, len(r.Snapshot), r.SHA256)
	for _, list := range []struct {
		what  string
		names []string
	}{{"added", r.Added}, {"removed", r.Removed}, {"changed", r.Changed}} {
		if len(list.names) > 0 {
			fmt.Fprintf(&b, "%s %d: %s\n", list.what, len(list.names), strings.Join(list.names, ", "))
		}
	}
	return b.String()
}

func (s *Site) instanceID(id string) string {
	for _, in := range s.Pool.Instances() {
		if id == "" && in.Default {
			return in.ID
		}
	}
	return id
}

func (s *Site) refreshNodes(ctx context.Context, client *api.Client, out *Refreshed) error {
	before, err := s.Definitions(ctx, out.Instance)
	if err != nil {
		return err
	}
	fresh, err := AskDefinitions(ctx, client)
	if err != nil {
		return err
	}
	out.Added, out.Removed, out.Changed = Changes(before, fresh)
	out.Snapshot, err = fresh.Encode()
	return err
}

func (s *Site) refreshTemplates(ctx context.Context, client *api.Client, out *Refreshed) error {
	list, err := askTemplates(ctx, client)
	if err != nil {
		return err
	}
	if out.Snapshot, err = knowledge.EncodeTemplates(list); err != nil {
		return err
	}
	before, err := kept(ctx, s, out.Instance, SnapshotTemplates, knowledge.DecodeTemplates)
	out.Added, out.Removed, out.Changed = differences(before, list, func(t knowledge.Template) string { return t.Type + " " + t.Name })
	return err
}

func (s *Site) refreshCredentials(ctx context.Context, client *api.Client, out *Refreshed) error {
	list, err := askCredentials(ctx, client)
	if err != nil {
		return err
	}
	if out.Snapshot, err = knowledge.EncodeCredentials(list); err != nil {
		return err
	}
	before, err := kept(ctx, s, out.Instance, SnapshotCredentials, knowledge.DecodeCredentials)
	out.Added, out.Removed, out.Changed = differences(before, list, func(c knowledge.Credential) string { return c.ID })
	return err
}

// kept reads the stored list of an instance; there may be none.
func kept[T any](ctx context.Context, d *Site, instance, kind string, read func([]byte) ([]T, error)) ([]T, error) {
	raw, _, err := d.Data.Snapshot(ctx, instance, kind)
	if err != nil || raw == nil {
		return nil, err
	}
	return read(raw)
}

// differences compares two lists by a key and by the whole items.
func differences[T any](before, after []T, key func(T) string) (added, removed, changed []string) {
	old, now := map[string]string{}, map[string]string{}
	for _, v := range before {
		old[key(v)] = fmt.Sprintf("%+v", v)
	}
	for _, v := range after {
		now[key(v)] = fmt.Sprintf("%+v", v)
	}
	for _, k := range present.SortedKeys(now) {
		was, had := old[k]
		switch {
		case !had:
			added = append(added, k)
		case was != now[k]:
			changed = append(changed, k)
		}
	}
	for _, k := range present.SortedKeys(old) {
		if _, has := now[k]; !has {
			removed = append(removed, k)
		}
	}
	return added, removed, changed
}

// Refresh reads the current data of a server and stores it. The same answers give the same bytes.
func (s *Site) Refresh(ctx context.Context, r Refreshing) (Refreshed, error) {
	client, err := s.refreshable(r)
	if err != nil {
		return Refreshed{}, err
	}
	out := Refreshed{Instance: s.instanceID(r.Instance)}
	switch r.What {
	case SnapshotNodes:
		err = s.refreshNodes(ctx, client, &out)
	case SnapshotTemplates:
		err = s.refreshTemplates(ctx, client, &out)
	case SnapshotCredentials:
		err = s.refreshCredentials(ctx, client, &out)
	}
	if err != nil {
		return Refreshed{}, fmt.Errorf("refresh %s of %s: %w", r.What, out.Instance, err)
	}
	out.SHA256 = contracts.HashBytes(out.Snapshot)
	if r.DryRun {
		return out, nil
	}
	return out, s.Data.PutSnapshot(ctx, out.Instance, r.What, out.Snapshot)
}

// ValidateSnapshot validates the stored data without calling a server. Missing data is valid.
func (s *Site) ValidateSnapshot(ctx context.Context, r Refreshing) error {
	if _, err := s.refreshable(r); err != nil {
		return err
	}
	raw, _, err := s.Data.Snapshot(ctx, s.instanceID(r.Instance), r.What)
	if err != nil || raw == nil {
		return err
	}
	switch r.What {
	case SnapshotNodes:
		_, err = knowledge.Parse(raw)
	case SnapshotTemplates:
		_, err = knowledge.DecodeTemplates(raw)
	case SnapshotCredentials:
		_, err = knowledge.DecodeCredentials(raw)
	}
	return err
}

// refreshable refuses an unknown kind of data and an unknown server.
func (s *Site) refreshable(r Refreshing) (*api.Client, error) {
	if !slices.Contains([]string{SnapshotNodes, SnapshotTemplates, SnapshotCredentials}, r.What) {
		return nil, contracts.Errorf(contracts.CodeInvalid, "refresh what? nodes, templates or credentials, not %q", r.What)
	}
	return s.Pool.Client(r.Instance)
}
