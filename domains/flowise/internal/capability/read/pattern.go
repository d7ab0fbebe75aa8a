package read

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// PatternFilter are the parameters of a search for patterns.
type PatternFilter struct {
	Query    string `json:"query,omitempty" max:"300" description:"Words of what it shall be good for"`
	Category string `json:"category,omitempty" enum:"rag,tool_agent,agentflow,conversational,custom" description:"Only patterns of this category"`
	Type     string `json:"type,omitempty" enum:"CHATFLOW,AGENTFLOW,MULTIAGENT" description:"Only patterns of this type of flow"`
	NodeType string `json:"node_type,omitempty" max:"100" description:"Only patterns with this kind of node"`
	Limit    int    `json:"limit" default:"10" min:"1" max:"20" description:"How many at most"`
}

// PatternList is a list of patterns, best first.
type PatternList struct {
	Patterns []site.PatternFacts `json:"patterns"`
	Total    int                 `json:"total"`
}

// Summary lists the first ones.
func (p PatternList) Summary() string {
	var names []string
	for _, row := range p.Patterns[:min(5, len(p.Patterns))] {
		names = append(names, fmt.Sprintf("%d %s", row.PatternID, present.Clip(row.Name, 40)))
	}
	if len(names) == 0 {
		return "there is no such pattern"
	}
	return fmt.Sprintf("%s: %s", present.Count(p.Total, "pattern"), strings.Join(names, ", "))
}

func (r *Reader) searchPatterns(ctx context.Context, call domainkit.Call, in PatternFilter) (PatternList, error) {
	all, err := r.site.Data.Patterns(ctx)
	if err != nil {
		return PatternList{}, err
	}
	scores := map[int64]int{}
	fits := slices.DeleteFunc(all, func(p store.Pattern) bool {
		scores[p.ID] = site.PatternScore(in.Query, strings.Join(append([]string{p.Name, p.Description, p.Category}, p.NodeTypes...), " "))
		return in.Query != "" && scores[p.ID] == 0 || in.Category != "" && p.Category != in.Category ||
			in.Type != "" && p.Kind != in.Type || in.NodeType != "" && !slices.Contains(p.NodeTypes, in.NodeType)
	})
	slices.SortStableFunc(fits, func(a, b store.Pattern) int { return cmp.Compare(scores[b.ID], scores[a.ID]) })
	out := PatternList{Total: len(fits)}
	for _, p := range fits[:min(in.Limit, len(fits))] {
		row := site.SavedPattern(p)
		now, err := r.site.PatternFingerprint(ctx, call.Instance, p.NodeTypes)
		if err != nil {
			return PatternList{}, err
		}
		row.Compatible, row.Description = now == p.Fingerprint, present.Clip(p.Description, 160)
		out.Patterns = append(out.Patterns, row)
	}
	return out, nil
}

// UsePattern are the parameters of use_pattern.
type UsePattern struct {
	site.PatternRef
	AnySchema bool `json:"any_schema,omitempty" description:"Also when the definitions of its nodes have changed"`
}

// usePattern returns the graph of a pattern as the base of a new flow.
func (r *Reader) usePattern(ctx context.Context, call domainkit.Call, in UsePattern) (domainkit.Result[site.PatternFacts], error) {
	p, err := r.site.Usable(ctx, call, in.PatternID, in.AnySchema)
	if err != nil {
		return domainkit.Result[site.PatternFacts]{}, err
	}
	return domainkit.Result[site.PatternFacts]{Facts: site.SavedPattern(p), Artifacts: map[string]any{site.ArtifactFlow: p.FlowData}}, nil
}

// PatternPresence says whether a pattern exists.
type PatternPresence struct {
	Found     bool   `json:"found"`
	PatternID int64  `json:"pattern_id"`
	SHA256    string `json:"sha256,omitempty"`
}

func (r *Reader) findPattern(ctx context.Context, _ domainkit.Call, in site.PatternRef) (PatternPresence, error) {
	p, err := r.site.Data.Pattern(ctx, in.PatternID)
	if err != nil && contracts.CodeOf(err) == contracts.CodeNotFound {
		return PatternPresence{PatternID: in.PatternID}, nil
	}
	return PatternPresence{Found: err == nil, PatternID: in.PatternID, SHA256: p.SHA256}, err
}
