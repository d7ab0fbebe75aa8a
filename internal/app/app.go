// Package app assembles the server. It is the only package that imports every adapter. It reads
// no flags and no environment variables; cmd/ does that and fills in Config.
package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/bridge/host"
	"github.com/manifold-run/manifold/internal/domainclient"
	"github.com/manifold-run/manifold/internal/httpapi"
	"github.com/manifold-run/manifold/internal/ratelimit"
	"github.com/manifold-run/manifold/internal/reasoning"
	"github.com/manifold-run/manifold/internal/telegram"
	"github.com/manifold-run/manifold/internal/telemetry"
	"github.com/manifold-run/manifold/internal/webhook"
	"github.com/manifold-run/manifold/internal/witness"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// Config is the configuration of a server. Zero values take the defaults given in brackets.
type Config struct {
	// Addr is the address of the API ["127.0.0.1:8080"]. Port 0 selects a free port.
	Addr string
	// DataDir is the directory of all data. It is required.
	DataDir string
	// PostgresURL is the URL of a database, which several servers may share. If it is empty, a
	// file in the data directory is used, which only one server can open.
	PostgresURL string
	// Bootstrap is the content of domains.bootstrap.json, empty for none.
	Bootstrap []byte
	// Lookup resolves the NAME of "env:NAME" in a registration. If it is nil, no name is known.
	Lookup func(name string) (string, bool)
	// Webhooks says which addresses webhooks may reach besides public ones. Domains are
	// registered by admins and usually run in the same network, so they may use private addresses
	// unless PublicDomainsOnly is set.
	Webhooks          webhook.GuardConfig
	PublicDomainsOnly bool
	// ForwardedUser is the header in which frontend keys name the user.
	ForwardedUser string
	// Frontends says which claims of chat frontends are trusted.
	Frontends Frontends
	// Links configures the page on which people decide gates. Without a URL there are no links.
	// Without a key they are signed with the link key of the audit keys file.
	Links ApprovalLinks
	// Telegram configures the Telegram bot.
	Telegram Telegram
	// Embeddings configures the sentence embeddings for matching [none].
	Embeddings Embeddings
	// Mind configures the language model [none].
	Mind LanguageModel
	// Gates are the confidence thresholds for understanding messages.
	Gates Gates
	// Models caches trained matcher models [the store]. Servers of one process may share it.
	Models local.ModelCache
	// Heartbeat, ChatWait, ChatStream and ChatSettle are as in httpapi.Config. ReadTimeout and
	// WriteTimeout replace the HTTP server's limits of one request.
	Heartbeat, ChatWait, ChatStream, ChatSettle time.Duration
	ReadTimeout, WriteTimeout                   time.Duration
	// SessionsPerMinute is the sustained rate of new sessions of one caller [30], SessionBurst
	// the burst [10].
	SessionsPerMinute, SessionBurst int
	// RequestsPerMinute is the sustained rate of all requests of one caller [1200], RequestBurst
	// the burst [200].
	RequestsPerMinute, RequestBurst int
	// Rollout sets feature flags, possibly for a share of the sessions [all on].
	Rollout metrics.Rollout
	// MaxActiveRuns is the maximum number of runs that are active at once [256].
	MaxActiveRuns int
	// Retention is how long finished runs are kept [720h].
	Retention time.Duration
	// DropData disables storing raw output of domains for debugging.
	DropData bool
	// Proof configures the signed roots of the audit log.
	Proof Proof
	// Restored allows a start although the database is older than the published roots. Unfinished
	// runs continue from their stored state.
	Restored bool
	// Quarantine is like Restored, but unfinished runs are quarantined until a person releases
	// them.
	Quarantine bool
	// Init creates a new database in place of an empty file.
	Init bool
	// StopTimeout is the time limit of Stop [40s].
	StopTimeout time.Duration
	// Telemetry configures traces and metrics [none].
	Telemetry Telemetry
	// NoPage disables the web page.
	NoPage  bool
	Version string
	Now     func() time.Time
	Logger  *slog.Logger
}

