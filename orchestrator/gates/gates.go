package gates

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// Filter selects interrupts; empty fields select all.
type Filter struct {
	SessionID string
	RunID     string
	Status    contracts.InterruptStatus
	Type      contracts.InterruptType
	// Mine leaves out what the caller sees only because they may see everything. What is left is
	// their own, or theirs to decide.
	Mine bool
	// Gates leaves out the questions about requests.
	Gates bool
	contracts.Page
}

// WaitingTypes returns the types that may wait for another person: gates, and the questions of
// procedures and budgets.
func WaitingTypes() []contracts.InterruptType {
	return []contracts.InterruptType{
		contracts.InterruptWriteApproval, contracts.InterruptPlanApproval, contracts.InterruptResultReview,
		contracts.InterruptCredentialCheck, contracts.InterruptBudgetExceeded,
	}
}

// Gates are the interrupts in the store. It has no state and is safe for concurrent use.
type Gates struct {
	store     execution.Gates
	list      orchestrator.GateList
	runner    *execution.Runner
	sessions  *sessions.Directory
	reviewers *access.Reviewers
	notifier  orchestrator.Notifier
}

// Deps are the dependencies of Gates; all are required.
type Deps struct {
	Store     execution.Gates
	List      orchestrator.GateList
	Runner    *execution.Runner
	Sessions  *sessions.Directory
	Reviewers *access.Reviewers
	Notifier  orchestrator.Notifier
}

// New returns the gates of a store.
func New(d Deps) (*Gates, error) {
	if d.Store == nil || d.List == nil || d.Runner == nil || d.Sessions == nil || d.Reviewers == nil || d.Notifier == nil {
		return nil, errors.New("gates: every dependency is needed")
	}
	return &Gates{store: d.Store, list: d.List, runner: d.Runner, sessions: d.Sessions, reviewers: d.Reviewers, notifier: d.Notifier}, nil
}

// List returns a page of the interrupts that the caller may see, the oldest first.
func (g *Gates) List(ctx context.Context, who access.Principal, f Filter) (contracts.List[contracts.Interrupt], error) {
	if f.Limit <= 0 { // callers without a limit want the whole page
		f.Limit = contracts.MaxPageLimit
	}
	page := f.Bounded(contracts.MaxPageLimit)
	filter := orchestrator.GateFilter{
		Reader: who.Visibility(), SessionID: f.SessionID, RunID: f.RunID, Status: f.Status, Cursor: page.Cursor, Limit: page.Limit,
	}
	if f.Mine {
		filter.Reader.All = false
	}
	if f.Gates {
		filter.Types = WaitingTypes()
	}
	if f.Type != "" {
		filter.Types = []contracts.InterruptType{f.Type}
	}
	return g.list.ListGates(ctx, filter)
}

// Each calls seen for everything that List returns, page by page, until seen returns true.
func (g *Gates) Each(ctx context.Context, who access.Principal, f Filter, seen func(contracts.Interrupt) (stop bool)) error {
	for {
		page, err := g.List(ctx, who, f)
		if err != nil || slices.ContainsFunc(page.Items, seen) || page.Next == "" {
			return err
		}
		f.Cursor = page.Next
	}
}

// refuseEvery is the time grid of not_found replies: a gate that the caller may not see takes as
// long as one that does not exist, so that timing does not reveal codes.
const refuseEvery = 20 * time.Millisecond

// Get returns one interrupt by its id or code, or not_found if the caller may not see it.
func (g *Gates) Get(ctx context.Context, who access.Principal, idOrCode string) (contracts.Interrupt, error) {
	began := time.Now()
	i, err := g.find(ctx, who, idOrCode)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		select {
		case <-time.After(refuseEvery - time.Since(began)%refuseEvery):
		case <-ctx.Done():
		}
	}
	return i, err
}

func (g *Gates) find(ctx context.Context, who access.Principal, idOrCode string) (contracts.Interrupt, error) {
	i, err := execution.GetInterrupt(ctx, g.store, idOrCode)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		i, err = g.store.InterruptByCode(ctx, idOrCode)
	}
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return contracts.Interrupt{}, access.MaskForbidden(err, "gate", idOrCode) // same text as for one that is not the caller's
	}
	if err != nil {
		return contracts.Interrupt{}, err
	}
	owner, err := g.sessions.Owner(ctx, i.SessionID)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	if err := access.MaskForbidden(who.MayReadGate(i, owner), "gate", idOrCode); err != nil {
		return contracts.Interrupt{}, err
	}
	return i, nil
}

// Interrupt returns one interrupt without an access check. Callers must check access before they
// show it.
func (g *Gates) Interrupt(ctx context.Context, id string) (contracts.Interrupt, error) {
	return execution.GetInterrupt(ctx, g.store, id)
}

