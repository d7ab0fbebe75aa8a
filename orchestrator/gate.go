package orchestrator

import (
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// GatesFilter selects interrupts; empty fields select all.
type GatesFilter struct {
	SessionID string
	RunID     string
	Status    contracts.InterruptStatus
	Type      contracts.InterruptType
	Limit     int
}

// Gates lists the questions that the caller may see, the oldest first.
func (s *Service) Gates(ctx context.Context, who access.Principal, f GatesFilter) ([]contracts.Interrupt, error) {
	filter := execution.InterruptFilter{SessionID: f.SessionID, RunID: f.RunID, Status: f.Status, Limit: f.Limit}
	if f.Type != "" {
		filter.Types = []contracts.InterruptType{f.Type}
	}
	all, err := s.runs.Interrupts(ctx, filter)
	if err != nil {
		return nil, err
	}
	visible := []contracts.Interrupt{}
	owners := map[string]contracts.Principal{}
	for _, i := range all {
		owner, known := owners[i.SessionID]
		if !known {
			if owner, err = s.ownerOf(ctx, i.SessionID); err != nil {
				return nil, err
			}
			owners[i.SessionID] = owner
		}
		if who.MayReadGate(i, owner) == nil {
			visible = append(visible, i)
		}
	}
	return visible, nil
}

func (s *Service) ownerOf(ctx context.Context, sessionID string) (contracts.Principal, error) {
	session, err := s.sessions.Session(ctx, sessionID)
	return session.Owner, err
}

// Gate gives one question by its id or its code.
func (s *Service) Gate(ctx context.Context, who access.Principal, idOrCode string) (contracts.Interrupt, error) {
	i, err := s.runs.Interrupt(ctx, idOrCode)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		i, err = s.runs.InterruptByCode(ctx, idOrCode)
	}
	if err != nil {
		return contracts.Interrupt{}, err
	}
	owner, err := s.ownerOf(ctx, i.SessionID)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	return i, hide(who.MayReadGate(i, owner), "gate", idOrCode)
}

// Decide decides or answers a question by its id or code.
func (s *Service) Decide(ctx context.Context, who access.Principal, idOrCode string, body contracts.Resume, wait time.Duration) (contracts.Interrupt, error) {
	i, err := s.Gate(ctx, who, idOrCode)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	if i, err = s.decide(ctx, who, i, body); err != nil {
		return contracts.Interrupt{}, err
	}
	if wait > 0 {
		_, err = s.await(ctx, i.SessionID, wait)
	}
	return i, err
}

// Resume decides or answers a session's open question, named by the body when
// several are open.
func (s *Service) Resume(ctx context.Context, who access.Principal, sessionID string, body contracts.Resume, wait time.Duration) (contracts.SessionResponse, error) {
	i, err := s.openInterrupt(ctx, who, sessionID, body.InterruptID)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	if _, err := s.decide(ctx, who, i, body); err != nil {
		return contracts.SessionResponse{}, err
	}
	return s.await(ctx, sessionID, wait)
}

func (s *Service) openInterrupt(ctx context.Context, who access.Principal, sessionID, id string) (contracts.Interrupt, error) {
	if id != "" {
		i, err := s.Gate(ctx, who, id)
		if err == nil && i.SessionID != sessionID {
			return i, contracts.Errorf(contracts.CodeNotFound, "session %s has no interrupt %q", sessionID, id)
		}
		return i, err
	}
	open, err := s.Gates(ctx, who, GatesFilter{SessionID: sessionID, Status: contracts.InterruptOpen})
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

// ByLink is the door of a decision that came through a link.
const ByLink = "link"

// DecideByLink decides a gate through a link of its own, which counts once:
// whoever has decided this action already, through whichever door, has used it.
func (s *Service) DecideByLink(ctx context.Context, who access.Principal, id string, body contracts.Resume) (contracts.Interrupt, error) {
	i, err := s.Gate(ctx, who, id)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	who.Via = ByLink
	return s.decideIf(ctx, who, i, body, func(i contracts.Interrupt) error {
		if HasDecided(i, who.Subject()) {
			return contracts.Errorf(contracts.CodeConflict, "%s has decided %s already; a link counts once", who.Subject(), i.Code)
		}
		return nil
	})
}

// HasDecided tells whether somebody has decided the present action of a gate.
func HasDecided(i contracts.Interrupt, subject string) bool {
	return slices.ContainsFunc(i.Decisions, func(d contracts.InterruptDecided) bool {
		return d.DecidedBy == subject && d.ActionSHA256 == i.ActionSHA256
	})
}

// decide is behind both doors. The answer to a question before there is a plan
// goes on with its turn; one whose turn was not finished is finished now.
func (s *Service) decide(ctx context.Context, who access.Principal, i contracts.Interrupt, body contracts.Resume) (contracts.Interrupt, error) {
	return s.decideIf(ctx, who, i, body, func(contracts.Interrupt) error { return nil })
}

// decideIf is decide with a condition of the door, which is looked at in the
// transaction that decides.
func (s *Service) decideIf(ctx context.Context, who access.Principal, i contracts.Interrupt, body contracts.Resume, holds func(contracts.Interrupt) error) (contracts.Interrupt, error) {
	owner, err := s.ownerOf(ctx, i.SessionID)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	if words, ok := body.Response.(string); ok { // what is no value may be what to search by
		if _, refused := execution.AnswerValue(i, words); refused != nil {
			if answer, ok := execution.SearchAgain(i, words); ok {
				body.Response = answer
			}
		}
	}
	decided, err := s.runner.Decide(ctx, i.InterruptID, body, execution.Decider{
		ID: who.Subject(), Via: who.Via,
		May: func(i contracts.Interrupt, d contracts.Decision) error {
			if err := holds(i); err != nil {
				return err
			}
			return mayDecide(who, owner, i, d)
		},
	})
	if contracts.CodeOf(err) == contracts.CodeConflict && i.RunID == "" && i.Status == contracts.InterruptAnswered {
		decided, err = i, nil
	}
	if err != nil {
		return contracts.Interrupt{}, err
	}
	s.hub.Committed(decided.SessionID, decided.RunID)
	if decided.RunID != "" || decided.Status != contracts.InterruptAnswered {
		return decided, nil
	}
	// The answer stands: its turn goes on even if the caller has gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessionWait)
	defer cancel()
	return decided, s.continueTurn(ctx, who, decided)
}

// mayDecide lets the owner withdraw or edit what they asked for, approvers
// decide gates, and whoever may steer the run answer its questions. A question
// before there is a plan is the owner's alone: whoever answers it asks for the
// plan.
func mayDecide(who access.Principal, owner contracts.Principal, i contracts.Interrupt, d contracts.Decision) error {
	own := who.Subject() == access.SubjectOf(owner)
	switch {
	case i.Type.Expires():
		if own && (d == contracts.DecisionReject || d == contracts.DecisionEdit) {
			return nil
		}
		return who.MayDecide(i, d)
	case i.Type == contracts.InterruptOutcomeUnknown:
		return who.May(access.ActionSettle)
	case i.RunID == "" && !own:
		return contracts.Errorf(contracts.CodeForbidden, "%s must be answered by who started the session", i.Code)
	default:
		return who.MaySteerRun(owner)
	}
}
