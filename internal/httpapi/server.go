package httpapi

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/ratelimit"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/audit"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/gates"
	"github.com/manifold-run/manifold/orchestrator/registry"
	"github.com/manifold-run/manifold/orchestrator/runs"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// Limits of requests.
const (
	MaxBody     = 1 << 20
	MaxPlanBody = 4 << 20
	MaxWait     = 60 * time.Second

	// Failed authentications of one address.
	failuresPerMinute, failuresAtOnce = 60, 300
)

// Config configures the API; zero values take the defaults in brackets.
type Config struct {
	// ForwardedUser is the header in which a frontend names the person that it makes the request for
	// ["Manifold-User"].
	ForwardedUser string
	// RequestsPerMinute is the sustained request rate of one caller [1200], Burst the number of
	// requests at once [200].
	RequestsPerMinute, Burst int
	// Share is this server's share of these limits [all].
	Share *ratelimit.Share
	// Frontends specifies which claims of chat frontends about their users are accepted.
	Frontends FrontendConfig
	// Heartbeat is the interval of keep-alives on an idle stream [15s].
	Heartbeat time.Duration
	// ChatWait is how long a chat request waits for an answer [50s], ChatStream how long a streamed one
	// [30m].
	ChatWait, ChatStream time.Duration
	// ChatSettle is the minimum time that the first answer of a chat is kept open, for a frontend that
	// drops events before it knows its own chat [2s].
	ChatSettle time.Duration
	// Links configures links to approval pages; without a URL there are none.
	Links LinkConfig
	// Version is the version that /health reports.
	Version string
	Now     func() time.Time
	Logger  *slog.Logger
}

// Deps are the use cases and settings that the routes use.
type Deps struct {
	Conversation *conversation.Conversation
	Sessions     *sessions.Directory
	Gates        *gates.Gates
	Runs         *runs.Runs
	Audit        *audit.Audit
	Registry     *registry.Registry
	Keys         *access.Keys
	SignIns      *access.SignIns
	// WebhookKey is shown to admins, who configure it at webhook receivers.
	WebhookKey contracts.WebhookKey
	// MarkerKey signs the markers that tie a chat's history to its session; at least 32 bytes.
	MarkerKey []byte
	// Settings are shown to operators.
	Settings contracts.Settings
	// Page is the web page; without a handler there is none.
	Page Page
	// Unregistered is called with the name of an unregistered domain; it may be nil.
	Unregistered func(domain string)
}

// Server is the REST API as an http.Handler: it authenticates the caller, calls the route's handler,
// and writes its error. The groups of routes keep no state between requests.
type Server struct {
	cfg      Config
	page     Page
	settings contracts.Settings
	state    *runs.Runs // reports whether requests can be served
	callers  *callers
	problems *problems
	engine   *gin.Engine

	sessions *sessionRoutes
	runs     *runRoutes
	audits   *auditRoutes
	gates    *gateRoutes
	links    *linkRoutes
	domains  *domainRoutes
	keys     *keyRoutes
	signIns  *signInRoutes
	streams  *streamRoutes
	chats    *chatRoutes
}

var _ http.Handler = (*Server)(nil)

// Page returns the URL of a gate's approval page for a person, "" if there is none.
func (s *Server) Page(who access.Principal, i contracts.Interrupt) string {
	return s.links.page(who, i)
}

