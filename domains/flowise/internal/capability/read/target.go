package read

import (
	"context"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Target are the parameters of resolve_target.
type Target struct {
	site.Place
	Query    string `json:"query,omitempty" max:"200" description:"Name of the chatflow, or words of it; nothing lists the last changed"`
	Type     string `json:"type,omitempty" enum:"CHATFLOW,AGENTFLOW,MULTIAGENT,ASSISTANT" description:"Only flows of this type"`
	Deleted  bool   `json:"deleted,omitempty" description:"Only flows that were deleted, of which versions are kept"`
	OfferNew bool   `json:"offer_new,omitempty" description:"Offer to create a new chatflow too"`
}

// deletedFlows returns the flows with stored versions that the server no longer has, last changed
// first.
func (r *Reader) deletedFlows(ctx context.Context, call domainkit.Call, kind string, live []api.Flow) ([]api.Flow, error) {
	kept, err := r.site.Data.Flows(ctx, call.Instance)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, f := range live {
		there[f.ID] = true
	}
	var out []api.Flow
	for _, v := range kept {
		if !there[v.ChatflowID] && (kind == "" || v.Kind == kind) {
			out = append(out, api.Flow{ID: v.ChatflowID, Name: v.Name, Type: api.FlowType(v.Kind), UpdatedDate: v.CreatedAt})
		}
	}
	return out, nil
}

// Match is a chatflow that a search found.
type Match struct {
	Value     string `json:"value"`
	Label     string `json:"label"`
	Detail    string `json:"detail,omitempty"`
	Name      string `json:"name"`
	UpdatedAt string `json:"updated_at"`
	// Exact means that the name equals the query.
	Exact bool `json:"exact"`
}

// Matches are the chatflows found, best first.
type Matches struct {
	Matches []Match `json:"matches"`
	// Cut means that the server has more flows than were read.
	Cut bool `json:"cut,omitempty"`
}

// Summary reports their number.
func (m Matches) Summary() string {
	if len(m.Matches) == 1 {
		return "found " + m.Matches[0].Label + site.CutNote(m.Cut)
	}
	return present.Count(len(m.Matches), "chatflow") + " to choose from" + site.CutNote(m.Cut)
}

// maxMatches bounds the choices of a person.
const maxMatches = 10

// newFlow is the choice to create a new chatflow.
const newFlow = "new"

// notCalledSo returns the query for the label of a match with another name.
func notCalledSo(query string, exact bool) string {
	if exact || strings.TrimSpace(query) == "" {
		return ""
	}
	return fmt.Sprintf("there is none called %q", present.Clip(query, 80))
}

func (r *Reader) resolveTarget(ctx context.Context, call domainkit.Call, in Target) (Matches, error) {
	client, err := r.site.Pool.Client(call.Instance)
	if err != nil {
		return Matches{}, site.Failure(err)
	}
	all, cut, err := site.AllFlows(ctx, client, in.Type)
	if err == nil && in.Deleted {
		all, err = r.deletedFlows(ctx, call, in.Type, all)
	}
	if err != nil {
		return Matches{}, err
	}
	if strings.TrimSpace(in.Query) != "" {
		all = site.Ranked(all, in.Query)
		if same := site.Exactly(all, in.Query); len(same) > 0 {
			all = same
		}
	}
	out := Matches{Cut: cut}
	for _, f := range all[:min(maxMatches, len(all))] {
		exact := site.SameName(f.Name, in.Query) || strings.EqualFold(f.ID, strings.TrimSpace(in.Query))
		when := f.UpdatedDate.UTC().Format("2006-01-02 15:04")
		out.Matches = append(out.Matches, Match{
			Value: f.ID, Label: fmt.Sprintf("%s (%s, changed %s)", present.Clip(f.Name, 80), f.Type, when),
			Detail: notCalledSo(in.Query, exact), Name: present.NameOf(f.Name), UpdatedAt: when, Exact: exact,
		})
	}
	if in.OfferNew {
		out.Matches = append(out.Matches, Match{Value: newFlow, Label: "create a new chatflow"})
	}
	return out, nil
}

// loadFlow reads a whole flow once for all later steps.
func (r *Reader) loadFlow(ctx context.Context, call domainkit.Call, in site.FlowRef) (domainkit.Result[present.Digest], error) {
	f, g, err := r.site.GraphOf(ctx, call, in.ChatflowID)
	if err != nil {
		return domainkit.Result[present.Digest]{}, err
	}
	defs, err := r.site.Definitions(ctx, call.Instance)
	if err != nil {
		return domainkit.Result[present.Digest]{}, err
	}
	out := present.DigestOf(g, site.KindOf(f.Type), defs)
	out.ChatflowID, out.Name = f.ID, present.NameOf(f.Name)
	return domainkit.Result[present.Digest]{Facts: out, Artifacts: map[string]any{site.ArtifactFlow: f.FlowData}}, nil
}
