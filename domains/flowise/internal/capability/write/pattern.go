package write

import (
	"cmp"
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// SavePattern are the parameters of save_pattern.
type SavePattern struct {
	site.FlowRef
	Name        string `json:"name,omitempty" max:"120" description:"Name of the pattern; that of the chatflow unless given"`
	Description string `json:"description,omitempty" max:"500" description:"What it is good for"`
	Category    string `json:"category,omitempty" enum:"rag,tool_agent,agentflow,conversational,custom" description:"Inferred from the nodes unless given"`
}

// savePattern stores a valid flow with the fingerprint of its node definitions.
func (w *Writer) savePattern(ctx context.Context, call domainkit.Call, in SavePattern) (site.PatternFacts, error) {
	f, err := w.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return site.PatternFacts{}, err
	}
	_, checked, err := w.author.Check(ctx, call.Instance, f.FlowData, site.KindOf(f.Type))
	if err != nil {
		return site.PatternFacts{}, err
	}
	if !checked.OK {
		return site.PatternFacts{}, domainkit.Refusef(contracts.ErrPrecondition, "only a valid flow becomes a pattern: %s", checked.Summary())
	}
	g, err := flow.Decompile([]byte(f.FlowData))
	if err != nil {
		return site.PatternFacts{}, site.Unreadable(err)
	}
	types := present.SortedKeys(present.Histogram(g))
	fingerprint, err := w.site.PatternFingerprint(ctx, call.Instance, types)
	if err != nil {
		return site.PatternFacts{}, err
	}
	saved, err := w.site.Data.SavePattern(ctx, store.Pattern{
		Name: cmp.Or(in.Name, present.Clip(f.Name, 120)), Description: in.Description, Category: cmp.Or(in.Category, site.PatternCategory(types)),
		Kind: checked.Type, NodeTypes: types, Fingerprint: fingerprint, FlowData: f.FlowData, SHA256: site.HashOf(f.FlowData), SavedBy: call.IdempotencyKey,
	})
	if err != nil {
		return site.PatternFacts{}, err
	}
	return site.SavedPattern(saved), nil
}

func (w *Writer) findSavedPattern(ctx context.Context, key string) (Found, error) {
	yes, no := true, false
	p, err := w.site.Data.PatternSavedBy(ctx, key)
	switch {
	case err == nil:
		return Found{Applied: &yes, PatternID: p.ID}, nil
	case contracts.CodeOf(err) != contracts.CodeNotFound:
		return Found{}, err
	case !w.site.Data.Durable():
		return Found{}, nil
	}
	return Found{Applied: &no}, nil
}

// Removed is the result of removing a pattern.
type Removed struct {
	PatternID int64 `json:"pattern_id"`
	// WasThere is false if there was nothing to remove.
	WasThere bool `json:"was_there"`
}

func (w *Writer) deletePattern(ctx context.Context, _ domainkit.Call, in site.PatternRef) (Removed, error) {
	was, err := w.site.Data.DeletePattern(ctx, in.PatternID)
	return Removed{in.PatternID, was}, err
}