// Open returns the session's open interrupt; id is required if several are open.
func (g *Gates) Open(ctx context.Context, who access.Principal, sessionID, id string) (contracts.Interrupt, error) {
	if id != "" {
		i, err := g.Get(ctx, who, id)
		if err == nil && i.SessionID != sessionID {
			return i, contracts.Errorf(contracts.CodeNotFound, "session %s has no interrupt %q", sessionID, id)
		}
		return i, err
	}
	page, err := g.List(ctx, who, Filter{SessionID: sessionID, Status: contracts.InterruptOpen})
	open := page.Items
	switch {
	case err != nil:
		return contracts.Interrupt{}, err
	case len(open) == 0:
		return contracts.Interrupt{}, contracts.Errorf(contracts.CodeConflict, "nothing is open in session %s", sessionID)
	case len(open) > 1:
		e := contracts.Errorf(contracts.CodeConflict, "%d interrupts are open; name one by interrupt_id", len(open))
		e.Detail = open
		return contracts.Interrupt{}, e
	}
	return open[0], nil
}

// The Via of a decision: ByLink for one through a link, ByPage for one on the web page.
const (
	ByLink = "link"
	ByPage = "page"
)

// HasDecided reports whether somebody has decided the current action of a gate.
func HasDecided(i contracts.Interrupt, subject string) bool {
	return slices.ContainsFunc(i.Decisions, func(d contracts.InterruptDecided) bool {
		return d.DecidedBy == subject && d.ActionSHA256 == i.ActionSHA256
	})
}

// Decide commits a decision or an answer, for all interfaces. If a turn has asked the question, the
// conversation must continue that turn. A link counts once: it returns conflict if the person has
// already decided this action.
func (g *Gates) Decide(ctx context.Context, who access.Principal, i contracts.Interrupt, body contracts.Resume) (contracts.Interrupt, error) {
	owner, err := g.sessions.Owner(ctx, i.SessionID)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	if words, ok := body.Response.(string); ok { // a text that does not fit may be search words
		if _, refused := decision.Value(i, words); refused != nil {
			if answer, ok := decision.SearchAgain(i, words); ok {
				body.Response = answer
			}
		}
	}
	panel, err := g.reviewers.Panel(ctx)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	shaped, err := g.shaped(ctx, i)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	decided, err := g.runner.Decide(withAuditRecord(ctx, who, i), i.InterruptID, body, decision.Decider{
		ID: who.Subject(), Via: who.Via, KeyID: who.KeyID, From: who.From, IsRevoked: panel.IsRevoked,
		Relation: func(i contracts.Interrupt) contracts.DeciderRelation { return panel.Relation(who, with(i, shaped)) },
		May: func(i contracts.Interrupt, d contracts.Decision) error {
			if who.Via == ByLink && HasDecided(i, who.Subject()) {
				return contracts.Errorf(contracts.CodeConflict, "%s has decided %s already; a link counts once", who.Subject(), i.Code)
			}
			if decision.RaisesBudget(i, body.Response) {
				return who.May(access.ActionSteerAllRuns)
			}
			return mayDecide(panel, who, owner, with(i, shaped), d)
		},
	})
	if err != nil {
		return contracts.Interrupt{}, err
	}
	g.notifier.Committed(decided.SessionID, decided.RunID)
	return decided, nil
}

// Drop closes a question that belongs to no run. If it was answered meanwhile, nothing changes.
func (g *Gates) Drop(ctx context.Context, who access.Principal, i contracts.Interrupt) (contracts.Interrupt, error) {
	owner, err := g.sessions.Owner(ctx, i.SessionID)
	if err != nil {
		return i, err
	}
	if i.RunID != "" {
		return i, contracts.Errorf(contracts.CodeInvalid, "%s belongs to a run; cancel that", i.Code)
	}
	if err := mayDecide(access.ReviewPanel{}, who, owner, i, contracts.DecisionAnswer); err != nil { // no approval, so no panel
		return i, err
	}
	dropped, err := execution.UpdateInterrupt(ctx, g.store, i.InterruptID, func(i *contracts.Interrupt, _ time.Time) error {
		i.Status = contracts.InterruptSuperseded
		return nil
	})
	if contracts.CodeOf(err) == contracts.CodeConflict {
		return i, nil
	}
	g.notifier.Committed(i.SessionID, "")
	return dropped, err
}

