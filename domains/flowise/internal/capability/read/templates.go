package read

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// TemplateFilter are the parameters of list_templates.
type TemplateFilter struct {
	site.Place
	Query string `json:"query,omitempty" max:"200" description:"Words of the name, use case or description"`
	Type  string `json:"type,omitempty" enum:"Chatflow,AgentflowV2,Tool" description:"Only templates of this type"`
	Limit int    `json:"limit" default:"20" min:"1" max:"30" description:"How many at most"`
}

// TemplateList is a list of templates.
type TemplateList struct {
	Templates []knowledge.Template `json:"templates"`
	Total     int                  `json:"total"`
	// Stale means that the server did not answer and these are older.
	Stale bool `json:"stale"`
}

// Summary lists the first ones.
func (t TemplateList) Summary() string {
	var names []string
	for _, row := range t.Templates[:min(5, len(t.Templates))] {
		names = append(names, row.Name)
	}
	if len(names) == 0 {
		return "there is no such template"
	}
	return fmt.Sprintf("%s: %s", present.Count(t.Total, "template"), strings.Join(names, ", "))
}

func (r *Reader) listTemplates(ctx context.Context, call domainkit.Call, in TemplateFilter) (TemplateList, error) {
	all, stale, err := r.site.Templates(ctx, call.Instance)
	if err != nil {
		return TemplateList{}, err
	}
	words := strings.Fields(site.Plain(in.Query))
	out := TemplateList{Stale: stale}
	for _, t := range all {
		text := site.Plain(strings.Join(append([]string{t.Name, t.Description}, t.UseCases...), " "))
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
