package app

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent/llm"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/bridge/host"
	"github.com/manifold-run/manifold/internal/domainclient"
	"github.com/manifold-run/manifold/internal/httpapi"
	"github.com/manifold-run/manifold/internal/telegram"
	"github.com/manifold-run/manifold/internal/webhook"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/registry"
	"github.com/manifold-run/manifold/orchestrator/runs"
	"github.com/manifold-run/manifold/web"
)

// wire creates all parts in the order of their dependencies.
func (a *App) wire(ctx context.Context) error {
	if len(a.cfg.Bootstrap) > 0 {
		b, err := registry.ParseBootstrap(a.cfg.Bootstrap)
		if err != nil {
			return fmt.Errorf("bootstrap file: %w", err)
		}
		a.bootstrap = b
	}
	var err error
	if a.telemetry, err = newTelemetry(ctx, a.cfg); err != nil {
		return err
	}
	a.cfg.Logger = a.telemetry.Logger(a.cfg.Logger)
	a.scrapes = newScrapes(a.cfg, a.telemetry)
	if err := a.openStore(ctx); err != nil {
		return errors.Join(err, a.telemetry.Stop(ctx))
	}
	if err := a.wireModel(); err != nil {
		return err
	}
	if err := a.wireDomains(); err != nil { //nolint:contextcheck // bridges live longer than the start
		return err
	}
	guard, err := webhook.NewGuard(a.cfg.Webhooks)
	if err != nil {
		return err
	}
	if err := a.wireCore(ctx, guard); err != nil {
		return err
	}
	if err := a.telemetry.Watch(watched(a), a.cfg.Now); err != nil { //nolint:contextcheck // it watches longer than the start
		return err
	}
	if err := a.wireInterfaces(ctx, guard); err != nil {
		return err
	}
	return a.wireTelegram()
}

func (a *App) openStore(ctx context.Context) error {
	if err := a.makeDataDir(); err != nil {
		return err
	}
	store, closing, err := a.openDatabase(ctx)
	if err != nil {
		return err
	}
	store.runs = a.telemetry.Store(store.runs)
	a.store = store
	a.cleanups = append(a.cleanups, cleanup{"store", func(context.Context) error { return closing() }}, cleanup{"telemetry", a.telemetry.Stop})
	a.keys = access.NewKeys(a.store.directory, a.cfg.Now)
	return nil
}

func (a *App) wireDomains() error {
	guard, err := webhook.NewGuard(webhook.GuardConfig{AllowLoopback: !a.cfg.PublicDomainsOnly, AllowPrivate: !a.cfg.PublicDomainsOnly})
	if err != nil {
		return err
	}
	a.bridges = &host.Host{
		Dir: a.path("bridges"), Lookup: a.cfg.Lookup, Control: guard.Control, Now: a.cfg.Now, Logger: a.cfg.Logger,
		PublicURL: func() string { return cmp.Or(a.cfg.Links.PublicURL, a.URL()) }, Keys: a.witness.Sealing,
		Beside: func(ctx context.Context, server string) (host.Control, error) {
			if a.cfg.PublicDomainsOnly {
				return guard.Control, nil
			}
			beside, err := webhook.GuardBeside(ctx, server)
			if err != nil {
				return nil, err
			}
			return beside.Control, nil
		},
	}
	if a.domains, err = domainclient.New(domainclient.Config{
		Transport: domainTransport(a.telemetry), Lookup: a.cfg.Lookup, Control: guard.Control, Now: a.cfg.Now,
		Bridge: func(at registry.Endpoint, tried bool) (http.Handler, func()) {
			return a.bridges.Serve(at.Domain, at.Bridge, tried)
		},
	}); err != nil {
		return err
	}
	a.cleanups = append(a.cleanups, cleanup{"domains", func(context.Context) error {
		a.domains.Close()
		return nil
	}})
	kept := a.modelCache()
	if err := a.wireIntents(kept); err != nil {
		return err
	}
	// Manifest tests use a separate index; see registry.NewSentenceTester. It uses no embeddings,
	// so that the result of a registration does not depend on a scorer. A catalog that it was
	// trained on is not trained again when it is published, or at the next start.
	sentences, err := local.New(local.Config{ModelCache: kept})
	if err != nil {
		return err
	}
	a.registry, err = registry.New(registry.Config{
		Site: a.bootstrap.SitePolicy, CheckURL: guard.CheckURL, AllowEmbedded: a.store.shared == nil, Published: a.local.Expect, Now: a.cfg.Now, Logger: a.cfg.Logger,
	}, a.store.directory, a.domains, registry.NewSentenceTester(sentences, kept))
	return err
}

