package access

import (
	"iter"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Principal is an authenticated caller with its roles and scopes.
type Principal struct {
	KeyID string
	Kind  Kind
	// ID is the name in the key: a person's for user keys, else a program's.
	ID string
	// Forwarded is the person that a frontend names; only frontend keys have one.
	Forwarded string
	// Vouched means that Forwarded was signed by an issuer that this server trusts. Without it a
	// frontend's key alone could claim any person.
	Vouched bool
	Roles   []Role
	// RolesBefore means that the key is older than some of Manifold's roles.
	RolesBefore bool
	Scopes      Scopes
	// Via is the interface that the caller used, for the record of decisions; "" is the API. It has
	// no effect on rights.
	Via string
	// From is the address that the request came from, for the record.
	From string
}

// Person returns the person who makes the request, "" if there is none: a service has none, a
// frontend the one that it forwards.
func (p Principal) Person() string {
	switch p.Kind {
	case KindUser:
		return p.ID
	case KindFrontend:
		return p.Forwarded
	case KindService:
	}
	return ""
}

// Shared reports whether the caller may be any of several people: a frontend that does not name a
// person.
func (p Principal) Shared() bool { return p.Kind == KindFrontend && p.Forwarded == "" }

// ForPerson returns the principal of a frontend's key for the named person, restricted to these
// roles; nil roles keep those of the key. vouched means that the name was signed. Principals of
// other keys are returned unchanged.
func (p Principal) ForPerson(name string, roles []Role, vouched bool) (Principal, error) {
	if p.Kind != KindFrontend {
		return p, nil
	}
	if !nameForm.MatchString(name) {
		return p, contracts.Errorf(contracts.CodeInvalid, "the forwarded user must match %s", nameForm)
	}
	p.Forwarded, p.Vouched = name, vouched
	if roles != nil {
		p.Roles = p.within(roles)
	}
	return p, nil
}

// Subject identifies the caller everywhere: in owners, requesters, decisions and rate limits. It is
// the person's name, or for programs "service:name" or "frontend:name". People's names cannot
// contain a colon, so nobody can pose as another kind.
func (p Principal) Subject() string {
	if person := p.Person(); person != "" {
		return person
	}
	return p.program()
}

// within returns those of the roles that do not exceed the caller's own: operators and admins
// include requester.
func (p Principal) within(roles []Role) []Role {
	return slices.DeleteFunc(slices.Clone(roles), func(r Role) bool {
		return !p.Has(r) && (r != RoleRequester || !p.Has(RoleOperator) && !p.Has(RoleAdmin))
	})
}

// program returns the subject of a key that belongs to no person.
func (p Principal) program() string { return string(p.Kind) + ":" + p.ID }

// Contract returns the principal in the form that domains and plans use. SubjectOf of it equals
// p.Subject.
func (p Principal) Contract() contracts.Principal {
	out := contracts.Principal{ID: p.ID, OnBehalfOf: p.Person()}
	if p.Kind != KindUser {
		out.ID = p.program()
	}
	if out.OnBehalfOf == out.ID {
		out.OnBehalfOf = ""
	}
	for _, r := range p.Roles {
		out.Roles = append(out.Roles, string(r))
	}
	return out
}

// SubjectOf is Subject for a stored principal.
func SubjectOf(p contracts.Principal) string { return p.Subject() }

// means reports whether the caller holds a role of Manifold: in an old key the same word may have
// been a domain's role.
func (p Principal) means(r Role) bool {
	young := r == RoleRequester || r == RoleAuditor
	return p.Has(r) && (!young || !p.RolesBefore)
}

// Has reports whether the caller holds the role.
func (p Principal) Has(r Role) bool { return slices.Contains(p.Roles, r) }

// Covers returns nil if the caller may use capabilities of this class in this domain. Writes need
// the role requester, operator or admin, and the scopes of the key apply.
func (p Principal) Covers(domain string, class contracts.SideEffectClass) error {
	if class.Writes() && !p.means(RoleRequester) && !p.Has(RoleOperator) && !p.Has(RoleAdmin) {
		return contracts.Errorf(contracts.CodeForbidden,
			"a write needs the role %s, %s or %s; this key has %s", RoleRequester, RoleOperator, RoleAdmin, rolesText(p.Roles))
	}
	return p.Scopes.covers(domain, class)
}

func (s Scopes) covers(domain string, class contracts.SideEffectClass) error {
	if len(s.Domains) > 0 && !slices.Contains(s.Domains, domain) {
		return contracts.Errorf(contracts.CodeForbidden, "this key does not reach the domain %s", domain)
	}
	if len(s.Classes) > 0 && !slices.Contains(s.Classes, class) {
		return contracts.Errorf(contracts.CodeForbidden, "this key does not reach the class %s", class)
	}
	return nil
}

// callsOf iterates over the nodes of a plan that call a capability, including their compensations.
func callsOf(plan *contracts.Plan) iter.Seq[*contracts.Node] {
	return func(yield func(*contracts.Node) bool) {
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			if n.Tool != "" && n.Policy != nil && !yield(n) {
				return
			}
			for _, u := range n.Undo {
				if back := u.Node(*n); !yield(&back) {
					return
				}
			}
		}
	}
}

// CoversPlan is Covers for every call of a plan.
func (p Principal) CoversPlan(plan contracts.Plan) error {
	for n := range callsOf(&plan) {
		domain, _, _ := strings.Cut(n.Tool, ".")
		if err := p.Covers(domain, n.Policy.SideEffectClass); err != nil {
			return err
		}
	}
	return nil
}

// All reports whether the scopes restrict nothing.
func (s Scopes) All() bool { return len(s.Domains) == 0 && len(s.Classes) == 0 }

// Reaches returns nil if all calls of a plan are within the scopes of the caller's key: a key
// neither sees nor steers what it could not have requested.
func (p Principal) Reaches(plan contracts.Plan) error {
	if p.Scopes.All() {
		return nil
	}
	for n := range callsOf(&plan) {
		domain, _, _ := strings.Cut(n.Tool, ".")
		if err := p.Scopes.covers(domain, n.Policy.SideEffectClass); err != nil {
			return err
		}
	}
	return nil
}

// MayManage returns nil if the caller may perform the action on a domain, "" for what belongs to no
// domain.
func (p Principal) MayManage(a Action, domain string) error {
	if err := p.May(a); err != nil {
		return err
	}
	if p.Scopes.All() || domain != "" && len(p.Scopes.Classes) == 0 && slices.Contains(p.Scopes.Domains, domain) {
		return nil
	}
	return contracts.Errorf(contracts.CodeForbidden, "%s reaches beyond the scope of this key", a)
}

// within reports whether s is at most as wide as other.
func (s Scopes) within(other Scopes) bool {
	return narrower(s.Domains, other.Domains) && narrower(s.Classes, other.Classes)
}

// narrower reports whether every entry of a is in b; an empty list is the widest.
func narrower[T comparable](a, b []T) bool {
	if len(b) == 0 {
		return true
	}
	return len(a) > 0 && !slices.ContainsFunc(a, func(x T) bool { return !slices.Contains(b, x) })
}

func rolesText(roles []Role) string {
	if len(roles) == 0 {
		return "no role"
	}
	words := make([]string, len(roles))
	for i, r := range roles {
		words[i] = string(r)
	}
	return strings.Join(words, ", ")
}
