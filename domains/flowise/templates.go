package flowise

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/catalog"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// TemplateFilter chooses templates.
type TemplateFilter struct {
	Query string `json:"query,omitempty" max:"200" description:"Words of the name, use case or description"`
	Type  string `json:"type,omitempty" enum:"Chatflow,AgentflowV2,Tool" description:"Only templates of this type"`
	Limit int    `json:"limit" default:"20" min:"1" max:"30" description:"How many at most"`
}

// TemplateList is a list of templates.
type TemplateList struct {
	Templates []catalog.Template `json:"templates"`
	Total     int                `json:"total"`
	// Stale says that the server did not answer and these are older.
	Stale bool `json:"stale"`
}

// Summary names the first of them.
func (t TemplateList) Summary() string {
	var names []string
	for _, row := range t.Templates[:min(5, len(t.Templates))] {
		names = append(names, row.Name)
	}
	if len(names) == 0 {
		return "there is no such template"
	}
	return fmt.Sprintf("%s: %s", count(t.Total, "template"), strings.Join(names, ", "))
}

// templatesTTL is how long the metadata of templates is good.
const templatesTTL = 24 * time.Hour

func (d *domain) listTemplates(ctx context.Context, call domainkit.Call, in TemplateFilter) (TemplateList, error) {
	all, stale, err := d.templates(ctx, call.Instance)
	if err != nil {
		return TemplateList{}, err
	}
	words := strings.Fields(plain(in.Query))
	out := TemplateList{Stale: stale}
	for _, t := range all {
		text := plain(strings.Join(append([]string{t.Name, t.Description}, t.UseCases...), " "))
		missing := slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
		if missing || in.Type != "" && t.Type != in.Type {
			continue
		}
		out.Total++
		if len(out.Templates) < in.Limit {
			out.Templates = append(out.Templates, t)
		}
	}
	return out, nil
}

// templates gives the metadata: kept, or asked for when it is old. A server
// that does not answer leaves what was kept.
func (d *domain) templates(ctx context.Context, instance string) (list []catalog.Template, stale bool, err error) {
	raw, at, err := d.data.Snapshot(ctx, instance, snapshotTemplates)
	if err != nil {
		return nil, false, err
	}
	if raw != nil && d.now().Sub(at) < templatesTTL {
		list, err := catalog.DecodeTemplates(raw)
		return list, false, err
	}
	client, err := d.pool.Client(instance)
	if err != nil {
		return nil, false, failure(err)
	}
	list, err = askTemplates(ctx, client)
	if err != nil && raw != nil {
		list, err := catalog.DecodeTemplates(raw)
		return list, true, err
	}
	if err != nil {
		return nil, false, failure(err)
	}
	encoded, err := catalog.EncodeTemplates(list)
	if err != nil {
		return nil, false, err
	}
	return list, false, d.data.PutSnapshot(ctx, instance, snapshotTemplates, encoded)
}

func askTemplates(ctx context.Context, client *api.Client) ([]catalog.Template, error) {
	all, err := client.Templates(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]catalog.Template, 0, len(all))
	for _, t := range all {
		row := catalog.Template{Name: t.Name, Type: t.Type, Description: clip(t.Description, 120), Badge: t.Badge, Framework: t.Framework, UseCases: t.UseCases}
		if g, err := flow.Decompile([]byte(t.FlowData)); err == nil { // tools have no graph
			row.NodeTypes = sortedKeys(histogram(g))
		}
		out = append(out, row)
	}
	return out, nil
}

// template finds a template with its graph, by name.
func (d *domain) template(ctx context.Context, instance, name string) (api.Template, error) {
	client, err := d.pool.Client(instance)
	if err != nil {
		return api.Template{}, failure(err)
	}
	all, err := client.Templates(ctx)
	if err != nil {
		return api.Template{}, failure(err)
	}
	at := slices.IndexFunc(all, func(t api.Template) bool { return sameName(t.Name, name) && t.Type != "Tool" })
	if at < 0 {
		return api.Template{}, domainkit.Refusef(contracts.ErrNotFound, "there is no template %q for a flow; list_templates names them", name)
	}
	return all[at], nil
}