// Frontends says which claims of chat frontends about their users are trusted.
type Frontends struct {
	// JWTSecret verifies signed users. If it is set, unsigned users are rejected.
	JWTSecret []byte
	// Roles maps roles of the frontend to Manifold roles.
	Roles map[string][]string
}

// ApprovalLinks configures the page on which people decide gates.
type ApprovalLinks = httpapi.LinkConfig

func (f Frontends) config() httpapi.FrontendConfig {
	out := httpapi.FrontendConfig{JWTSecret: f.JWTSecret, Roles: map[string][]access.Role{}}
	for theirs, ours := range f.Roles {
		out.Roles[theirs] = []access.Role{}
		for _, role := range ours {
			out.Roles[theirs] = append(out.Roles[theirs], access.Role(role))
		}
	}
	return out
}

func (c Config) withDefaults() (Config, error) {
	if c.DataDir == "" {
		return c, errors.New("app: the data folder is needed")
	}
	if err := c.checkNumbers(); err != nil {
		return c, err
	}
	c.Addr = cmp.Or(c.Addr, "127.0.0.1:8080")
	c.StopTimeout = cmp.Or(c.StopTimeout, defaultStop)
	c.Version = cmp.Or(c.Version, "dev")
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// defaultStop is long enough for an exchange that has just begun to end and be recorded.
const defaultStop = contracts.MaxExchange + 10*time.Second

// clientsMayTake is how long Stop waits for requests to end. A slow client must not use up the
// time needed for writes.
const clientsMayTake = 5 * time.Second

// checkNumbers rejects negative values, which would silently stop all work or delete all data: a
// negative retention keeps nothing, a negative limit admits nothing.
func (c Config) checkNumbers() error {
	for _, n := range []struct {
		name  string
		value int
	}{
		{"max_active_runs", c.MaxActiveRuns},
		{"sessions_per_minute", c.SessionsPerMinute},
		{"session_burst", c.SessionBurst},
		{"requests_per_minute", c.RequestsPerMinute},
		{"request_burst", c.RequestBurst},
		{"retention", int(c.Retention)},
		{"audit_every", int(c.Proof.Every)},
		{"stop_timeout", int(c.StopTimeout)},
	} {
		if n.value < 0 {
			return contracts.Errorf(contracts.CodeInvalid, "%s must not be negative; 0 means the default", n.name)
		}
	}
	return nil
}

// App is one server process.
type App struct {
	cfg            Config
	bootstrap      contracts.Bootstrap
	store          stores
	replicas       replicas
	share          ratelimit.Share // this server's share of the limits
	wakeups        *wakeups        // nil for a single server
	domains        *domainclient.Client
	registry       *registry.Registry
	local          *local.Reader
	reader         intent.Reader // reads messages with a model; nil without a model
	runner         *execution.Runner
	useCases       useCases
	sender         *webhook.Sender
	keys           *access.Keys
	reviewers      *access.Reviewers
	api            *httpapi.Server
	bridges        *host.Host
	notifier       orchestrator.Notifier
	telegram       *telegram.Bot    // nil if not configured
	matcherSummary string           // describes the matching engine
	model          *reasoning.Model // nil if not configured
	modelSummary   string           // describes the model
	witness        witness.Keys
	telemetry      *telemetry.Telemetry // nil if not configured
	scrapes        *scrapes

	mu       sync.Mutex // guards the fields below
	cleanups []cleanup
	listener net.Listener
	failed   chan error
	started  bool
	stopped  bool
}

// New opens the store and creates all parts. Nothing runs before Start. If it succeeds, Stop must
// be called.
func New(ctx context.Context, cfg Config) (*App, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &App{cfg: cfg, failed: make(chan error, 1)}
	if err := a.wire(ctx); err != nil {
		return nil, errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
	}
	return a, nil
}

// Start creates the first API key if there is none, starts all parts and serves requests. After
// an error, Stop stops the parts that were started.
func (a *App) Start(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return errors.New("app: it was stopped already")
	}
	if a.started {
		return nil
	}
	a.started = true
	if err := a.firstKey(ctx); err != nil {
		return err
	}
	if err := a.holdBack(ctx); err != nil {
		return err
	}
	parts := []part{
		a.roots(),
		a.presence(),
		{"intents", a.local.Start, a.local.Stop},
		{"registry", func(ctx context.Context) error { return a.registry.Start(ctx, a.bootstrap) }, a.registry.Stop},
		{"runner", a.runner.Start, a.runner.Stop},
		{"live", func(context.Context) error { return nil }, func(context.Context) error { a.useCases.live.Stop(); return nil }},
		{"replicas", a.replicas.start, a.replicas.stop},
		{"metrics", a.scrapes.start, a.scrapes.stop},
	}
	for _, p := range append(parts, a.singles()...) {
		if err := p.start(ctx); err != nil {
			return fmt.Errorf("start %s: %w", p.name, err)
		}
		a.cleanups = append(a.cleanups, cleanup{p.name, p.stop})
	}
	return a.serve(ctx)
}

