package gates

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Rights returns for each decision why the caller may not make it, nil if they may. For a closed
// interrupt every decision has an error.
func (g *Gates) Rights(ctx context.Context, who access.Principal, i contracts.Interrupt) (map[contracts.Decision]error, error) {
	out := map[contracts.Decision]error{}
	decisions := []contracts.Decision{contracts.DecisionAnswer}
	if i.Type.IsGate() {
		decisions = []contracts.Decision{contracts.DecisionApprove, contracts.DecisionEdit, contracts.DecisionReject}
	}
	if i.Status != contracts.InterruptOpen {
		for _, d := range decisions {
			out[d] = contracts.Errorf(contracts.CodeConflict, "%s is %s already", i.Code, i.Status)
		}
		return out, nil
	}
	panel, err := g.reviewers.Panel(ctx)
	if err != nil {
		return nil, err
	}
	owner, err := g.sessions.Owner(ctx, i.SessionID)
	if err != nil {
		return nil, err
	}
	shaped, err := g.shaped(ctx, i)
	if err != nil {
		return nil, err
	}
	for _, d := range decisions {
		out[d] = mayDecide(panel, who, owner, with(i, shaped), d)
	}
	return out, nil
}
