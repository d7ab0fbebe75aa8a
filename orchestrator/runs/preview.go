package runs

import (
	"cmp"
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/planner"
)

// Plan compiles a message, or intents or a draft given as data, without running anything. The
// preview is stored for its owner for contracts.PreviewTTL; RunPlan runs it unchanged. A forecast
// reads earlier runs.
func (r *Runs) Plan(ctx context.Context, who access.Principal, body contracts.PlanRequest, forecast bool) (contracts.PlanPreview, error) {
	if err := who.May(access.ActionReadCatalog); err != nil {
		return contracts.PlanPreview{}, err
	}
	preview, intents, draft, err := r.understood(ctx, who, body)
	if err != nil || preview.Outcome != contracts.ReadingAccepted {
		return preview, err
	}
	body.Draft = draft
	req, err := r.previewRequest(ctx, who, body, intents)
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
	if err := who.CoversPlan(result.Plan); err != nil {
		return preview, err
	}
	if forecast {
		found, err := r.forecast(ctx, who, result.Plan)
		if err != nil {
			return preview, err
		}
		preview.Forecast = &found
	}
	return r.keepPreview(ctx, who, preview, req, result.Plan)
}

// understood returns the intents or the draft of a plan request.
func (r *Runs) understood(ctx context.Context, who access.Principal, body contracts.PlanRequest) (contracts.PlanPreview, []contracts.Intent, *contracts.Draft, error) {
	preview := contracts.PlanPreview{Outcome: contracts.ReadingAccepted, Intents: body.Intents}
	if len(body.Intents) > 0 || body.Draft != nil {
		return preview, body.Intents, body.Draft, nil
	}
	if err := orchestrator.CheckMessage(body.Message); err != nil {
		return preview, nil, nil, err
	}
	u, err := r.intents.Understand(ctx, intent.Request{
		Message: body.Message, Catalog: r.catalogs.Catalog(), Roles: who.Contract().Roles, Now: r.cfg.Now(),
	})
	preview.Tokens = contracts.SumTokens(u.Calls)
	preview.Outcome, preview.Intents, preview.Choices, preview.Message = u.Outcome, u.Intents, u.Choices, cmp.Or(u.Question, u.Reply)
	if u.Outcome == contracts.ReadingAccepted && len(u.Intents) == 0 && u.Draft == nil { // nothing to plan
		preview.Outcome = contracts.ReadingDeclined
	}
	return preview, u.Intents, u.Draft, err
}

func (r *Runs) previewRequest(ctx context.Context, who access.Principal, body contracts.PlanRequest, intents []contracts.Intent) (planner.Request, error) {
	req := planner.Request{
		Goal:    cmp.Or(contracts.CleanSummary(body.Goal), contracts.CleanSummary(body.Message), "intents given as data"),
		Intents: intents, Draft: body.Draft, Catalog: r.catalogs.Catalog(), Owner: who.Contract(), Instances: body.Instances, DryRun: body.DryRun,
		Unattended: body.Unattended, Phase: body.Phase,
	}
	if body.Budgets != nil {
		req.Budgets = *body.Budgets
	}
	if body.SessionID == "" {
		return req, nil
	}
	session, err := r.sessions.Own(ctx, who, body.SessionID)
	if req.Instances == nil {
		req.Instances = session.Instances
	}
	return req, err
}

func (r *Runs) keepPreview(ctx context.Context, who access.Principal, preview contracts.PlanPreview, req planner.Request, plan contracts.Plan) (contracts.PlanPreview, error) {
	expires := r.cfg.Now().Add(contracts.PreviewTTL)
	preview.Plan, preview.PlanHash, preview.ExpiresAt = &plan, plan.PlanHash, &expires
	preview.Rows, preview.Mermaid = planner.Rows(plan), planner.Mermaid(plan)
	if cost := planner.Cost(plan, req.Catalog); cost != (contracts.Cost{}) {
		preview.Cost = &cost
	}
	err := r.previews.SavePreview(ctx, orchestrator.Preview{
		PlanHash: plan.PlanHash, Owner: who.Subject(), Plan: plan, Intents: req.Intents, Draft: req.Draft, Goal: req.Goal, ExpiresAt: expires,
	})
	return preview, err
}

// Begun is a submitted run. New is its session if it was created together with the run and has
// nothing else.
type Begun struct {
	SessionID, RunID string
	New              *orchestrator.Session
}

