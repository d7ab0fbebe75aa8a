package read

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// Nothing are the parameters of a capability without parameters.
type Nothing struct{}

// Instances are the configured servers.
type Instances struct {
	Instances []InstanceRow `json:"instances"`
}

// InstanceRow is one server.
type InstanceRow struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Default bool   `json:"default"`
	// Version is empty if the server does not answer.
	Version string `json:"version"`
	Up      bool   `json:"up"`
}

// Summary reports which servers answer.
func (i Instances) Summary() string {
	var up []string
	for _, row := range i.Instances {
		if row.Up {
			up = append(up, row.ID+" "+row.Version)
		}
	}
	return fmt.Sprintf("%d of %d Flowise instances answer: %s", len(up), len(i.Instances), cmp.Or(strings.Join(up, ", "), "none"))
}

func (r *Reader) listInstances(ctx context.Context, _ domainkit.Call, _ Nothing) (Instances, error) {
	all := r.site.Pool.Instances()
	out := Instances{Instances: make([]InstanceRow, len(all))}
	var group errgroup.Group // wait concurrently for those that do not answer
	for i, in := range all {
		group.Go(func() error {
			client, err := r.site.Pool.Client(in.ID)
			if err != nil {
				return site.Failure(err)
			}
			row := InstanceRow{ID: in.ID, Title: in.Title, Default: in.Default}
			// A server that does not answer is a result, not a failure of the call.
			if version, err := client.Version(ctx); err == nil {
				row.Version, row.Up = version, true
			}
			out.Instances[i] = row
			return nil
		})
	}
	return out, group.Wait()
}

// allTypes matches every type of flow.
const allTypes = "ALL"

// Which selects chatflows.
type Which struct {
	// Type is ALL by default, because people say chatflow for any type of flow.
	Type     string `json:"type,omitempty" enum:"ALL,CHATFLOW,AGENTFLOW,MULTIAGENT,ASSISTANT" description:"Only flows of this type"`
	Query    string `json:"query,omitempty" max:"200" description:"Words of the name"`
	Uses     string `json:"uses,omitempty" max:"100" description:"Only flows that use this: a kind of node, its category such as memory, a model, or a credential by its name"`
	Category string `json:"category,omitempty" max:"200" description:"Only flows of this category, which people also call their folder"`
	// UnchangedSince and UnchangedUntil select flows that nobody changed in this period.
	UnchangedSince string `json:"unchanged_since,omitempty" format:"date" description:"Only flows that nobody changed since this day"`
	UnchangedUntil string `json:"unchanged_until,omitempty" format:"date" description:"Last day of the time in which nobody changed them; today unless given"`
}

// FlowFilter are the parameters of list_chatflows.
type FlowFilter struct {
	site.Place
	Which
	Limit int `json:"limit" default:"20" min:"1" max:"50" description:"How many at most"`
}