// New returns the API. Serve it with HTTPServer.
func New(cfg Config, deps Deps) (*Server, error) {
	if deps.Conversation == nil || deps.Sessions == nil || deps.Gates == nil || deps.Runs == nil || deps.Audit == nil || deps.Registry == nil || deps.Keys == nil || deps.SignIns == nil {
		return nil, errors.New("httpapi: the use cases, registry and keys are needed")
	}
	if len(deps.MarkerKey) < 32 {
		return nil, errors.New("httpapi: a marker key of at least 32 bytes is needed")
	}
	cfg.ForwardedUser = cmp.Or(cfg.ForwardedUser, "Manifold-User")
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, 15*time.Second)
	cfg.ChatSettle = cmp.Or(cfg.ChatSettle, 2*time.Second)
	cfg.ChatWait, cfg.ChatStream = cmp.Or(cfg.ChatWait, 50*time.Second), cmp.Or(cfg.ChatStream, 30*time.Minute)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	gone := deps.Unregistered
	if gone == nil {
		gone = func(string) {}
	}
	pages, err := newPages(cfg.Links, cfg.Now)
	if err != nil {
		return nil, err
	}
	limiter := newLimiter(cmp.Or(cfg.RequestsPerMinute, 1200), cmp.Or(cfg.Burst, 200), cfg.Share, cfg.Now)
	problems := &problems{logger: cfg.Logger}
	browsers, err := newBrowsers(deps.SignIns, cfg.Links.PublicURL)
	if err != nil {
		return nil, err
	}
	callers := &callers{
		cfg: cfg, browsers: browsers, keys: deps.Keys, limiter: limiter, failures: newLimiter(failuresPerMinute, failuresAtOnce, cfg.Share, cfg.Now), pages: pages,
	}
	s := &Server{
		cfg: cfg, page: deps.Page, settings: deps.Settings, state: deps.Runs, callers: callers, problems: problems,
		sessions: &sessionRoutes{conversation: deps.Conversation, sessions: deps.Sessions, ledgers: deps.Audit},
		runs:     &runRoutes{conversation: deps.Conversation, runs: deps.Runs, ledgers: deps.Audit},
		audits:   &auditRoutes{ledgers: deps.Audit},
		gates:    &gateRoutes{conversation: deps.Conversation, gates: deps.Gates, runs: deps.Runs, registry: deps.Registry},
		links: &linkRoutes{
			cfg: cfg, conversation: deps.Conversation, gates: deps.Gates, keys: deps.Keys, limiter: limiter,
			callers: callers, problems: problems, pages: pages,
		},
		domains: &domainRoutes{registry: deps.Registry, gone: gone},
		keys:    &keyRoutes{keys: deps.Keys, webhook: deps.WebhookKey},
		signIns: &signInRoutes{signIns: deps.SignIns, callers: callers, browsers: browsers},
		streams: &streamRoutes{cfg: cfg, sessions: deps.Sessions, runs: deps.Runs, callers: callers, problems: problems},
	}
	s.chats = &chatRoutes{
		cfg: cfg, conversation: deps.Conversation, registry: deps.Registry, signer: chat.NewSigner(deps.MarkerKey),
		limiter: limiter, callers: callers, approvals: s.links, problems: problems,
	}
	return s, s.build()
}

func (s *Server) build() error {
	gin.SetMode(gin.ReleaseMode)
	s.engine = gin.New()
	s.engine.HandleMethodNotAllowed = true
	s.engine.RedirectTrailingSlash = false
	s.engine.UseRawPath, s.engine.UnescapePathValues = true, true
	if err := s.engine.SetTrustedProxies(nil); err != nil {
		return err
	}
	s.engine.Use(s.observe, s.harden)
	for _, r := range s.routes() {
		s.engine.Handle(r.method, r.path, s.adapt(r))
	}
	s.engine.NoRoute(s.noRoute)
	s.engine.NoMethod(s.problems.noMethod)
	return nil
}

// ServeHTTP handles one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.engine.ServeHTTP(w, chatPath(r))
}

// HTTPServer returns a server for the handler. Its timeouts stop slow clients from holding
// connections, and still allow a request to wait for MaxWait.
func HTTPServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		// Longer than a wait: a read deadline that expires while a handler waits ends its request.
		ReadTimeout:    MaxWait + 30*time.Second,
		WriteTimeout:   MaxWait + 30*time.Second,
		IdleTimeout:    2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
	}
}
