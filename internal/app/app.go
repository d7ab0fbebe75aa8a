// Package app puts the server together: it is the only package that
// imports every adapter. It reads no flags and no environment; cmd/ does that and fills in
// Config.
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

// Config is everything that an operator may set; zero values take the defaults
// in brackets.
type Config struct {
	// Addr is where the API is served ["127.0.0.1:8080"]; port 0 takes a free
	// one.
	Addr string
	// DataDir is the folder of everything that is kept. It is needed.
	DataDir string
	// PostgresURL is the address of a database that several servers may share;
	// empty means a file in the data folder, which is one server's alone.
	PostgresURL string
	// Bootstrap is the content of domains.bootstrap.json; empty means none.
	Bootstrap []byte
	// Lookup resolves the NAME of a registration's "env:NAME"; nil knows none.
	Lookup func(name string) (string, bool)
	// Webhooks and Domains say which addresses may be reached besides public
	// ones. Domains are registered by admins and usually run next door, so
	// PublicDomainsOnly must be asked for.
	Webhooks          webhook.GuardConfig
	PublicDomainsOnly bool
	// ForwardedUser is the header in which frontend keys say who is asking.
	ForwardedUser string
	// Frontends describes what to believe of chat frontends.
	Frontends Frontends
	// Links lets people decide gates on a page; without a URL there are none, and
	// without a key the store's own signs them.
	Links ApprovalLinks
	// Telegram is the Telegram bot.
	Telegram Telegram
	// Embeddings is what tells the meaning of texts [nothing].
	Embeddings Embeddings
	// Mind is the model that reads messages, thinks for steps and judges [none].
	Mind LanguageModel
	// Gates are how sure of its reading of a message the server must be.
	Gates Gates
	// Models keeps trained models of catalogs [the store]. Servers of one process may
	// share it.
	Models local.ModelCache
	// Heartbeat, ChatWait, ChatStream and ChatSettle are those of the API; ReadTimeout and
	// WriteTimeout replace its limits of one request.
	Heartbeat, ChatWait, ChatStream, ChatSettle time.Duration
	ReadTimeout, WriteTimeout                   time.Duration
	// SessionsPerMinute bounds how often one caller may start a session in the
	// long run [30], SessionBurst how many at once [10].
	SessionsPerMinute, SessionBurst int
	// RequestsPerMinute bounds all requests of one caller in the long run
	// [1200], RequestBurst those at once [200].
	RequestsPerMinute, RequestBurst int
	// Rollout is what is switched on, and for which sessions [everything].
	Rollout metrics.Rollout
	// MaxActiveRuns bounds the runs that are advanced at once [256].
	MaxActiveRuns int
	// Retention is for how long finished runs are kept [720h].
	Retention time.Duration
	// DropData tells not to keep raw output of domains for debugging.
	DropData bool
	// Proof is how the database is proven to be as it was written.
	Proof Proof
	// Restored starts although the database is older than the roots that were
	// published. What was open goes on as it stands in it.
	Restored bool
	// Quarantine is Restored, but nobody goes on with what was open until a person
	// releases it.
	Quarantine bool
	// Init makes a new database where an empty file stands in its place.
	Init bool
	// StopTimeout bounds the whole of Stop [40s].
	StopTimeout time.Duration
	// Telemetry is what the server tells of its work [nothing].
	Telemetry Telemetry
	// NoPage tells not to serve the web page.
	NoPage  bool
	Version string
	Now     func() time.Time
	Logger  *slog.Logger
}

// Frontends describes what to believe of what chat frontends tell about their users.
type Frontends struct {
	// JWTSecret checks signed users; with one, unsigned users are refused.
	JWTSecret []byte
	// Roles are the roles here for the frontend's own roles.
	Roles map[string][]string
}

// ApprovalLinks is how people may decide gates on a page.
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

// defaultStop is long enough for an exchange that has just begun to end and be
// recorded.
const defaultStop = contracts.MaxExchange + 10*time.Second

// clientsMayTake is how long a stop waits for requests to end that were told to:
// a client that sends or reads slowly must not use up the time of the writes.
const clientsMayTake = 5 * time.Second

// checkNumbers refuses what would stop the work, or delete what should stay,
// without a word: a retention below zero keeps nothing, a limit below zero lets
// nothing pass.
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
	share          ratelimit.Share // of the limits; all of them without others
	wakeups        *wakeups        // nil without others
	domains        *domainclient.Client
	registry       *registry.Registry
	local          *local.Reader
	reader         intent.Reader // the model\'s; nil if there is none
	runner         *execution.Runner
	useCases       useCases
	sender         *webhook.Sender
	keys           *access.Keys
	reviewers      *access.Reviewers
	api            *httpapi.Server
	bridges        *host.Host
	notifier       orchestrator.Notifier
	telegram       *telegram.Bot    // nil if there is none
	matcherSummary string           // says what tells the meaning of texts
	model          *reasoning.Model // nil if there is none
	modelSummary   string           // says what model there is
	witness        witness.Keys
	telemetry      *telemetry.Telemetry // nil if nothing is told
	scrapes        *scrapes

	mu       sync.Mutex // guards the fields below
	cleanups []cleanup
	listener net.Listener
	failed   chan error
	started  bool
	stopped  bool
}

// New opens the store and puts the parts together. Nothing runs before Start;
// Stop is needed in any case.
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

// Start makes the first key if there is none, begins the work of all parts and
// serves. What was started is stopped again when a later part fails.
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
	// Requests live longer than the start; they end when the server stops.
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
		cut() // whoever waits for an answer is told to ask again
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

// URL is where the API is served, once it is started.
func (a *App) URL() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.listener == nil {
		return ""
	}
	return "http://" + reachable(a.listener.Addr())
}

// reachable returns an address that a client on this machine can use.
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

// MatcherSummary says in one line what tells the meaning of texts.
func (a *App) MatcherSummary() string { return a.matcherSummary }

// ModelSummary says in one line what model there is, and what it does.
func (a *App) ModelSummary() string { return a.modelSummary }

// Failed returns the error that ended serving, if there is one.
func (a *App) Failed() <-chan error { return a.failed }

// Settled waits until every domain was asked for its manifest once, and the
// matcher was trained on what they declare.
func (a *App) Settled(ctx context.Context) error {
	if err := a.registry.Settled(ctx); err != nil {
		return err
	}
	_, err := a.local.Settle(ctx, a.registry.Catalog())
	return err
}

// secret returns the 32 bytes that stand for a name in the store.
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
