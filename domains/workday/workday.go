// Package workday is the domain of a Workday tenant: people, their time off, jobs and business
// titles, through Workday's REST services.
//
// The manifest is built from the Go types and manifest.json, which holds policies, vocabulary and
// texts. The package does not read the environment: everything that differs between tenants is in
// Config. The only state that it must keep is the idempotency keys. The outcome of a write is read
// from the tenant, where most writes leave a marker in a comment.
package workday

import (
	"cmp"
	"context"
	_ "embed" // manifest.json
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/login"
	"github.com/manifold-run/manifold/domains/workday/internal/agent"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// Version is the version of the domain.
const Version = "1.0.0"

//go:embed manifest.json
var hints []byte

// Config configures the tenant and the service in front of it.
type Config struct {
	Tenant Tenant
	// AbsenceTypes maps the kinds of time off of the capabilities to the tenant's name or Workday
	// id [vacation: Vacation, sick: Sick, family_care: Family Care, unpaid: Unpaid Time Off].
	AbsenceTypes map[string]string
	// Access defines who may access whose data.
	Access Access
	// Reports are the tenant's custom reports that may be run, by their name for users [none].
	Reports map[string]Report
	// Logins are the logins of individual people at the tenant, for tasks that only they may see
	// and decide [none: such calls are refused].
	Logins *Logins
	// MCP reads people from Workday's MCP server [from REST].
	MCP *MCP
	// Authorization are the bearer tokens that callers must send; none means no authentication.
	Authorization []string
	// Store stores the idempotency keys [in memory, lost at a restart].
	Store domainkit.Store
	// Zone is the time zone of dates [UTC].
	Zone *time.Location
	// Today returns the day on which requests are made [Now].
	Today func() time.Time
	// Follow is the interval at which a followed request is polled [15m].
	Follow time.Duration
	Now    func() time.Time
	Logger *slog.Logger
}

// Tenant configures the connection to a tenant. URL, Name, ClientID and either ClientSecret and
// Tokens or JWT are required.
type Tenant struct {
	// URL is the REST host, for example https://wd2-impl-services1.workday.com.
	URL  string
	Name string
	// TokenURL is the OAuth 2 token endpoint [URL/ccx/oauth2/{tenant}/token].
	TokenURL     string
	ClientID     string
	ClientSecret string
	// Tokens stores the rotating refresh token.
	Tokens TokenStore
	// JWT authenticates with a signed assertion; ClientSecret and Tokens are then not needed.
	JWT   *JWT
	Paths Paths
	// AbsenceJSON posts absences as JSON, as services before v5 expect, instead of as a form with
	// the part jsonData.
	AbsenceJSON bool
	// AllowedHosts are the host suffixes to which secrets may be sent [workday.com, myworkday.com].
	AllowedHosts []string
	// AllowLoopback allows a tenant on this machine, also over plain HTTP.
	AllowLoopback bool
	// RequestsPerSecond, Burst and MaxConcurrency limit the calls [5, 10, 4].
	RequestsPerSecond float64
	Burst             int
	MaxConcurrency    int
	// BackoffMin and BackoffMax bound the wait between attempts of a read [200ms, 5s].
	BackoffMin, BackoffMax time.Duration
	// Transport sends the requests [a clone of http.DefaultTransport].
	Transport http.RoundTripper
}

// TokenStore stores the refresh token, which the tenant replaces at each use.
type TokenStore = login.Store

// JWT configures authentication with a signed assertion.
type JWT = rest.JWT

// Paths are the base paths of the tenant's services; {tenant} is replaced.
type Paths = rest.Paths

// FileTokens returns a store that keeps the refresh token in a file, which is replaced atomically.
// The initial token is used until the file holds a later one.
func FileTokens(path, initial string) TokenStore { return &login.File{Path: path, Initial: initial} }

// MemoryTokens returns a store that keeps the refresh token in memory, for sandboxes.
func MemoryTokens(initial string) TokenStore {
	return login.NewMemory(login.Grant{RefreshToken: initial})
}

// MCP configures Workday's MCP server, from which people are read instead of from REST, and whose
// tools the agents of flows can use.
type MCP = agent.MCP

// directory reads people, over REST or MCP.
type directory interface {
	SearchWorkers(ctx context.Context, words string, most int) (rest.Page[rest.Worker], error)
	Worker(ctx context.Context, id string) (rest.Worker, error)
}

// domain is the shared state of the handlers.
type domain struct {
	client  *rest.Client
	people  directory
	agent   *agent.Server // nil if none is configured
	logins  *Logins       // nil if none are configured
	records records
	kinds   absenceNames
	access  Access
	zone    *time.Location
	today   func() time.Time
	now     func() time.Time
	follow  time.Duration
	warned  warnings
}

// New returns the service; it does not call the tenant yet.
func New(cfg Config) (*domainkit.Service, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	client, err := rest.New(cfg.restConfig())
	if err != nil {
		return nil, err
	}
	kinds, err := newAbsenceNames(cfg.AbsenceTypes)
	if err != nil {
		return nil, err
	}
	access := cfg.Access.withDefaults()
	var absent []string
	if len(cfg.Reports) == 0 {
		absent = append(absent, getReport)
	}
	declared, err := access.declare(hints, absent...)
	if err != nil {
		return nil, err
	}
	checks := map[string]domainkit.Check{"tenant": {Run: client.Ping, Optional: true, Timeout: 5 * time.Second}}
	people, server := directory(client), (*agent.Server)(nil)
	if cfg.MCP != nil {
		if server, err = agent.New(*cfg.MCP, Version, client); err != nil {
			return nil, err
		}
		people, checks["mcp"] = server, domainkit.Check{Run: server.Check, Optional: true, Timeout: 5 * time.Second}
	}
	svc, err := domainkit.New(domainkit.Config{
		Domain: "workday", Version: Version, Hints: declared, Tokens: cfg.Authorization,
		Store: cfg.Store, Logger: cfg.Logger, Now: cfg.Now,
		Checks: checks,
	})
	if err != nil {
		return nil, err
	}
	if cfg.Today == nil {
		cfg.Today = cfg.Now
	}
	d := &domain{client: client, people: people, agent: server, logins: cfg.Logins, records: records{client, cfg.Reports}, kinds: kinds, access: access, zone: cmp.Or(cfg.Zone, time.UTC), today: cfg.Today, now: cfg.Now, follow: cmp.Or(cfg.Follow, usualFollow)}
	if err := d.register(svc); err != nil {
		return nil, fmt.Errorf("workday domain: %w", err)
	}
	return svc, nil
}

func (c Config) restConfig() rest.Config {
	t := c.Tenant
	return rest.Config{
		BaseURL: t.URL, Tenant: t.Name, TokenURL: t.TokenURL, ClientID: t.ClientID, ClientSecret: t.ClientSecret,
		Tokens: t.Tokens, JWT: t.JWT, Paths: t.Paths, AbsenceJSON: t.AbsenceJSON, AllowedHosts: t.AllowedHosts, AllowLoopback: t.AllowLoopback,
		RequestsPerSecond: t.RequestsPerSecond, Burst: t.Burst, MaxConcurrency: cmp.Or(t.MaxConcurrency, 4),
		BackoffMin: t.BackoffMin, BackoffMax: t.BackoffMax, Transport: t.Transport, Now: c.Now, Logger: c.Logger,
	}
}