// modelCache returns the cache for trained models.
func (a *App) modelCache() local.ModelCache {
	if a.cfg.Models != nil {
		return a.cfg.Models
	}
	kept := modelCache{rows: a.store.models, logger: a.cfg.Logger}
	if len(a.witness.Sealing) > 0 {
		kept.key = a.witness.Sealing[0]
	}
	return kept
}

// wireIntents creates the intent readers, with embeddings if they are configured.
func (a *App) wireIntents(kept local.ModelCache) error {
	scorer, err := a.cfg.Embeddings.Open()
	if err != nil {
		return fmt.Errorf("embeddings: %w", err)
	}
	a.matcherSummary = scorer.About
	a.cleanups = append(a.cleanups, cleanup{"embeddings", func(context.Context) error { return scorer.Close() }})
	cfg, err := a.cfg.Gates.config(local.Config{
		ModelCache: kept,
		Scorer:     scorer.Scorer,
		ScorerTold: func(err error) {
			if err != nil {
				a.cfg.Logger.Warn("no vectors, requests are read by words alone", slog.Any("error", err))
			}
		},
	})
	if err != nil {
		return err
	}
	if a.local, err = local.New(cfg); err != nil {
		return err
	}
	if a.model != nil && a.cfg.Mind.Understanding != UnderstandLocal {
		a.reader = llm.New(a.local, a.model, draftFaults)
	}
	return nil
}

func (a *App) wireCore(ctx context.Context, webhooks *webhook.Guard) error {
	a.notifier = orchestrator.NewLocalNotifier()
	if err := a.wireReviewers(ctx); err != nil {
		return err
	}
	var dispatcher execution.Dispatcher
	var name string
	if a.store.shared != nil {
		a.wakeups = newWakeups(dueOfAll{a.store.runs, a.store.shared}, a.cfg.Logger)
		dispatcher, name = a.wakeups, a.store.shared.Name()
	}
	var err error
	a.runner, err = execution.New(execution.Config{
		Replica: name,
		Rollout: a.cfg.Rollout, MaxActiveRuns: a.cfg.MaxActiveRuns, DropData: a.cfg.DropData, JudgeMode: a.cfg.Mind.JudgeMode, Answers: a.cfg.Mind.Answers,
		LateWrites: a.cfg.Mind.LateWrites, Context: runContext(a.telemetry), Now: a.cfg.Now, Logger: a.cfg.Logger,
	}, execution.Deps{
		Store: a.store.runs, Invoker: a.telemetry.Invoker(a.domains.Invoker(a.registry)), Catalogs: a.registry, Observer: a.notifier, Reviewers: a.reviewers, LanguageModel: NewLanguageModel(a.model),
		Dispatcher: dispatcher, Quota: a.quota(), Replanner: roundsOf(a),
	})
	if err != nil {
		return err
	}
	a.replicas = replicas{store: a.store.shared, notifier: a.notifier, runner: a.runner, registry: a.registry, logger: a.cfg.Logger}
	a.useCases, err = a.wireUseCases(webhooks)
	return err
}

// page returns the web page, or an empty one if it is disabled.
func page(cfg Config) httpapi.Page {
	if cfg.NoPage {
		return httpapi.Page{}
	}
	return httpapi.Page{Handler: web.Handler(), Has: web.Has}
}

