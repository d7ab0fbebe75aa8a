// Package workday is the domain of a Workday tenant: people, their time off
// and their business titles, spoken to through Workday's REST services.
//
// The manifest is made of the Go types here and of manifest.json, which holds
// policies, words and texts. The package reads no environment: everything that
// differs between tenants is in Config. It holds no state of its own besides
// the idempotency keys; the outcome of a write is read from the tenant, where
// every write leaves a mark in a comment.
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

// Config describes the tenant and the service in front of it.
type Config struct {
	Tenant Tenant
	// AbsenceTypes describes what the tenant calls the kinds of time off that the
	// capabilities know: kind to name or Workday id
	// [vacation: Vacation, sick: Sick, family_care: Family Care, unpaid: Unpaid Time Off].
	AbsenceTypes map[string]string
	// Access says who may ask about whom.
	Access Access
	// Reports are the tenant's custom reports that may be run, by the name that people call
	// them [none].
	Reports map[string]Report
	// Logins are people's own logins at the tenant, for what only they may see and decide
	// [none: that is refused].
	Logins *Logins
	// MCP reads people over Workday's MCP server [over REST].
	MCP *MCP
	// Authorization are the bearer tokens that callers of the service must
	// send; none means no authentication.
	Authorization []string
	// Store keeps idempotency keys [in memory, forgotten at a restart].
	Store domainkit.Store
	// Zone is where days begin and end [UTC].
	Zone *time.Location
	// Today tells the day on which requests are made [Now].
	Today func() time.Time
	// Follow is how often a request that is followed is looked at [15m].
	Follow time.Duration
	Now    func() time.Time
	Logger *slog.Logger
}

// Tenant describes how a tenant is reached. URL, Name, ClientID and either ClientSecret and
// Tokens or JWT are required.
type Tenant struct {
	// URL is the REST host, such as https://wd2-impl-services1.workday.com.
	URL  string
	Name string
	// TokenURL is the OAuth 2 token endpoint [URL/ccx/oauth2/{tenant}/token].
	TokenURL     string
	ClientID     string
	ClientSecret string
	// Tokens keeps the rotating refresh token.
	Tokens TokenStore
	// JWT authenticates by a signed assertion instead; ClientSecret and Tokens are then
	// not needed.
	JWT   *JWT
	Paths Paths
	// AbsenceJSON posts absences as JSON, as the services before v5 take them, instead
	// of a form with the part jsonData.
	AbsenceJSON bool
	// AllowedHosts are suffixes of hosts to which secrets may be sent
	// [workday.com, myworkday.com].
	AllowedHosts []string
	// AllowLoopback permits a tenant on this machine, and plain http to it.
	AllowLoopback bool
	// RequestsPerSecond, Burst and MaxConcurrency bound the calls [5, 10, 4].
	RequestsPerSecond float64
	Burst             int
	MaxConcurrency    int
	// BackoffMin and BackoffMax bound the wait between tries of a read [200ms, 5s].
	BackoffMin, BackoffMax time.Duration
	// Transport carries the requests [a clone of http.DefaultTransport].
	Transport http.RoundTripper
}

// TokenStore keeps the refresh token, which the tenant replaces at each use.
type TokenStore = login.Store

// JWT describes how a client proves itself by a signed assertion.
type JWT = rest.JWT

// Paths are the base paths of the tenant's services; {tenant} is replaced.
type Paths = rest.Paths

// FileTokens keeps the refresh token in a file that is replaced atomically.
// The initial token is used until the file holds a later one.
func FileTokens(path, initial string) TokenStore { return &login.File{Path: path, Initial: initial} }

// MemoryTokens keeps the refresh token in memory, for sandboxes.
func MemoryTokens(initial string) TokenStore {
	return login.NewMemory(login.Grant{RefreshToken: initial})
}

// MCP is Workday's MCP server, over which people are read instead of REST, and whose tools
// the agents of flows can have.
type MCP = agent.MCP

// directory is where people are read.
type directory interface {
	SearchWorkers(ctx context.Context, words string, most int) (rest.Page[rest.Worker], error)
	Worker(ctx context.Context, id string) (rest.Worker, error)
}

// domain is what the handlers share.
type domain struct {
	client  *rest.Client
	people  directory
	agent   *agent.Server // nil where none is configured
	logins  *Logins       // nil where none are configured
	records records
	kinds   absenceNames
	access  Access
	zone    *time.Location
	today   func() time.Time
	now     func() time.Time
	follow  time.Duration
	warned  warnings
}

// New makes the service; it does not call the tenant yet.
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
