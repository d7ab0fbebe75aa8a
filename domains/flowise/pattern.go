package flowise

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/pattern"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// SavePattern is a wish to keep a chatflow as a pattern.
type SavePattern struct {
	FlowRef
	Name        string `json:"name,omitempty" max:"120" description:"Name of the pattern; that of the chatflow unless given"`
	Description string `json:"description,omitempty" max:"500" description:"What it is good for"`
	Category    string `json:"category,omitempty" enum:"rag,tool_agent,agentflow,conversational,custom" description:"Inferred from the nodes unless given"`
}

// PatternFacts describes a pattern without its graph.
type PatternFacts struct {
	PatternID   int64    `json:"pattern_id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Category    string   `json:"category"`
	Type        string   `json:"type"`
	NodeTypes   []string `json:"node_types"`
	SHA256      string   `json:"sha256"`
	// Uses counts the chatflows that were created from it by its number.
	Uses       int    `json:"uses"`
	LastUsedAt string `json:"last_used_at,omitempty"`
	// Compatible says that the definitions of its nodes are still the same.
	Compatible bool `json:"compatible"`
}

// Summary names the pattern.
func (p PatternFacts) Summary() string {
	return fmt.Sprintf("pattern %d: %s (%s, %s)", p.PatternID, clip(p.Name, 80), p.Category, p.Type)
}

func savedPattern(p store.Pattern) PatternFacts {
	out := PatternFacts{
		PatternID: p.ID, Name: p.Name, Description: p.Description, Category: p.Category, Type: p.Kind,
		NodeTypes: p.NodeTypes[:min(20, len(p.NodeTypes))], SHA256: p.SHA256, Uses: p.Uses, Compatible: true,
	}
	if !p.LastUsedAt.IsZero() {
		out.LastUsedAt = p.LastUsedAt.Format(time.RFC3339)
	}
	return out
}

// savePattern keeps a valid flow with the fingerprint of its nodes.
func (d *domain) savePattern(ctx context.Context, call domainkit.Call, in SavePattern) (PatternFacts, error) {
	f, err := d.flow(ctx, call, in.ChatflowID)
	if err != nil {
		return PatternFacts{}, err
	}
	_, checked, err := d.check(ctx, call.Instance, f.FlowData, kindOf(f.Type))
	if err != nil {
		return PatternFacts{}, err
	}
	if !checked.OK {
		return PatternFacts{}, domainkit.Refusef(contracts.ErrPrecondition, "only a valid flow becomes a pattern: %s", checked.Summary())
	}
	g, err := flow.Decompile([]byte(f.FlowData))
	if err != nil {
		return PatternFacts{}, unreadable(err)
	}
	types := sortedKeys(histogram(g))
	fingerprint, err := d.patternFingerprint(ctx, call.Instance, types)
	if err != nil {
		return PatternFacts{}, err
	}
	saved, err := d.data.SavePattern(ctx, store.Pattern{
		Name: cmp.Or(in.Name, clip(f.Name, 120)), Description: in.Description, Category: cmp.Or(in.Category, pattern.Category(types)),
		Kind: checked.Type, NodeTypes: types, Fingerprint: fingerprint, FlowData: f.FlowData, SHA256: hashOf(f.FlowData), SavedBy: call.IdempotencyKey,
	})
	if err != nil {
		return PatternFacts{}, err
	}
	return savedPattern(saved), nil
}

func (d *domain) patternFingerprint(ctx context.Context, instance string, types []string) (string, error) {
	defs, err := d.definitions(ctx, instance)
	if err != nil {
		return "", err
	}
	return pattern.Fingerprint(defs, types)
}

func (d *domain) findSavedPattern(ctx context.Context, key string) (Found, error) {
	yes, no := true, false
	p, err := d.data.PatternSavedBy(ctx, key)
	switch {
	case err == nil:
		return Found{Applied: &yes, PatternID: p.ID}, nil
	case contracts.CodeOf(err) != contracts.CodeNotFound:
		return Found{}, err
	case !d.data.Durable():
		return Found{}, nil
	}
	return Found{Applied: &no}, nil
}

// PatternFilter chooses patterns.
type PatternFilter struct {
	Query    string `json:"query,omitempty" max:"300" description:"Words of what it shall be good for"`
	Category string `json:"category,omitempty" enum:"rag,tool_agent,agentflow,conversational,custom" description:"Only patterns of this category"`
	Type     string `json:"type,omitempty" enum:"CHATFLOW,AGENTFLOW,MULTIAGENT" description:"Only patterns of this type of flow"`
	NodeType string `json:"node_type,omitempty" max:"100" description:"Only patterns with this kind of node"`
	Limit    int    `json:"limit" default:"10" min:"1" max:"20" description:"How many at most"`
}

// PatternList is a list of patterns, the best first.
type PatternList struct {
	Patterns []PatternFacts `json:"patterns"`
	Total    int            `json:"total"`
}

// Summary names the first of them.
func (p PatternList) Summary() string {
	var names []string
	for _, row := range p.Patterns[:min(5, len(p.Patterns))] {
		names = append(names, fmt.Sprintf("%d %s", row.PatternID, clip(row.Name, 40)))
	}
	if len(names) == 0 {
		return "there is no such pattern"
	}
	return fmt.Sprintf("%s: %s", count(p.Total, "pattern"), strings.Join(names, ", "))
}

func (d *domain) searchPatterns(ctx context.Context, call domainkit.Call, in PatternFilter) (PatternList, error) {
	all, err := d.data.Patterns(ctx)
	if err != nil {
		return PatternList{}, err
	}
	scores := map[int64]int{}
	fits := slices.DeleteFunc(all, func(p store.Pattern) bool {
		scores[p.ID] = pattern.Score(in.Query, strings.Join(append([]string{p.Name, p.Description, p.Category}, p.NodeTypes...), " "))
		return in.Query != "" && scores[p.ID] == 0 || in.Category != "" && p.Category != in.Category ||
			in.Type != "" && p.Kind != in.Type || in.NodeType != "" && !slices.Contains(p.NodeTypes, in.NodeType)
	})
	slices.SortStableFunc(fits, func(a, b store.Pattern) int { return cmp.Compare(scores[b.ID], scores[a.ID]) })
	out := PatternList{Total: len(fits)}
	for _, p := range fits[:min(in.Limit, len(fits))] {
		row := savedPattern(p)
		now, err := d.patternFingerprint(ctx, call.Instance, p.NodeTypes)
		if err != nil {
			return PatternList{}, err
		}
		row.Compatible, row.Description = now == p.Fingerprint, clip(p.Description, 160)
		out.Patterns = append(out.Patterns, row)
	}
	return out, nil
}

// PatternRef names a pattern.
type PatternRef struct {
	PatternID int64 `json:"pattern_id" min:"1" description:"Which pattern"`
}

// UsePattern names a pattern to begin a new flow with.
type UsePattern struct {
	PatternRef
	AnySchema bool `json:"any_schema,omitempty" description:"Also when the definitions of its nodes have changed"`
}

// usePattern gives the graph of a pattern, as the base of a new flow.
func (d *domain) usePattern(ctx context.Context, call domainkit.Call, in UsePattern) (domainkit.Result[PatternFacts], error) {
	p, err := d.usable(ctx, call, in.PatternID, in.AnySchema)
	if err != nil {
		return domainkit.Result[PatternFacts]{}, err
	}
	return domainkit.Result[PatternFacts]{Facts: savedPattern(p), Artifacts: map[string]any{artifactFlow: p.FlowData}}, nil
}

// usable gives a pattern whose nodes are still defined as they were.
func (d *domain) usable(ctx context.Context, call domainkit.Call, id int64, anySchema bool) (store.Pattern, error) {
	p, err := d.data.Pattern(ctx, id)
	if err != nil {
		return store.Pattern{}, failure(err)
	}
	now, err := d.patternFingerprint(ctx, call.Instance, p.NodeTypes)
	if err != nil {
		return store.Pattern{}, err
	}
	if now != p.Fingerprint && !anySchema {
		return store.Pattern{}, domainkit.Refusef(contracts.ErrPrecondition, "the definitions of the nodes of pattern %d have changed since it was saved", id)
	}
	return p, nil
}

// PatternPresence says whether there is a pattern.
type PatternPresence struct {
	Found     bool   `json:"found"`
	PatternID int64  `json:"pattern_id"`
	SHA256    string `json:"sha256,omitempty"`
}

func (d *domain) findPattern(ctx context.Context, _ domainkit.Call, in PatternRef) (PatternPresence, error) {
	p, err := d.data.Pattern(ctx, in.PatternID)
	if err != nil && contracts.CodeOf(err) == contracts.CodeNotFound {
		return PatternPresence{PatternID: in.PatternID}, nil
	}
	return PatternPresence{Found: err == nil, PatternID: in.PatternID, SHA256: p.SHA256}, err
}

// Removed says what a removal did.
type Removed struct {
	PatternID int64 `json:"pattern_id"`
	// WasThere is false when there was nothing to remove.
	WasThere bool `json:"was_there"`
}

func (d *domain) deletePattern(ctx context.Context, _ domainkit.Call, in PatternRef) (Removed, error) {
	was, err := d.data.DeletePattern(ctx, in.PatternID)
	return Removed{in.PatternID, was}, err
}
