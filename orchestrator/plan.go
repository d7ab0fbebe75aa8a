package orchestrator

import (
	"cmp"
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/planner"
)

// Plan compiles a message, or intents given as data, without running anything.
// The plan is kept for its owner for 24 hours; RunPlan runs exactly it.
func (s *Service) Plan(ctx context.Context, who access.Principal, body contracts.PlanRequest) (contracts.PlanPreview, error) {
	if err := who.May(access.ActionReadCatalog); err != nil {
		return contracts.PlanPreview{}, err
	}
	preview, intents, err := s.understood(ctx, who, body)
	if err != nil || preview.Outcome != contracts.GateAccept {
		return preview, err
	}
	req, err := s.previewRequest(ctx, who, body, intents)
	if err != nil {
		return preview, err
	}
	result, err := planner.Compile(req)
	if err != nil {
		return preview, err
	}
	for _, q := range result.Questions {
		preview.Questions = append(preview.Questions, contracts.Interrupt{
			Type: q.Kind, Prompt: q.Prompt, Options: q.Options, ResponseSchema: q.Schema, NodeID: q.IntentID,
		})
	}
	if len(result.Questions) > 0 {
		return preview, nil
	}
	if err := s.covered(who, result.Plan); err != nil {
		return preview, err
	}
	return s.keepPreview(ctx, who, preview, req, result.Plan)
}

// understood reads the intents of a request for a plan.
func (s *Service) understood(ctx context.Context, who access.Principal, body contracts.PlanRequest) (contracts.PlanPreview, []contracts.Intent, error) {
	preview := contracts.PlanPreview{Outcome: contracts.GateAccept, Intents: body.Intents}
	if len(body.Intents) > 0 {
		return preview, body.Intents, nil
	}
	if err := checkMessage(body.Message); err != nil {
		return preview, nil, err
	}
	u, err := s.intents.Understand(ctx, intent.Request{
		Message: body.Message, Catalog: s.catalogs.Catalog(), Roles: rolesOf(who), Now: s.cfg.Now(),
	})
	preview.Outcome, preview.Intents, preview.Choices, preview.Message = u.Outcome, u.Intents, u.Choices, u.Question
	return preview, u.Intents, err
}

func (s *Service) previewRequest(ctx context.Context, who access.Principal, body contracts.PlanRequest, intents []contracts.Intent) (planner.Request, error) {
	req := planner.Request{
		Goal:    cmp.Or(contracts.CleanSummary(body.Goal), contracts.CleanSummary(body.Message), "intents given as data"),
		Intents: intents, Catalog: s.catalogs.Catalog(), Owner: who.Contract(), Instances: body.Instances, DryRun: body.DryRun,
	}
	if body.Budgets != nil {
		req.Budgets = *body.Budgets
	}
	if body.SessionID == "" {
		return req, nil
	}
	session, err := s.ownSession(ctx, who, body.SessionID)
	if req.Instances == nil {
		req.Instances = session.Instances
	}
	return req, err
}

func (s *Service) keepPreview(ctx context.Context, who access.Principal, preview contracts.PlanPreview, req planner.Request, plan contracts.Plan) (contracts.PlanPreview, error) {
	expires := s.cfg.Now().Add(contracts.PreviewTTL)
	shown := planner.Describe(plan, req.Catalog)
	preview.Plan, preview.PlanHash, preview.Mermaid, preview.ExpiresAt = &plan, plan.PlanHash, shown.Mermaid, &expires
	preview.Rows = shown.Rows
	err := s.previews.SavePreview(ctx, Preview{
		PlanHash: plan.PlanHash, Owner: who.Subject(), Plan: plan, Intents: req.Intents, Goal: req.Goal, ExpiresAt: expires,
	})
	return preview, err
}

// RunPlan runs exactly the plan that was previewed, or answers with conflict
// and the difference when it would no longer be compiled like that.
func (s *Service) RunPlan(ctx context.Context, who access.Principal, body contracts.RunPlan, key string, wait time.Duration) (contracts.SessionResponse, error) {
	if err := s.checkWebhook(body.WebhookURL); err != nil {
		return contracts.SessionResponse{}, err
	}
	preview, err := s.previews.Preview(ctx, who.Subject(), body.PlanHash, s.cfg.Now())
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	plan, err := s.recompiled(who, preview, body.DryRun)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	session, err := s.sessionForPlan(ctx, who, body, preview, key)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	if key != "" {
		plan.RunID = derivedID("run", session.ID, key)
	}
	_, err = s.runner.Submit(ctx, session.ID, plan)
	if err != nil && (key == "" || contracts.CodeOf(err) != contracts.CodeConflict) {
		return contracts.SessionResponse{}, err
	}
	return s.await(ctx, session.ID, wait)
}

// recompiled compiles the preview's intents against the present catalog. A dry
// run may be asked of a plan that was previewed for real, not the reverse.
func (s *Service) recompiled(who access.Principal, preview Preview, dryRun bool) (contracts.Plan, error) {
	req := planner.Request{
		Goal: preview.Goal, Intents: preview.Intents, Catalog: s.catalogs.Catalog(), Owner: who.Contract(),
		Instances: preview.Plan.Instances, Budgets: preview.Plan.Budgets, DryRun: preview.Plan.DryRun,
	}
	result, err := planner.Compile(req)
	if err != nil {
		return contracts.Plan{}, err
	}
	if len(result.Questions) > 0 || result.Plan.PlanHash != preview.PlanHash {
		e := contracts.Errorf(contracts.CodeConflict, "the plan would no longer be the one that was previewed; preview it again")
		e.Detail = execution.Difference(preview.Plan, result.Plan)
		return contracts.Plan{}, e
	}
	if err := s.covered(who, result.Plan); err != nil {
		return contracts.Plan{}, err
	}
	if !dryRun || result.Plan.DryRun {
		return result.Plan, nil
	}
	req.DryRun = true
	result, err = planner.Compile(req)
	return result.Plan, err
}

func (s *Service) sessionForPlan(ctx context.Context, who access.Principal, body contracts.RunPlan, preview Preview, key string) (Session, error) {
	if body.SessionID != "" {
		return s.ownSession(ctx, who, body.SessionID)
	}
	if err := who.May(access.ActionStartSession); err != nil {
		return Session{}, err
	}
	if err := s.limiter.StartSession(who.Subject()); err != nil {
		return Session{}, err
	}
	session := s.newSession(who, contracts.StartSession{
		Message: preview.Goal, Name: body.Name, WebhookURL: body.WebhookURL, Instances: preview.Plan.Instances,
	})
	if key != "" {
		session.ID = derivedID("ses", who.Subject(), key)
	}
	return session, s.openSession(ctx, session)
}
