package app

import (
	"github.com/manifold-run/manifold/internal/webhook"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/audit"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/gates"
	"github.com/manifold-run/manifold/orchestrator/runs"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// useCases are the use cases of the orchestrator.
type useCases struct {
	retention    *orchestrator.Retention
	live         *orchestrator.EventBroker
	sessions     *sessions.Directory
	gates        *gates.Gates
	runs         *runs.Runs
	conversation *conversation.Conversation
	audit        *audit.Audit
	publisher    *audit.Publisher
}

// wireUseCases creates the use cases in the order of their dependencies.
func (a *App) wireUseCases(webhooks *webhook.Guard) (r useCases, err error) {
	if r.retention, err = orchestrator.NewRetention(orchestrator.RetentionConfig{
		Retention: a.cfg.Retention, Now: a.cfg.Now, Logger: a.cfg.Logger,
	}, a.store.runs, a.store.talk, a.store.talk, a.store.mail); err != nil {
		return r, err
	}
	r.live = orchestrator.NewEventBroker(a.store.runs, a.notifier, a.cfg.Logger)
	if r.sessions, err = sessions.New(sessions.Config{
		Limit:        access.LimitConfig{PerMinute: a.cfg.SessionsPerMinute, Burst: a.cfg.SessionBurst, Share: &a.share, Now: a.cfg.Now},
		CheckWebhook: webhooks.CheckURL, Now: a.cfg.Now,
	}, a.store.talk, a.store.runs, r.live); err != nil {
		return r, err
	}
	if r.gates, err = gates.New(gates.Deps{
		Store: a.store.runs, List: a.store.runs, Runner: a.runner, Sessions: r.sessions, Reviewers: a.reviewers, Notifier: a.notifier,
	}); err != nil {
		return r, err
	}
	if r.runs, err = runs.New(runs.Config{Version: a.cfg.Version, TraceURL: a.cfg.Telemetry.TraceURL, Now: a.cfg.Now, Logger: a.cfg.Logger}, runs.Deps{
		Store: a.store.runs, Runner: a.runner, Previews: a.store.talk, Sessions: r.sessions, Local: a.local, Model: a.reader, Catalogs: a.registry, Notifier: a.notifier,
		Leases: a.store.leases(), Quarantine: a.store.held,
	}); err != nil {
		return r, err
	}
	if r.conversation, err = conversation.New(conversation.Config{Restored: a.cfg.restoredAt(), NoModelWords: a.cfg.Mind.NoGeneralAnswers, Now: a.cfg.Now, Logger: a.cfg.Logger}, conversation.Deps{
		Sessions: r.sessions, Gates: r.gates, Runs: r.runs, Turns: a.store.talk, Store: a.store.runs,
		Runner: a.runner, Local: a.local, Model: a.reader, Catalogs: a.registry, Notifier: a.notifier, Leases: a.store.leases(),
	}); err != nil {
		return r, err
	}
	if r.publisher, err = a.wirePublisher(webhooks); err != nil {
		return r, err
	}
	r.audit, err = audit.New(a.store.runs, a.store.proofs, r.publisher, a.runner, r.runs, r.sessions, r.conversation)
	return r, err
}
