package access

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Visibility describes which gates and questions a caller may see, in a form that a store can
// filter by. It agrees with MayReadGate.
type Visibility struct {
	// All means everything.
	All bool
	// Subject may see the interrupts of its own sessions.
	Subject string
	// Roles are the roles that the caller could decide by: they may see the interrupts that ask for
	// one of them, in any session.
	Roles []string
	// Domains and Classes restrict all that to actions on these; an empty list does not restrict.
	// Of the interrupts about no domain, the caller then sees only their own, and those that they
	// could decide.
	Domains []string
	Classes []contracts.SideEffectClass
}

// Visibility returns what the caller may see.
func (p Principal) Visibility() Visibility {
	roles := make([]string, 0, len(p.Roles)+1)
	for _, r := range p.Roles {
		roles = append(roles, string(r))
	}
	if p.Has(RoleAdmin) && !p.Has(RoleApprover) {
		roles = append(roles, string(RoleApprover)) // admin includes the default approver
	}
	return Visibility{
		All: p.May(ActionReadGates) == nil, Subject: p.Subject(), Roles: roles,
		Domains: p.Scopes.Domains, Classes: p.Scopes.Classes,
	}
}

// CanSee reports whether a gate in a session of this owner is visible.
func (s Visibility) CanSee(i contracts.Interrupt, owner string) bool {
	if !s.Reaches(i) {
		return false
	}
	return s.All && (!s.Narrow() || DomainOf(i) != "") || s.Subject == owner || s.decides(i)
}

// decides reports whether one of the roles may decide the gate or question.
func (s Visibility) decides(i contracts.Interrupt) bool {
	return slices.ContainsFunc(AskedRoles(i), func(r string) bool { return slices.Contains(s.Roles, r) })
}

// Narrow reports whether the scopes restrict anything.
func (s Visibility) Narrow() bool { return len(s.Domains)+len(s.Classes) > 0 }

// DomainOf returns the domain that a gate or question is about, "" if it is about none.
func DomainOf(i contracts.Interrupt) string {
	tool := i.ToolName
	if i.Action != nil {
		tool = i.Action.Capability
	}
	domain, _, _ := strings.Cut(tool, ".")
	return domain
}

// Reaches reports whether a gate or question is within the scopes. A question without an action has
// no class, so that only its domain is checked.
func (s Visibility) Reaches(i contracts.Interrupt) bool {
	domain := DomainOf(i)
	return domain == "" || (len(s.Domains) == 0 || slices.Contains(s.Domains, domain)) &&
		(len(s.Classes) == 0 || i.Action == nil || slices.Contains(s.Classes, i.Action.Policy.SideEffectClass))
}

// AskedRoles returns the roles that may decide a gate or answer a procedure's question; all other
// questions are for the requester.
func AskedRoles(i contracts.Interrupt) []string {
	switch {
	case i.Type.IsGate():
		return GateRoles(i)
	case i.Workflow != "":
		domain, _, _ := strings.Cut(i.Workflow, ".")
		return rolesOf(domain, i.Roles)
	case i.Type == contracts.InterruptBudgetExceeded:
		return i.Roles
	default:
		return nil
	}
}

// GateRoles returns the roles of which one may decide a gate.
func GateRoles(i contracts.Interrupt) []string {
	if len(i.Roles) == 0 {
		return []string{string(RoleApprover)}
	}
	return rolesOf(DomainOf(i), i.Roles)
}

// rolesOf returns the full names of roles from a domain's manifest.
func rolesOf(domain string, words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = contracts.RoleOf(domain, w)
	}
	return out
}
