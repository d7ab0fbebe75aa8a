package access

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Visibility is which gates and questions a caller may see, in a form that a store can filter
// by. It agrees with MayReadGate.
type Visibility struct {
	// All sees everything.
	All bool
	// Subject sees what belongs to its own sessions.
	Subject string
	// Roles are what the caller could decide by: they show the approvals that ask
	// for one of them, of whatever session.
	Roles []string
	// Domains and Classes narrow all that to actions on these; an empty list does
	// not narrow. What is about no domain is narrowed to the caller's own, and to what
	// they could decide.
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
		roles = append(roles, string(RoleApprover)) // an admin stands for the default approver
	}
	return Visibility{
		All: p.May(ActionReadGates) == nil, Subject: p.Subject(), Roles: roles,
		Domains: p.Scopes.Domains, Classes: p.Scopes.Classes,
	}
}

// CanSee reports whether a gate of a session of this owner is in sight.
func (s Visibility) CanSee(i contracts.Interrupt, owner string) bool {
	if !s.Reaches(i) {
		return false
	}
	return s.All && (!s.Narrow() || DomainOf(i) != "") || s.Subject == owner || s.decides(i)
}

// decides compares roles with what the gate or question asks for.
func (s Visibility) decides(i contracts.Interrupt) bool {
	return slices.ContainsFunc(AskedRoles(i), func(r string) bool { return slices.Contains(s.Roles, r) })
}

// Narrow reports whether the scopes narrow anything.
func (s Visibility) Narrow() bool { return len(s.Domains)+len(s.Classes) > 0 }

// DomainOf is the domain that a gate or a question is about, "" if it is about
// none.
func DomainOf(i contracts.Interrupt) string {
	tool := i.ToolName
	if i.Action != nil {
		tool = i.Action.Capability
	}
	domain, _, _ := strings.Cut(tool, ".")
	return domain
}

// Reaches reports whether the scopes let a gate through. The class of a question is
// not known, and does not count.
func (s Visibility) Reaches(i contracts.Interrupt) bool {
	domain := DomainOf(i)
	return domain == "" || (len(s.Domains) == 0 || slices.Contains(s.Domains, domain)) &&
		(len(s.Classes) == 0 || i.Action == nil || slices.Contains(s.Classes, i.Action.Policy.SideEffectClass))
}

// AskedRoles are the roles that a gate, or a question of a procedure, is put to;
// all other questions are put to the requester.
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

// GateRoles are the roles of which one may decide a gate.
func GateRoles(i contracts.Interrupt) []string {
	if len(i.Roles) == 0 {
		return []string{string(RoleApprover)}
	}
	return rolesOf(DomainOf(i), i.Roles)
}

// rolesOf are the roles that the words of a domain's manifest stand for.
func rolesOf(domain string, words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = contracts.RoleOf(domain, w)
	}
	return out
}
