package policy

import (
	"context"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Acting is the policy for questions to flows whose tools may have effects outside Flowise. Asking
// is declared as a call without effects, so it is not approved and may be retried.
type Acting string

// The policies.
const (
	ActingRefuse Acting = "refuse"
	ActingAllow  Acting = "allow"
)

// Harmless refuses flows that may act, unless the operator allows them.
func (r *Rules) Harmless(ctx context.Context, call domainkit.Call, f api.Flow, g *flow.Graph) error {
	if r.Acting == ActingAllow {
		return nil
	}
	defs, err := r.site.Definitions(ctx, call.Instance)
	if err != nil {
		return err
	}
	nodes := flow.Acting(g, defs)
	if len(nodes) == 0 {
		return nil
	}
	refusal := domainkit.Refusef(contracts.ErrPrecondition,
		"%s may act on the world when it is asked, by %s, and nobody would approve that; %s asks it behind an approval, or let the operator allow such questions (--acting allow)",
		present.Clip(f.Name, 80), strings.Join(nodes[:min(5, len(nodes))], ", "), site.OpRun)
	refusal.Detail = map[string]any{"acting_nodes": nodes[:min(20, len(nodes))]}
	return refusal
}
