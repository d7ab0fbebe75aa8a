package planner

import (
	"cmp"
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner/workflow"
)

// procedure compiles an intent that is a workflow.
type procedure struct {
	c *compiler
	a *plannedIntent
}

// build adds the steps of a workflow to the plan. If the plan is one workflow, its nodes have the
// names of the steps; otherwise the intent's id is their prefix.
func (p procedure) build() error {
	c, a := p.c, p.a
	req := workflow.Request{Catalog: c.req.Catalog, Entry: a.target.CapabilityEntry, Make: p}
	switch {
	case a.step != nil:
		req.Params, req.Outer = a.call.members[0].params, a.outer(c.graph.nextID())
	default:
		req.Params = literals(a.call.members[0].params)
		req.After, req.Order = a.edges()
		if len(c.req.Intents) > 1 {
			req.Frame = a.intent.ID
		}
	}
	out, err := workflow.Compile(req)
	if err != nil || len(c.questions.list) > 0 {
		return err
	}
	if len(c.graph.nodes)+len(out.Nodes) > c.graph.limit {
		return tooManyNodes(a.target.Ref(), c.graph.limit)
	}
	for _, n := range out.Nodes {
		n.IntentID = a.intent.ID
		c.graph.nodes = append(c.graph.nodes, n)
		a.built.calls = append(a.built.calls, n.NodeID)
	}
	a.built.ends, a.built.anchor = []string{out.Result}, out.Result
	if c.frames == nil {
		c.frames = map[string]contracts.Frame{}
	}
	maps.Copy(c.frames, out.Frames)
	p.lower(out.Limits)
	return nil
}

// lower applies the template's limits of built-in budgets: a caller may lower them further, but not
// raise them.
func (p procedure) lower(limits contracts.Budgets) {
	b := &p.c.req.Budgets
	b.MaxRetries, b.MaxToolCalls = smaller(b.MaxRetries, limits.MaxRetries), smaller(b.MaxToolCalls, limits.MaxToolCalls)
	b.MaxTokens = smaller(b.MaxTokens, limits.MaxTokens)
	p.c.graph.limit = smaller(p.c.graph.limit, limits.MaxNodes)
}

// Call returns the node of one call of a step.
func (p procedure) Call(e *contracts.CapabilityEntry, params map[string]any) (contracts.Node, error) {
	return p.c.tool(p.c.capability(e), params)
}

// Player returns who plays a role: the choice of the person or of the site, or the only candidate.
// If there are several, it asks a question and returns nil.
func (p procedure) Player(role string, players []contracts.RolePlayer) (*contracts.RolePlayer, error) {
	if chosen := cmp.Or(p.c.req.Roles[role], p.c.req.Catalog.Roles[role]); chosen != "" {
		player := playerOf(players, chosen)
		if player == nil {
			return nil, contracts.Errorf(contracts.CodeUnavailable, "%s needs %s for the role %q, which is not there", p.a.target.Ref(), chosen, role)
		}
		return player, p.c.permit(player.Entry)
	}
	var refused error
	allowed := slices.DeleteFunc(slices.Clone(players), func(r contracts.RolePlayer) bool {
		err := p.c.permit(r.Entry)
		refused = cmp.Or(err, refused)
		return err != nil
	})
	switch {
	case len(allowed) == 1:
		return &allowed[0], nil
	case len(allowed) > 1:
		p.c.questions.role(p.a.intent.ID, role, allowed)
		return nil, nil //nolint:nilnil // the question was asked; there is no player yet
	case refused != nil:
		return nil, refused
	}
	return nil, contracts.Errorf(contracts.CodeUnavailable, "nobody plays %q, which %s needs", role, p.a.target.Ref())
}

// Note records what is left out of the plan.
func (p procedure) Note(text string) { p.c.note(text) }