// roundsOf returns the replanner for runs, or nil without a model that reads messages.
func roundsOf(a *App) execution.Replanner {
	if a.reader == nil {
		return nil
	}
	return runs.NewRounds(a.reader, a.registry, a.cfg.Now)
}

// wireReviewers creates the rules for second persons. It logs at every start that requesters may
// approve alone, if they may, and records own_authority as an administrative action.
func (a *App) wireReviewers(ctx context.Context) error {
	others, err := telegram.People(a.cfg.Telegram)
	if err != nil {
		return err
	}
	site := a.bootstrap.SitePolicy.Review
	a.reviewers = access.NewReviewers(a.keys, access.ReviewConfig{Site: site, Others: others, Vouches: len(a.cfg.Frontends.JWTSecret) > 0})
	if site != nil && site.SinglePerson {
		a.cfg.Logger.WarnContext(ctx, "single_person is set: whoever asks for a write may approve it alone")
	}
	if site == nil || len(site.OwnAuthority) == 0 {
		return nil
	}
	a.cfg.Logger.WarnContext(ctx, "own_authority is set: whoever asks may approve alone what is done with their own login", slog.Any("capabilities", site.OwnAuthority))
	// An administrative action is recorded with a write.
	_, err = a.secret(execution.WithAdminAction(ctx, execution.AdminAction{
		Kind: contracts.ActOwnAuthority, Actor: "system", Subject: "site_policy", Detail: map[string]any{"capabilities": site.OwnAuthority},
	}), "own_authority")
	return err
}

func (a *App) wireInterfaces(ctx context.Context, webhooks *webhook.Guard) error {
	key, err := a.secret(ctx, "webhook_signing_key")
	if err != nil {
		return err
	}
	if a.sender, err = webhook.New(webhook.Config{
		Key: key, Guard: webhooks, Now: a.cfg.Now, Logger: a.cfg.Logger,
		Wanted: func(ctx context.Context, d orchestrator.WebhookDelivery) bool {
			return orchestrator.StillNeeded(ctx, a.store.runs, d)
		},
	}, a.store.mail); err != nil {
		return err
	}
	marker, err := a.secret(ctx, "chat_marker_key")
	if err != nil {
		return err
	}
	links := a.cfg.Links
	if links.PublicURL != "" && len(links.Key) == 0 {
		links.Key = a.witness.Links
	}
	if links.Others, err = telegram.People(a.cfg.Telegram); err != nil {
		return err
	}
	a.api, err = httpapi.New(httpapi.Config{ //nolint:contextcheck // requests bring contexts of their own
		ForwardedUser: a.cfg.ForwardedUser, RequestsPerMinute: a.cfg.RequestsPerMinute,
		Burst: a.cfg.RequestBurst, Share: &a.share, Frontends: a.cfg.Frontends.config(), Links: links,
		Heartbeat: a.cfg.Heartbeat, ChatWait: a.cfg.ChatWait, ChatStream: a.cfg.ChatStream, ChatSettle: a.cfg.ChatSettle, Version: a.cfg.Version, Now: a.cfg.Now, Logger: a.cfg.Logger,
	}, httpapi.Deps{
		Conversation: a.useCases.conversation, Sessions: a.useCases.sessions, Gates: a.useCases.gates, Runs: a.useCases.runs, Audit: a.useCases.audit, Registry: a.registry, Keys: a.keys, SignIns: access.NewSignIns(a.keys, a.store.directory, a.witness.Links), Unregistered: a.domains.Forget, MarkerKey: marker,
		Page: page(a.cfg), Settings: settings(a),
		WebhookKey: contracts.WebhookKey{KeyID: a.sender.KeyID(), Key: base64.StdEncoding.EncodeToString(key)},
	})
	return err
}

var _ orchestrator.Catalogs = (*registry.Registry)(nil)

var _ execution.Catalogs = (*registry.Registry)(nil)
