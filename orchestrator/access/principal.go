package access

import (
	"iter"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Principal is an authenticated caller: who a key speaks for, and within
// which bounds.
type Principal struct {
	KeyID string
	Kind  Kind
	// ID is the name in the key: a person's for user keys, a program's else.
	ID string
	// Forwarded is the person that a frontend says is asking; only frontend
	// keys have one.
	Forwarded string
	// Vouched means that somebody whom this server was told to believe stands for
	// Forwarded: it was signed. Without that a frontend's key alone could claim any
	// person.
	Vouched bool
	Roles   []Role
	// RolesBefore means that the key is older than some words that are roles now.
	RolesBefore bool
	Scopes      Scopes
	// Via is the interface that the caller came through, for the record of decisions;
	// "" is the API. It allows and forbids nothing.
	Via string
	// From is the address that the request came from, for the record.
	From string
}

// Person is the human being who is asking, "" if there is none that we would
// believe in: a service speaks for nobody, a frontend for whom it forwards.
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

// Shared reports whether the caller may be any of several people: a frontend that
// does not say for whom it asks.
func (p Principal) Shared() bool { return p.Kind == KindFrontend && p.Forwarded == "" }

// ForPerson returns the principal of a frontend's key for the person whom the
// frontend speaks for, with no more than these roles; nil leaves those of the
// key. Vouched tells that this is more than the frontend's word. All other keys
// stay who they are.
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

// Subject identifies the caller everywhere: in owners, requesters, decisions
// and rate limits. It is the person's name, or for programs "service:name" and
// "frontend:name"; people's names hold no colon, so nobody can pose as another
// kind.
func (p Principal) Subject() string {
	if person := p.Person(); person != "" {
		return person
	}
	return p.program()
}

// within returns those of some roles that are not beyond the caller's own: a
// requester may do less than an operator.
func (p Principal) within(roles []Role) []Role {
	return slices.DeleteFunc(slices.Clone(roles), func(r Role) bool {
		return !p.Has(r) && (r != RoleRequester || !p.Has(RoleOperator) && !p.Has(RoleAdmin))
	})
}

// program is the name of what stands behind a key that is no person's.
func (p Principal) program() string { return string(p.Kind) + ":" + p.ID }

// Contract returns the principal as domains and plans see it. Its SubjectOf is
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

// means reports whether the caller holds a role as Manifold means it: in an old key
// the word may have been a domain's.
func (p Principal) means(r Role) bool {
	young := r == RoleRequester || r == RoleAuditor
	return p.Has(r) && (!young || !p.RolesBefore)
}

// Has reports whether the caller holds the role.
func (p Principal) Has(r Role) bool { return slices.Contains(p.Roles, r) }

// Covers reports whether the caller may have capabilities of this class of this
// domain used. Writes need a role that may ask for them; the scopes of the key
// narrow further.
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

// callsOf visits the nodes of a plan that call a capability, those that would take a
// write back included.
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

// All reports whether nothing is narrowed.
func (s Scopes) All() bool { return len(s.Domains) == 0 && len(s.Classes) == 0 }

// Reaches reports whether all calls of a plan lie within the scopes of the caller's
// key: what it could not have asked for it neither sees nor steers.
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

// MayManage reports whether the caller administers a domain, "" for what belongs to
// none.
func (p Principal) MayManage(a Action, domain string) error {
	if err := p.May(a); err != nil {
		return err
	}
	if p.Scopes.All() || domain != "" && len(p.Scopes.Classes) == 0 && slices.Contains(p.Scopes.Domains, domain) {
		return nil
	}
	return contracts.Errorf(contracts.CodeForbidden, "%s reaches beyond the scope of this key", a)
}

// within reports whether s is at most as wide as the other.
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
