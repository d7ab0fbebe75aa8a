package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Config is how the use cases work; the zero value is a sound default.
type Config struct {
	// Retention is for how long finished runs are kept [720 h]; SweepEvery is how
	// often what is older goes [1 h].
	Retention, SweepEvery time.Duration
	// SessionLimit bounds how often one caller may start a session.
	SessionLimit access.LimitConfig
	// CheckWebhook refuses URLs that webhooks must not go to; nil refuses all.
	CheckWebhook func(url string) error
	Version      string
	Now          func() time.Time
	Logger       *slog.Logger
}

// Deps are the rooms and ports that the use cases work with.
type Deps struct {
	Sessions Sessions
	Turns    Turns
	Previews Previews
	Runs     execution.Store
	Runner   *execution.Runner
	Intents  *intent.Adapter
	Catalogs Catalogs
	Hub      *Hub
	// Inbox is swept with everything else; nil if there is none.
	Inbox Inbox
}

// Catalogs gives the present catalog and how its domains feel.
type Catalogs interface {
	Catalog() *contracts.Catalog
	Health() map[string]contracts.HealthStatus
}

// Service is every use case of the orchestrator. Methods take who asks and
// refuse what they may not; errors carry codes.
type Service struct {
	cfg      Config
	sessions Sessions
	turns    Turns
	previews Previews
	runs     execution.Store
	runner   *execution.Runner
	intents  *intent.Adapter
	catalogs Catalogs
	hub      *Hub
	inbox    Inbox
	limiter  *access.Limiter
	flights  singleflight.Group
	// answering has the contexts of first requests under way, by session.
	answering sync.Map
	live      live

	stop context.CancelFunc
	done chan struct{}
}

// New makes a Service; Start begins its retention.
func New(cfg Config, deps Deps) (*Service, error) {
	if deps.Sessions == nil || deps.Turns == nil || deps.Previews == nil || deps.Runs == nil ||
		deps.Runner == nil || deps.Intents == nil || deps.Catalogs == nil || deps.Hub == nil {
		return nil, errors.New("orchestrator: every dependency is needed")
	}
	cfg.Retention = cmp.Or(cfg.Retention, 30*24*time.Hour)
	cfg.SweepEvery = cmp.Or(cfg.SweepEvery, time.Hour)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	limiter, err := access.NewLimiter(cfg.SessionLimit)
	if err != nil {
		return nil, err
	}
	return &Service{
		cfg: cfg, sessions: deps.Sessions, turns: deps.Turns, previews: deps.Previews, runs: deps.Runs,
		runner: deps.Runner, intents: deps.Intents, catalogs: deps.Catalogs, hub: deps.Hub, inbox: deps.Inbox, limiter: limiter,
	}, nil
}

// Start begins to delete what retention no longer keeps.
func (s *Service) Start(ctx context.Context) error {
	if s.stop != nil {
		return nil
	}
	// Retention outlives the context of the call that started it.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop, s.done = stop, make(chan struct{})
	go s.sweep(work)
	return nil
}

// Stop ends the live events and the retention; a second call is harmless.
func (s *Service) Stop(ctx context.Context) error {
	s.live.stop()
	if s.stop == nil {
		return nil
	}
	s.stop()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Service) sweep(ctx context.Context) {
	defer close(s.done)
	ticker := time.NewTicker(s.cfg.SweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.sweepOnce(ctx)
		}
	}
}

// rememberReceived is for how long what came in and was ended is known; what
// brings messages at least once brings them again within a day.
const rememberReceived = 48 * time.Hour

func (s *Service) sweepOnce(ctx context.Context) {
	now := s.cfg.Now()
	swept, err := s.runs.Sweep(ctx, now.Add(-s.cfg.Retention))
	if err == nil {
		err = s.previews.DropPreviews(ctx, now)
	}
	if err == nil && s.inbox != nil {
		err = s.inbox.ForgetReceived(ctx, now.Add(-rememberReceived), now.Add(-s.cfg.Retention))
	}
	if err != nil && ctx.Err() == nil {
		s.cfg.Logger.WarnContext(ctx, "retention is held up", slog.Any("error", err))
		return
	}
	s.cfg.Logger.InfoContext(ctx, "retention has swept", slog.Int("runs", swept.Runs), slog.Int("blobs", swept.Blobs), slog.Int("data", swept.Data))
}

// Ready tells whether requests can be served: the store answers, and how each
// domain feels. A domain that is down does not make the server unready.
func (s *Service) Ready(ctx context.Context) contracts.Readiness {
	out := contracts.Readiness{
		Ready: true, Version: s.cfg.Version, Store: contracts.HealthOK,
		Domains: s.catalogs.Health(), Runs: s.runner.Active(),
	}
	if _, err := s.runs.NextWake(ctx); err != nil {
		out.Ready, out.Store = false, contracts.HealthDown
	}
	return out
}

// Capabilities lists what the caller may use, of one domain or of all.
func (s *Service) Capabilities(_ context.Context, who access.Principal, domain string) ([]contracts.CapabilityView, error) {
	if err := who.May(access.ActionReadCatalog); err != nil {
		return nil, err
	}
	views := []contracts.CapabilityView{}
	for _, d := range s.catalogs.Catalog().Domains {
		if domain != "" && d.Name != domain {
			continue
		}
		for _, e := range d.Capabilities {
			views = append(views, capabilityView(e))
		}
	}
	if domain != "" && len(views) == 0 {
		return nil, contracts.Errorf(contracts.CodeNotFound, "there is no active domain %q", domain)
	}
	return views, nil
}

func capabilityView(e *contracts.CapabilityEntry) contracts.CapabilityView {
	v := contracts.CapabilityView{
		Ref: e.Ref(), Domain: e.Domain, Name: e.Capability.Name, Description: e.Capability.Description,
		Schema: e.Capability.Schema, Policy: e.Policy, Routable: e.Routable(), Digest: e.Digest,
	}
	if hints := e.Capability.Metadata.IntentHints; hints != nil {
		v.Examples = hints.Examples
	}
	return v
}