// FlowRow is a chatflow in a list.
type FlowRow struct {
	ID        string    `json:"chatflow_id"`
	Name      string    `json:"name"`
	Type      string    `json:"type"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Flows is a list of chatflows, last changed first.
type Flows struct {
	Chatflows []FlowRow `json:"chatflows"`
	Total     int       `json:"total"`
	// Cut means that the server has more flows than were read.
	Cut bool `json:"cut,omitempty"`

	since, until string // of the filter, for Summary
}

// Summary lists the first ones.
func (f Flows) Summary() string {
	var names []string
	for _, row := range f.Chatflows[:min(5, len(f.Chatflows))] {
		names = append(names, present.Clip(row.Name, 40))
	}
	text := "no chatflows were found"
	switch {
	case f.since != "" && len(names) == 0:
		text = "there is no chatflow that nobody changed since " + f.since
		if f.until != "" {
			text = fmt.Sprintf("there is no chatflow that nobody changed between %s and %s", f.since, f.until)
		}
	case len(names) > 0:
		text = fmt.Sprintf("%s: %s", present.Count(f.Total, "chatflow"), strings.Join(names, ", "))
	}
	return text + site.CutNote(f.Cut)
}

func (r *Reader) listChatflows(ctx context.Context, call domainkit.Call, in FlowFilter) (Flows, error) {
	all, cut, err := r.meant(ctx, call, in.Which)
	if err != nil {
		return Flows{}, err
	}
	out := Flows{Total: len(all), Cut: cut, since: in.UnchangedSince, until: in.UnchangedUntil}
	for _, f := range all[:min(in.Limit, len(all))] {
		out.Chatflows = append(out.Chatflows, rowOf(f))
	}
	return out, nil
}

// meant returns the selected chatflows of a server, last changed first. cut reports that the server
// has more than were read.
func (r *Reader) meant(ctx context.Context, call domainkit.Call, in Which) (all []api.Flow, cut bool, err error) {
	client, err := r.site.Pool.Client(call.Instance)
	if err != nil {
		return nil, false, site.Failure(err)
	}
	keep := func(string) bool { return true }
	if in.Uses != "" {
		if keep, err = r.using(ctx, call, in.Uses); err != nil {
			return nil, false, err
		}
	}
	all, cut, err = site.FlowsWhere(ctx, client, strings.TrimPrefix(in.Type, allTypes), keep)
	if err != nil {
		return nil, false, err
	}
	if in.Query != "" {
		all = site.Ranked(all, in.Query)
	}
	if in.Category != "" {
		all = slices.DeleteFunc(all, func(f api.Flow) bool { return !inCategory(f, in.Category) })
	}
	if in.UnchangedSince != "" || in.UnchangedUntil != "" {
		all, err = r.unchanged(ctx, call, all, in)
	}
	return all, cut, err
}

// unchanged filters flows to those that nobody changed between two days. Flowise only stores the
// time of the last change, so for flows changed later, the stored versions decide.
func (r *Reader) unchanged(ctx context.Context, call domainkit.Call, all []api.Flow, in Which) ([]api.Flow, error) {
	until := cmp.Or(in.UnchangedUntil, r.site.Now().UTC().Format(time.DateOnly))
	within := func(at time.Time) bool {
		day := at.UTC().Format(time.DateOnly)
		return in.UnchangedSince <= day && day <= until
	}
	since, err := time.Parse(time.DateOnly, cmp.Or(in.UnchangedSince, "1970-01-01"))
	if err != nil {
		return nil, domainkit.Refusef(contracts.ErrInvalidParameters, "%q is no day such as 2026-01-31", in.UnchangedSince)
	}
	var out []api.Flow
	for _, f := range all {
		changed := within(f.UpdatedDate)
		if !changed && f.UpdatedDate.UTC().Format(time.DateOnly) > until {
			versions, err := r.site.Data.Changes(ctx, call.Instance, f.ID, since, 1000)
			if err != nil {
				return nil, err
			}
			changed = slices.ContainsFunc(versions, func(v store.Version) bool { return within(v.CreatedAt) })
		}
		if !changed {
			out = append(out, f)
		}
	}
	return out, nil
}

// inCategory reports whether a flow is in a category; a flow's categories are separated by
// semicolons.
func inCategory(f api.Flow, wanted string) bool {
	return f.Category != nil && slices.ContainsFunc(strings.Split(*f.Category, ";"), func(c string) bool { return site.SameName(c, wanted) })
}

// using returns a filter for graphs that use what the words describe: a node or component whose
// kind, label or category contains all words, or a model with that name.
func (r *Reader) using(ctx context.Context, call domainkit.Call, wanted string) (func(flowData string) bool, error) {
	defs, err := r.site.Definitions(ctx, call.Instance)
	if err != nil {
		return nil, err
	}
	words := edit.Words(wanted)
	if id := r.credentialCalled(ctx, call, wanted); id != "" {
		return func(flowData string) bool { return strings.Contains(flowData, `"`+id+`"`) }, nil
	}
	asCategory := slices.ContainsFunc(defs.Nodes(), func(d *knowledge.Definition) bool { return slices.Equal(words, edit.Words(d.Category)) })
	return func(flowData string) bool {
		g, err := flow.Decompile([]byte(flowData))
		if err != nil {
			return false
		}
		return slices.ContainsFunc(flow.Places(g, defs), func(p flow.Place) bool {
			if asCategory {
				return slices.Equal(words, edit.Words(p.Def.Category))
			}
			have := slices.Concat(edit.Words(p.Def.Label), edit.Words(p.Def.Name), edit.Words(p.Def.Category), edit.Words(p.Text("modelName")), edit.Words(p.Text("model")))
			return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(have, w) })
		})
	}, nil
}

// credentialCalled returns the id of the only credential with this name, or "" if there is none or
// the server does not answer.
func (r *Reader) credentialCalled(ctx context.Context, call domainkit.Call, name string) string {
	all, _, err := r.site.Credentials(ctx, call.Instance)
	if err != nil {
		return ""
	}
	plain := strings.TrimSuffix(strings.TrimPrefix(site.Plain(name), "the "), " credential")
	for _, c := range all {
		if plain != "" && site.Plain(c.Name) == plain {
			return c.ID
		}
	}
	return ""
}

func rowOf(f api.Flow) FlowRow {
	return FlowRow{ID: f.ID, Name: present.Clip(f.Name, 120), Type: string(f.Type), UpdatedAt: f.UpdatedDate}
}

// FlowFacts describes a chatflow without its graph.
type FlowFacts struct {
	ChatflowID string `json:"chatflow_id"`
	Name       string `json:"name"`
	Type       string `json:"type"`
	SHA256     string `json:"sha256"`
	// StateSHA256 is the hash of graph, name and settings.
	StateSHA256 string         `json:"state_sha256"`
	NodeCount   int            `json:"node_count"`
	EdgeCount   int            `json:"edge_count"`
	NodeTypes   map[string]int `json:"node_types"`
	Deployed    bool           `json:"deployed"`
	IsPublic    bool           `json:"is_public"`
	Category    string         `json:"category,omitempty"`
	// Does describes in a few sentences what the flow does.
	Does      string    `json:"does"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Summary describes the flow.
func (f FlowFacts) Summary() string {
	text := fmt.Sprintf("%s (%s): %s, %s", present.Clip(f.Name, 80), f.Type, present.Count(f.NodeCount, "node"), present.Count(f.EdgeCount, "connection"))
	if f.Does != "" {
		text += ". " + f.Does
	}
	return present.Clip(text, 290)
}

func (r *Reader) getChatflow(ctx context.Context, call domainkit.Call, in site.FlowRef) (FlowFacts, error) {
	f, err := r.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return FlowFacts{}, err
	}
	out := factsOf(f)
	defs, err := r.site.Definitions(ctx, call.Instance)
	if err != nil {
		return FlowFacts{}, err
	}
	if g, err := flow.Decompile([]byte(f.FlowData)); err == nil { // an unreadable graph still has the other facts
		out.Does = present.Clip(explain(g, site.KindOf(f.Type), defs).Text, 600)
	}
	return out, nil
}

// factsOf describes a flow; without nodes if its graph is unreadable.
func factsOf(f api.Flow) FlowFacts {
	out := FlowFacts{
		ChatflowID: f.ID, Name: present.NameOf(f.Name), Type: string(f.Type), SHA256: site.HashOf(f.FlowData), StateSHA256: site.StateHash(f), NodeTypes: map[string]int{},
		Deployed: truth(f.Deployed), IsPublic: truth(f.IsPublic), CreatedAt: f.CreatedDate, UpdatedAt: f.UpdatedDate,
	}
	if f.Category != nil {
		out.Category = *f.Category
	}
	g, err := flow.Decompile([]byte(f.FlowData))
	if err != nil {
		return out
	}
	out.NodeCount, out.EdgeCount, out.NodeTypes = len(g.Nodes()), len(g.Edges()), present.Commonest(present.Histogram(g))
	return out
}

func truth(b *bool) bool { return b != nil && *b }
