package access

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Sight is which gates and questions a caller may see, as data that a store
// can filter by. It says the same as MayReadGate.
type Sight struct {
	// All sees everything.
	All bool
	// Subject sees what belongs to its own sessions.
	Subject string
	// Roles are what the caller could decide by: they show the approvals that ask
	// for one of them, of whatever session.
	Roles []string
	// Domains and Classes narrow that to actions on these; an empty list does not
	// narrow, and neither narrows what has no action.
	Domains []string
	Classes []contracts.SideEffectClass
}

// Sight gives what the caller may see.
func (p Principal) Sight() Sight {
	roles := make([]string, 0, len(p.Roles)+1)
	for _, r := range p.Roles {
		roles = append(roles, string(r))
	}
	if p.Has(RoleAdmin) && !p.Has(RoleApprover) {
		roles = append(roles, string(RoleApprover)) // an admin stands for the default approver
	}
	return Sight{
		All: p.May(ActionReadAllRuns) == nil, Subject: p.Subject(), Roles: roles,
		Domains: p.Scopes.Domains, Classes: p.Scopes.Classes,
	}
}

// Sees tells whether a gate of a session of this owner is in sight.
func (s Sight) Sees(i contracts.Interrupt, owner string) bool {
	return s.All || s.Subject == owner || s.decides(i)
}

// decides compares roles and scopes with what the gate or question asks for.
func (s Sight) decides(i contracts.Interrupt) bool {
	if !slices.ContainsFunc(AskedRoles(i), func(r string) bool { return slices.Contains(s.Roles, r) }) {
		return false
	}
	if i.Action == nil {
		return true
	}
	domain, _, _ := strings.Cut(i.Action.Capability, ".")
	return (len(s.Domains) == 0 || slices.Contains(s.Domains, domain)) &&
		(len(s.Classes) == 0 || slices.Contains(s.Classes, i.Action.Policy.SideEffectClass))
}

// AskedRoles are the roles that a gate, or a question of a procedure, is put to;
// all other questions are put to whoever asked.
func AskedRoles(i contracts.Interrupt) []string {
	switch {
	case i.Type.Gate():
		return GateRoles(i)
	case i.Workflow != "" || i.Type == contracts.InterruptBudgetExceeded:
		return i.Roles
	default:
		return nil
	}
}

// GateRoles are the roles of which one may decide a gate.
func GateRoles(i contracts.Interrupt) []string {
	if len(i.Roles) == 0 {
		return []string{string(RoleApprover)}
	}
	return i.Roles
}
