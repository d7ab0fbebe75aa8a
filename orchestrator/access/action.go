package access

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Action is something that a caller may want to do.
type Action string

// The actions.
const (
	ActionReadCatalog    Action = "catalog.read"   // domains, capabilities, previews of plans
	ActionStartSession   Action = "session.start"  // and further messages; writes need Covers as well
	ActionReadAllRuns    Action = "run.read_all"   // owners always see their own
	ActionSteerAllRuns   Action = "run.steer_all"  // cancel and answer; owners always steer their own
	ActionSettle         Action = "run.settle"     // say what became of an unknown outcome
	ActionCompensate     Action = "run.compensate" // ask to undo a write, itself gated
	ActionDecideGates    Action = "gate.decide"    // see Panel.MayDecide for the single gate
	ActionReadLocks      Action = "lock.read"
	ActionBreakLocks     Action = "lock.break"
	ActionAudit          Action = "audit.read"    // replay, ledger, chain check
	ActionManageDomains  Action = "domain.manage" // register, refresh, confirm, unregister
	ActionManageKeys     Action = "key.manage"
	ActionReadData       Action = "data.read"       // raw output of nodes
	ActionReadOperations Action = "operations.read" // metrics and the state of replicas
	ActionDeleteSessions Action = "session.delete"  // of others; owners delete their own
	ActionReadGates      Action = "gate.read_all"   // gates and questions of all runs
	ActionReadLedgers    Action = "ledger.read_all" // who did what when in all runs
)

// Actions lists every action, for tables that must not miss one.
func Actions() []Action {
	return []Action{
		ActionReadCatalog, ActionStartSession, ActionReadAllRuns, ActionSteerAllRuns, ActionSettle,
		ActionCompensate, ActionDecideGates, ActionReadLocks, ActionBreakLocks, ActionAudit,
		ActionManageDomains, ActionManageKeys, ActionReadData, ActionReadOperations, ActionDeleteSessions,
		ActionReadGates, ActionReadLedgers,
	}
}

// Allowed is the one table of who may do what: the roles of which one is
// needed. A role that it does not name, such as a word that a domain or a gate
// asks for, allows nothing here.
func Allowed(a Action) []Role {
	switch a {
	case ActionReadCatalog, ActionStartSession:
		return []Role{RoleViewer, RoleRequester, RoleOperator, RoleApprover, RoleAdmin}
	case ActionReadAllRuns, ActionSteerAllRuns, ActionSettle, ActionCompensate, ActionReadLocks, ActionReadOperations:
		return []Role{RoleOperator, RoleAdmin}
	case ActionAudit, ActionReadGates, ActionReadLedgers:
		return []Role{RoleOperator, RoleAuditor, RoleAdmin}
	case ActionDecideGates:
		return []Role{RoleApprover, RoleAdmin}
	case ActionBreakLocks, ActionManageDomains, ActionManageKeys, ActionReadData, ActionDeleteSessions:
		return []Role{RoleAdmin}
	default:
		return nil
	}
}

// May reports whether the caller may do the action at all; the error says which
// role it takes.
func (p Principal) May(a Action) error {
	allowed := Allowed(a)
	if slices.ContainsFunc(allowed, p.means) {
		return nil
	}
	return contracts.Errorf(contracts.CodeForbidden,
		"%s needs the role %s; this key has %s", a, orList(allowed), rolesText(p.Roles))
}

// MayReadRun reports whether the caller sees a run: its owner, and who may read all,
// as far as their keys reach.
func (p Principal) MayReadRun(run contracts.Plan) error { return p.ownOr(run, ActionReadAllRuns) }

// MayReadLedger reports whether the caller sees who did what when in a run.
func (p Principal) MayReadLedger(run contracts.Plan) error { return p.ownOr(run, ActionReadLedgers) }

func (p Principal) ownOr(run contracts.Plan, others Action) error {
	if err := p.Reaches(run); err != nil {
		return err
	}
	return p.MayWith(run.Owner, others)
}

// MayWith reports whether something is the caller's own, or they may do this with
// everybody's. It looks at no scope.
func (p Principal) MayWith(owner contracts.Principal, others Action) error {
	if SubjectOf(owner) == p.Subject() {
		return nil
	}
	return p.May(others)
}

// MaySteerRun reports whether the caller may cancel a run of this owner, or
// answer its questions that are no gates. Whether their key reaches it is decided
// where it is read.
func (p Principal) MaySteerRun(owner contracts.Principal) error {
	return p.MayWith(owner, ActionSteerAllRuns)
}

// MayReadGate reports whether the caller sees a question with its evidence: who
// may read the run, and for a gate who could decide it.
func (p Principal) MayReadGate(i contracts.Interrupt, owner contracts.Principal) error {
	if p.Visibility().CanSee(i, SubjectOf(owner)) {
		return nil
	}
	if !p.Visibility().Reaches(i) {
		return contracts.Errorf(contracts.CodeForbidden, "this key does not reach it")
	}
	return p.May(ActionReadGates)
}

// MayReview compares roles and scopes with what the gate asks for; whether an
// approval counts is a Panel's to say. The role admin stands for the default
// approver, but not for a role that a policy names itself.
func (p Principal) MayReview(i contracts.Interrupt) error {
	wanted := GateRoles(i)
	holds := slices.ContainsFunc(wanted, func(r string) bool {
		return p.Has(Role(r)) || r == string(RoleApprover) && p.Has(RoleAdmin)
	})
	if !holds {
		return contracts.Errorf(contracts.CodeForbidden,
			"deciding this needs the role %s; this key has %s", strings.Join(wanted, " or "), rolesText(p.Roles))
	}
	if i.Action == nil {
		return nil
	}
	domain, _, _ := strings.Cut(i.Action.Capability, ".")
	return p.Scopes.covers(domain, i.Action.Policy.SideEffectClass)
}

func orList(roles []Role) string {
	if len(roles) == 0 {
		return "that nobody holds"
	}
	words := make([]string, len(roles))
	for i, r := range roles {
		words[i] = string(r)
	}
	return strings.Join(words, " or ")
}

// MaskForbidden replaces a forbidden error by not_found, so that callers cannot learn which
// ids exist.
func MaskForbidden(err error, what, id string) error {
	if err != nil {
		return contracts.Errorf(contracts.CodeNotFound, "there is no %s %q", what, id)
	}
	return nil
}
