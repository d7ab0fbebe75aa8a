package httpapi

import (
	"net/http"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/gates"
	"github.com/manifold-run/manifold/orchestrator/registry"
	"github.com/manifold-run/manifold/orchestrator/runs"
)

// gateRoutes serve the interrupts, and the locks that runs hold.
type gateRoutes struct {
	conversation *conversation.Conversation
	gates        *gates.Gates
	runs         *runs.Runs
	registry     *registry.Registry
}

func (s *gateRoutes) routes() []route {
	return []route{
		{http.MethodGet, "/v1/gates", false, s.listGates},
		{http.MethodGet, "/v1/gates/:id", false, s.showGate},
		{http.MethodGet, "/v1/gates/:id/sheet", false, s.sheet},
		{http.MethodPost, "/v1/gates/:id/decision", false, s.decide},
		{http.MethodGet, "/v1/locks", false, s.listLocks},
		{http.MethodPost, "/v1/locks/break", false, s.breakLock},
	}
}

func (s *gateRoutes) listGates(k *call) error {
	page, err := k.page()
	if err != nil {
		return err
	}
	filter := gates.Filter{SessionID: k.query("session_id"), RunID: k.query("run_id"), Page: page}
	if filter.Status, err = oneOf(k, "status", contracts.InterruptOpen, contracts.InterruptApproved, contracts.InterruptRejected,
		contracts.InterruptAnswered, contracts.InterruptExpired, contracts.InterruptSuperseded); err != nil {
		return err
	}
	if filter.Type, err = oneOf(k, "type", contracts.InterruptClarification, contracts.InterruptCredentialCheck,
		contracts.InterruptSelectTarget, contracts.InterruptPlanApproval, contracts.InterruptResultReview, contracts.InterruptBudgetExceeded,
		contracts.InterruptWriteApproval, contracts.InterruptOutcomeUnknown, contracts.InterruptCapabilityChanged,
		contracts.InterruptRunUnreadable); err != nil {
		return err
	}
	gates, err := s.gates.List(k.ctx(), k.who, filter)
	if err != nil {
		return err
	}
	return list(k, gates)
}

func (s *gateRoutes) showGate(k *call) error {
	gate, err := s.gates.Get(k.ctx(), k.who, k.param("id"))
	if err != nil {
		return err
	}
	return k.ok(gate)
}

func (s *gateRoutes) decide(k *call) error {
	var body contracts.Resume
	if err := k.body(contracts.SchemaResume, &body, MaxBody); err != nil {
		return err
	}
	key, err := k.idempotencyKey()
	if err != nil {
		return err
	}
	outcome, err := s.conversation.Handle(k.ctx(), k.who, conversation.Input{Gate: k.param("id"), Resume: &body, Key: key})
	if err != nil {
		return err
	}
	if wait := k.wait(); wait > 0 {
		if _, err := s.conversation.SessionOf(k.ctx(), outcome, wait); err != nil {
			return err
		}
	}
	return k.ok(outcome.Decided)
}

func (s *gateRoutes) listLocks(k *call) error {
	page, err := k.page()
	if err != nil {
		return err
	}
	held, err := s.runs.Locks(k.ctx(), k.who, page)
	if err != nil {
		return err
	}
	return listAs(k, held, func(h execution.LockHolder) contracts.LockView { return contracts.LockView(h) })
}

func (s *gateRoutes) breakLock(k *call) error {
	var body contracts.LockKey
	if err := k.body(contracts.SchemaLockKey, &body, MaxBody); err != nil {
		return err
	}
	broken, err := s.runs.BreakLock(k.ctx(), k.who, body.Key)
	if err != nil {
		return err
	}
	return k.ok(contracts.LockView(broken))
}
