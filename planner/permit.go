package planner

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// permit refuses capabilities that the owner's roles or the phase exclude.
func (c *compiler) permit(e *contracts.CapabilityEntry) error {
	return permitted(e, c.req.Owner, c.req.Phase)
}

func permitted(e *contracts.CapabilityEntry, owner contracts.Principal, phase string) error {
	meta := e.Capability.Metadata
	held := owner.In(e.Domain).Roles
	mayCall := func(role string) bool { return slices.Contains(held, role) }
	if len(meta.AllowedRoles) > 0 && !slices.ContainsFunc(meta.AllowedRoles, mayCall) {
		return contracts.Errorf(contracts.CodeForbidden, "%s may only be used with one of the roles %s",
			e.Ref(), strings.Join(meta.AllowedRoles, ", "))
	}
	if phase != "" && len(meta.Phases) > 0 && !slices.Contains(meta.Phases, phase) {
		return contracts.Errorf(contracts.CodeForbidden, "%s may not be used in the phase %q, only in %s",
			e.Ref(), phase, strings.Join(meta.Phases, ", "))
	}
	return nil
}

// phase returns the phase of a node: the request's, else the first phase of its capability.
func (c *compiler) phase(e *contracts.CapabilityEntry) string {
	if phases := e.Capability.Metadata.Phases; c.req.Phase == "" && len(phases) > 0 {
		return phases[0]
	}
	return c.req.Phase
}

// locks returns the lock templates of a write; reads take none. Placeholders are not filled in,
// because an approver may still edit the parameters.
func locks(target *capability, instance string) []string {
	if !target.Policy.SideEffectClass.Writes() {
		return nil
	}
	var out []string
	for _, key := range target.Capability.Metadata.Locks {
		if !strings.HasPrefix(key, "shared:") {
			key = target.Domain + "/" + instance + ":" + key
		}
		if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}