// RunPlan runs a previewed plan. If the current catalog would no longer compile it to the same
// plan, it returns conflict with the difference. With a key a repeat returns the same run.
func (r *Runs) RunPlan(ctx context.Context, who access.Principal, body contracts.RunPlan, key string) (Begun, error) {
	if err := r.sessions.CheckWebhook(body.WebhookURL); err != nil {
		return Begun{}, err
	}
	compiled, err := r.compiled(ctx, who, body)
	if err != nil {
		return Begun{}, err
	}
	if body.SessionID != "" {
		session, err := r.sessions.Own(ctx, who, body.SessionID)
		if err != nil {
			return Begun{}, err
		}
		return r.submit(ctx, session, compiled.plan, key)
	}
	if err := r.sessions.AllowSession(who); err != nil {
		return Begun{}, err
	}
	session := r.sessionForPlan(who, body, compiled.preview, key)
	runID, err := r.runner.SubmitBy(ctx, session.ID, keyed(compiled.plan, session, key), r.sessions.CreateWithRun(session))
	if err == nil || key == "" || contracts.CodeOf(err) != contracts.CodeConflict {
		return Begun{SessionID: session.ID, RunID: runID, New: &session}, err
	}
	// The session exists: it belongs to the same request, or to another caller.
	if session, err = r.sessions.Open(ctx, session); err != nil {
		return Begun{}, err
	}
	return r.submit(ctx, session, compiled.plan, key)
}

// submit runs a plan in an existing session. With a key, a run that exists is treated as that of
// the same request.
func (r *Runs) submit(ctx context.Context, session orchestrator.Session, plan contracts.Plan, key string) (Begun, error) {
	runID, err := r.runner.Submit(ctx, session.ID, keyed(plan, session, key))
	if key != "" && contracts.CodeOf(err) == contracts.CodeConflict {
		err = nil
	}
	return Begun{SessionID: session.ID, RunID: runID}, err
}

// keyed returns the plan with a run id derived from the key of the request; without a key it is
// unchanged.
func keyed(plan contracts.Plan, session orchestrator.Session, key string) contracts.Plan {
	if key != "" {
		plan.RunID = execution.DerivedRunID(session.CreatedAt, session.ID, key)
	}
	return plan
}

// compiled returns a preview that may be run, with its plan.
func (r *Runs) compiled(ctx context.Context, who access.Principal, body contracts.RunPlan) (compiled, error) {
	now, catalog := r.cfg.Now(), r.catalogs.Catalog()
	c, ok := r.recent.find(who, body, catalog, now)
	if ok {
		return c, who.CoversPlan(c.plan)
	}
	preview, err := r.previews.Preview(ctx, who.Subject(), body.PlanHash, now)
	if err != nil {
		return c, err
	}
	c = compiled{preview: preview, catalog: catalog, owner: who.Contract(), dryRun: body.DryRun}
	if c.plan, err = recompiled(c); err != nil {
		return c, err
	}
	if err := who.CoversPlan(c.plan); err != nil {
		return c, err
	}
	r.recent.keep(c)
	return c, nil
}

// recompiled compiles the preview's intents against the current catalog. A plan that was previewed
// for real may run as a dry run, but not the reverse.
func recompiled(c compiled) (contracts.Plan, error) {
	previewed := c.preview.Plan
	req := planner.Request{
		Goal: c.preview.Goal, Intents: c.preview.Intents, Draft: c.preview.Draft, Catalog: c.catalog, Owner: c.owner,
		Instances: previewed.Instances, Budgets: previewed.Budgets, DryRun: previewed.DryRun,
		Unattended: previewed.Unattended, Phase: previewed.Phase,
	}
	result, err := planner.Compile(req)
	if err != nil {
		return contracts.Plan{}, err
	}
	if len(result.Questions) > 0 || result.Plan.PlanHash != c.preview.PlanHash {
		e := contracts.Errorf(contracts.CodeConflict, "the plan would no longer be the one that was previewed; preview it again")
		e.Detail = execution.Difference(previewed, result.Plan)
		return contracts.Plan{}, e
	}
	if !c.dryRun || result.Plan.DryRun {
		return result.Plan, nil
	}
	req.DryRun = true
	result, err = planner.Compile(req)
	return result.Plan, err
}

// sessionForPlan returns a new session for a plan, not stored yet.
func (r *Runs) sessionForPlan(who access.Principal, body contracts.RunPlan, preview orchestrator.Preview, key string) orchestrator.Session {
	session := r.sessions.Draft(who, contracts.StartSession{
		Message: preview.Goal, Name: body.Name, WebhookURL: body.WebhookURL, Instances: preview.Plan.Instances,
	})
	if key != "" {
		session.ID = orchestrator.DerivedID("ses", who.Subject(), key)
	}
	return session
}
