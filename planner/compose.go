package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// notifierExtras are the optional parameters of the built-in role; they are dropped for a player
// that does not declare them.
var notifierExtras = []string{"title", "channel"}

// compose adds the follow-up calls of a call once, after its join.
func (c *compiler) compose(cl *call, b placedCall) error {
	rule := cl.target.Capability.Metadata.Composition
	if rule == nil {
		return nil
	}
	here := bindings{node: b.anchor, params: b.params}
	var when *contracts.Condition
	if rule.EnabledIf != nil {
		r := rewriting{bindings: here}
		cond, holds, err := r.condition(*rule.EnabledIf)
		if err != nil {
			return fmt.Errorf("enabled_if of the composition of %s: %w", cl.target.Ref(), err)
		}
		if !holds {
			return nil
		}
		when = cond
	}
	if len(cl.chain) > contracts.MaxFollowupDepth {
		return contracts.Errorf(contracts.CodeBudgetExceeded, "follow-ups would chain deeper than %d: %s",
			contracts.MaxFollowupDepth, strings.Join(cl.chain, ", then "))
	}
	for i, role := range rule.FollowupRoles {
		if slices.Contains(rule.FollowupRoles[:i], role) {
			continue
		}
		if err := c.follow(cl, role, here, when); err != nil {
			return err
		}
	}
	return nil
}

// follow adds the call of the capability that plays a role.
func (c *compiler) follow(cl *call, role string, here bindings, when *contracts.Condition) error {
	rule := cl.target.Capability.Metadata.Composition
	what := fmt.Sprintf("the composition of %s with the role %q", cl.target.Ref(), role)
	player, err := c.player(cl, role, what)
	if err != nil || player == nil {
		return err
	}
	ref := player.Entry.Ref()
	if slices.Contains(cl.chain, ref) {
		return contracts.Errorf(contracts.CodeInvalid, "follow-ups go in a circle: %s, then %s again", strings.Join(cl.chain, ", then "), ref)
	}
	target := c.capability(player.Entry)
	params, complete, err := c.roleParams(cl, role, target, player.ParamMap, here, what)
	if err != nil || !complete {
		return err
	}
	key, err := contracts.Hash([]any{here.node, ref, params, when})
	if err != nil || c.followed[key] {
		return err
	}
	c.followed[key] = true
	p, err := c.prepare(target, params)
	if err != nil {
		return err
	}
	if err := p.refused(target, what); err != nil {
		return err
	}
	next := &call{
		preparedParams: p, target: target, intent: cl.intent, role: contracts.RoleFollowup, of: here.node,
		required: rule.FollowupRequired && cl.required, deps: []string{here.node}, when: when,
		chain: append(slices.Clone(cl.chain), ref),
	}
	b, err := c.expand(next)
	if err != nil {
		return err
	}
	return c.compose(next, b)
}

// roleParams returns the parameters for a player: the composition fills the parameters of the role,
// and the player maps them to its own.
func (c *compiler) roleParams(cl *call, role string, target *capability, playerMap map[string]any, here bindings, what string) (map[string]any, bool, error) {
	params, complete, err := c.mapped(cl, cl.target.Capability.Metadata.Composition.ParamMap, here, what)
	if err != nil || !complete {
		return nil, complete, err
	}
	if _, ok := params["message"]; role == contracts.RoleNotifier && !ok {
		return nil, false, contracts.Errorf(contracts.CodeInvalid, "%s gives no message", what)
	}
	if len(playerMap) > 0 {
		r := rewriting{bindings: bindings{node: here.node, params: params}}
		if params, err = r.values(playerMap); err != nil {
			return nil, false, fmt.Errorf("the role %q of %s: %w", role, target.Ref(), err)
		}
		return params, true, nil
	}
	for _, name := range notifierExtras {
		if role == contracts.RoleNotifier && !target.knows(name) {
			delete(params, name)
		}
	}
	return params, true, nil
}

// mapped rewrites a param_map. A missing parameter inside a text is asked for; then the result is
// incomplete.
func (c *compiler) mapped(cl *call, paramMap map[string]any, at bindings, what string) (map[string]any, bool, error) {
	r := rewriting{bindings: at}
	out, err := r.values(paramMap)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", what, err)
	}
	for _, name := range r.absent {
		if cl.role != "" || !cl.target.knows(name) {
			return nil, false, contracts.Errorf(contracts.CodeInvalid, "%s reads the parameter %q, which is not there", what, name)
		}
		c.askParam(cl.intent, cl.target, name, "")
	}
	return out, len(r.absent) == 0, nil
}

// refused returns an error if parameters from a manifest are invalid or incomplete.
func (p *preparedParams) refused(target *capability, what string) error {
	faults := slices.Clone(p.faults)
	for _, name := range p.missing {
		faults = append(faults, fault("/"+contracts.EscapeToken(name), "is required"))
	}
	if len(faults) == 0 {
		return nil
	}
	return contracts.Invalid(fmt.Sprintf("%s does not give %s what it needs", what, target.Ref()), faults...)
}

// player returns who plays a role: the person's choice, the site's, or the only one that the owner
// may use. Nil without an error means that the follow-up is left out, or that a person must choose
// first.
func (c *compiler) player(cl *call, role, what string) (*contracts.RolePlayer, error) {
	players := c.req.Catalog.Playing(role)
	if chosen, ok := c.req.Roles[role]; ok {
		p := playerOf(players, chosen)
		if p == nil {
			return nil, contracts.Invalid("the choice for a role is not possible",
				fault("/roles/"+contracts.EscapeToken(role), "%s does not play the role %q", chosen, role))
		}
		return p, c.permit(p.Entry)
	}
	required := cl.target.Capability.Metadata.Composition.FollowupRequired
	if chosen, ok := c.req.Catalog.Roles[role]; ok {
		if players = only(playerOf(players, chosen)); len(players) == 0 {
			return nil, c.without(required, contracts.Errorf(contracts.CodeUnavailable, "%s needs %s, which is not registered", what, chosen))
		}
	}
	if len(players) == 0 {
		return nil, c.without(required, contracts.Errorf(contracts.CodeUnsupported, "%s finds no capability that plays it", what))
	}
	var refused error
	allowed := slices.DeleteFunc(players, func(p contracts.RolePlayer) bool {
		err := c.permit(p.Entry)
		if err != nil {
			refused = err
		}
		return err != nil
	})
	switch len(allowed) {
	case 0:
		return nil, c.without(required, refused)
	case 1:
		return &allowed[0], nil
	}
	c.questions.role(cl.intent, role, allowed)
	return nil, nil //nolint:nilnil // the question was asked; there is no player yet
}

// without leaves an optional step out with a note. For a required step it returns reason.
func (c *compiler) without(required bool, reason error) error {
	if required {
		return reason
	}
	c.note("left out: " + reason.Error())
	return nil
}

func playerOf(players []contracts.RolePlayer, ref string) *contracts.RolePlayer {
	for i := range players {
		if players[i].Entry.Ref() == ref {
			return &players[i]
		}
	}
	return nil
}

func only(p *contracts.RolePlayer) []contracts.RolePlayer {
	if p == nil {
		return nil
	}
	return []contracts.RolePlayer{*p}
}