func (a *App) serve(ctx context.Context) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", a.cfg.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", a.cfg.Addr, err)
	}
	// Requests outlive the start. They are cancelled when the server stops.
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	srv := httpapi.HTTPServer(a.telemetry.Handler(withAgents(a.cfg, a.api, a.bridges)))
	srv.ReadTimeout, srv.WriteTimeout = cmp.Or(a.cfg.ReadTimeout, srv.ReadTimeout), cmp.Or(a.cfg.WriteTimeout, srv.WriteTimeout)
	srv.BaseContext = func(net.Listener) context.Context { return base }
	srv.ErrorLog = slog.NewLogLogger(a.cfg.Logger.Handler(), slog.LevelWarn)
	a.listener = listener
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			a.failed <- fmt.Errorf("serve: %w", err)
		}
	}()
	a.cleanups = append(a.cleanups, cleanup{"http", func(ctx context.Context) error {
		cut() // waiting requests end and clients retry
		ctx, cancel := context.WithTimeout(ctx, clientsMayTake)
		defer cancel()
		err := srv.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = srv.Close()
		}
		<-served
		return err
	}})
	a.cfg.Logger.InfoContext(ctx, "server is ready", slog.String("address", listener.Addr().String()), slog.String("version", a.cfg.Version))
	return a.writeClientFile()
}

// URL returns the base URL of the API, or "" before Start.
func (a *App) URL() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.listener == nil {
		return ""
	}
	return "http://" + reachable(a.listener.Addr())
}

// reachable returns the address in a form that a client on this machine can use.
func reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// MatcherSummary describes the matching engine in one line.
func (a *App) MatcherSummary() string { return a.matcherSummary }

// ModelSummary describes the configured model and its use in one line.
func (a *App) ModelSummary() string { return a.modelSummary }

// Failed returns a channel with the error that ended serving, if any.
func (a *App) Failed() <-chan error { return a.failed }

// Settled waits until every domain was asked for its manifest once and the matcher was trained on
// the catalog.
func (a *App) Settled(ctx context.Context) error {
	if err := a.registry.Settled(ctx); err != nil {
		return err
	}
	_, err := a.local.Settle(ctx, a.registry.Catalog())
	return err
}

// secret returns the 32-byte secret of a name from the store, and creates it if it is missing.
func (a *App) secret(ctx context.Context, name string) ([]byte, error) {
	proposal := make([]byte, 32)
	_, _ = rand.Read(proposal) // it never returns an error
	value, err := a.store.talk.SecretOnce(ctx, name, proposal)
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", name, err)
	}
	return value, nil
}

func (a *App) path(name string) string { return filepath.Join(a.cfg.DataDir, name) }

func (a *App) makeDataDir() error {
	if err := os.MkdirAll(a.cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	return nil
}