// Permissions returns the codes of the open gates that the caller may approve, and of the open
// questions that they may answer.
func (g *Gates) Permissions(ctx context.Context, who access.Principal, open ...contracts.Interrupt) (approve, answer []string, err error) {
	open = slices.DeleteFunc(slices.Clone(open), func(i contracts.Interrupt) bool { return i.Status != contracts.InterruptOpen })
	if len(open) == 0 {
		return nil, nil, nil
	}
	panel, err := g.reviewers.Panel(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range open {
		owner, err := g.sessions.Owner(ctx, i.SessionID)
		if err != nil {
			return nil, nil, err
		}
		shaped, err := g.shaped(ctx, i)
		switch {
		case err != nil:
			return nil, nil, err
		case i.Type.IsGate() && mayDecide(panel, who, owner, with(i, shaped), contracts.DecisionApprove) == nil:
			approve = append(approve, i.Code)
		case !i.Type.IsGate() && mayDecide(panel, who, owner, i, contracts.DecisionAnswer) == nil:
			answer = append(answer, i.Code)
		}
	}
	return approve, answer, nil
}

// MayReject returns nil if the caller may reject the gate, else the reason.
func MayReject(who access.Principal, owner contracts.Principal, i contracts.Interrupt) error {
	return mayDecide(access.ReviewPanel{}, who, owner, i, contracts.DecisionReject)
}

// shaped returns, for a gate with contracts.EyesStrict, everybody who has answered or edited
// anything in its run so far. They must not approve it.
func (g *Gates) shaped(ctx context.Context, i contracts.Interrupt) ([]string, error) {
	if i.Eyes() != contracts.EyesStrict || i.RunID == "" {
		return nil, nil
	}
	all, err := g.store.Interrupts(ctx, execution.InterruptFilter{RunID: i.RunID})
	var out []string
	for _, other := range all {
		if !shapes(other) {
			continue
		}
		for _, d := range other.Decisions {
			if d.Decision == contracts.DecisionEdit || d.Decision == contracts.DecisionAnswer {
				out = append(out, d.DecidedBy)
			}
		}
	}
	return out, err
}

// shapes reports whether the answer to a question changes what a run does. Cancelling, retrying and
// repeating a lookup do not.
func shapes(i contracts.Interrupt) bool {
	switch i.Response {
	case contracts.AnswerRetry, contracts.AnswerCancelNode, contracts.AnswerRepeatLookup:
		return false
	default:
		return true
	}
}

// with returns a copy of the gate with additional requesters.
func with(i contracts.Interrupt, requesters []string) contracts.Interrupt {
	i.Requesters = slices.Concat(i.Requesters, requesters)
	return i
}

// mayDecide checks a decision: the owner may withdraw or edit their own request, approvers may
// decide gates, and whoever may steer the run may answer its questions. Only the owner may answer a
// question that belongs to no run, because the answer is part of the request.
func mayDecide(panel access.ReviewPanel, who access.Principal, owner contracts.Principal, i contracts.Interrupt, d contracts.Decision) error {
	own := who.Subject() == access.SubjectOf(owner)
	switch {
	case !who.Visibility().Reaches(i):
		return contracts.Errorf(contracts.CodeForbidden, "this key does not reach %s", i.Code)
	case i.Workflow != "" && (own || slices.ContainsFunc(access.AskedRoles(i), func(role string) bool { return who.Has(access.Role(role)) })):
		return nil
	case i.Type.IsGate():
		if own && (d == contracts.DecisionReject || d == contracts.DecisionEdit) {
			return nil
		}
		return panel.MayDecide(who, i, d)
	case i.Type == contracts.InterruptOutcomeUnknown:
		return who.May(access.ActionSettle)
	case i.RunID == "" && !own:
		return contracts.Errorf(contracts.CodeForbidden, "%s must be answered by who started the session", i.Code)
	default:
		return who.MaySteerRun(owner)
	}
}

// withAuditRecord attaches an audit record to decisions that settle an unknown outcome or come
// through a link; all other decisions are only in the ledger of the run.
func withAuditRecord(ctx context.Context, who access.Principal, i contracts.Interrupt) context.Context {
	detail := map[string]any{"run_id": i.RunID, "node_id": i.NodeID, "type": i.Type}
	switch {
	case i.Type == contracts.InterruptOutcomeUnknown:
		return who.WithAuditRecord(ctx, contracts.ActSettled, i.InterruptID, detail)
	case who.Via == ByLink:
		return who.WithAuditRecord(ctx, contracts.ActLinkUsed, i.InterruptID, detail)
	default:
		return ctx
	}
}

// DecidedBy reports whether somebody has made this decision on the current action of a gate.
func DecidedBy(i contracts.Interrupt, subject string, d contracts.Decision) bool {
	return slices.ContainsFunc(i.Decisions, func(x contracts.InterruptDecided) bool {
		return x.DecidedBy == subject && x.Decision == d && x.ActionSHA256 == i.ActionSHA256
	})
}
