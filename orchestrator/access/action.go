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
	ActionSettle         Action = "run.settle"     // settle an unknown outcome
	ActionCompensate     Action = "run.compensate" // undo a write, itself gated
	ActionDecideGates    Action = "gate.decide"    // see ReviewPanel.MayDecide for a single gate
	ActionReadLocks      Action = "lock.read"
	ActionBreakLocks     Action = "lock.break"
	ActionAudit          Action = "audit.read"    // replay, ledger, chain check
	ActionManageDomains  Action = "domain.manage" // register, refresh, confirm, unregister
	ActionManageKeys     Action = "key.manage"
	ActionReadData       Action = "data.read"       // raw output of nodes
	ActionReadOperations Action = "operations.read" // metrics and the state of replicas
	ActionDeleteSessions Action = "session.delete"  // of others; owners delete their own
	ActionReadGates      Action = "gate.read_all"   // gates and questions of all runs
	ActionReadLedgers    Action = "ledger.read_all" // ledgers of all runs
)

// Actions lists all actions, for tables that must be complete.
func Actions() []Action {
	return []Action{
		ActionReadCatalog, ActionStartSession, ActionReadAllRuns, ActionSteerAllRuns, ActionSettle,
		ActionCompensate, ActionDecideGates, ActionReadLocks, ActionBreakLocks, ActionAudit,
		ActionManageDomains, ActionManageKeys, ActionReadData, ActionReadOperations, ActionDeleteSessions,
		ActionReadGates, ActionReadLedgers,
	}
}

// Allowed is the authorization table: it returns the roles of which the action needs one. Roles
// that are not in it, such as those of a domain or gate, allow nothing here.
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

// May returns nil if the caller may perform the action, else an error that names the required
// roles.
func (p Principal) May(a Action) error {
	allowed := Allowed(a)
	if slices.ContainsFunc(allowed, p.means) {
		return nil
	}
	return contracts.Errorf(contracts.CodeForbidden,
		"%s needs the role %s; this key has %s", a, orList(allowed), rolesText(p.Roles))
}

// MayReadRun returns nil if the caller may see a run: its owner, or anybody who may read all runs,
// within the scopes of their keys.
func (p Principal) MayReadRun(run contracts.Plan) error { return p.ownOr(run, ActionReadAllRuns) }

// MayReadLedger returns nil if the caller may read the ledger of a run.
func (p Principal) MayReadLedger(run contracts.Plan) error { return p.ownOr(run, ActionReadLedgers) }

func (p Principal) ownOr(run contracts.Plan, others Action) error {
	if err := p.Reaches(run); err != nil {
		return err
	}
	return p.MayWith(run.Owner, others)
}

// MayWith returns nil if the caller is the owner, or may perform the action on everybody's. It does
// not check scopes.
func (p Principal) MayWith(owner contracts.Principal, others Action) error {
	if SubjectOf(owner) == p.Subject() {
		return nil
	}
	return p.May(others)
}

// MaySteerRun returns nil if the caller may cancel a run of this owner, or answer its questions,
// but not its gates. It does not check scopes: the read of the run does.
func (p Principal) MaySteerRun(owner contracts.Principal) error {
	return p.MayWith(owner, ActionSteerAllRuns)
}

// MayReadGate returns nil if the caller may see an interrupt with its evidence: whoever may read
// the run, and for a gate whoever could decide it.
func (p Principal) MayReadGate(i contracts.Interrupt, owner contracts.Principal) error {
	if p.Visibility().CanSee(i, SubjectOf(owner)) {
		return nil
	}
	if !p.Visibility().Reaches(i) {
		return contracts.Errorf(contracts.CodeForbidden, "this key does not reach it")
	}
	return p.May(ActionReadGates)
}

// MayReview checks roles and scopes against the requirements of a gate; whether an approval counts
// is decided by ReviewPanel. The role admin includes the default approver, but no role that a
// policy names itself.
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

// MaskForbidden replaces a refusal by not_found, so that callers cannot learn which ids exist.
// Errors of the server itself stay as they are: the caller may try again.
func MaskForbidden(err error, what, id string) error {
	switch contracts.CodeOf(err) {
	case contracts.CodeForbidden, contracts.CodeUnauthorized, contracts.CodeNotFound:
		return contracts.Errorf(contracts.CodeNotFound, "there is no %s %q", what, id)
	default:
		return err
	}
}
