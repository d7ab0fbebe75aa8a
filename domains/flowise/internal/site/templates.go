package site

import (
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
)

// templatesTTL is how long the stored metadata of templates is fresh.
const templatesTTL = 24 * time.Hour

// Templates returns the metadata of templates: stored, or read from the server if it is old. If the
// server does not answer, it returns the stored ones with stale set.
func (s *Site) Templates(ctx context.Context, instance string) (list []knowledge.Template, stale bool, err error) {
	raw, at, err := s.Data.Snapshot(ctx, instance, SnapshotTemplates)
	if err != nil {
		return nil, false, err
	}
	if raw != nil && s.Now().Sub(at) < templatesTTL {
		list, err := knowledge.DecodeTemplates(raw)
		return list, false, err
	}
	client, err := s.Pool.Client(instance)
	if err != nil {
		return nil, false, Failure(err)
	}
	list, err = askTemplates(ctx, client)
	if err != nil && raw != nil {
		list, err := knowledge.DecodeTemplates(raw)
		return list, true, err
	}
	if err != nil {
		return nil, false, Failure(err)
	}
	encoded, err := knowledge.EncodeTemplates(list)
	if err != nil {
		return nil, false, err
	}
	return list, false, s.Data.PutSnapshot(ctx, instance, SnapshotTemplates, encoded)
}

func askTemplates(ctx context.Context, client *api.Client) ([]knowledge.Template, error) {
	all, err := client.Templates(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]knowledge.Template, 0, len(all))
	for _, t := range all {
		row := knowledge.Template{Name: t.Name, Type: t.Type, Description: present.Clip(t.Description, 120), Badge: t.Badge, Framework: t.Framework, UseCases: t.UseCases}
		if g, err := flow.Decompile([]byte(t.FlowData)); err == nil { // tools have no graph
			row.NodeTypes = present.SortedKeys(present.Histogram(g))
		}
		out = append(out, row)
	}
	return out, nil
}

// Template finds a template by name and reads its graph.
func (s *Site) Template(ctx context.Context, instance, name string) (api.Template, error) {
	client, err := s.Pool.Client(instance)
	if err != nil {
		return api.Template{}, Failure(err)
	}
	all, err := client.Templates(ctx)
	if err != nil {
		return api.Template{}, Failure(err)
	}
	at := slices.IndexFunc(all, func(t api.Template) bool { return SameName(t.Name, name) && t.Type != "Tool" })
	if at < 0 {
		return api.Template{}, domainkit.Refusef(contracts.ErrNotFound, "there is no template %q for a flow; list_templates names them", name)
	}
	return all[at], nil
}
