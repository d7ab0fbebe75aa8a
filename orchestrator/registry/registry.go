package registry

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Config configures a registry; zero values mean the defaults in brackets.
type Config struct {
	// Site is the operator's policy for all domains.
	Site contracts.SitePolicy
	// CheckURL returns an error for a URL that must not be called, for example an SSRF guard; nil
	// allows all.
	CheckURL func(url string) error
	// AllowEmbedded permits registrations with an MCP server or an OpenAPI document.
	AllowEmbedded bool
	// Poll is the interval between fetches of a manifest [30s]; a registration's poll_s overrides
	// it.
	Poll time.Duration
	// HealthEvery is the interval between health checks [10s].
	HealthEvery time.Duration
	// RetryFirst is the first pause after a failed fetch while no manifest is active [1s]; it
	// doubles up to Poll.
	RetryFirst time.Duration
	// MaxDomains is the maximum number of domains [500].
	MaxDomains int
	// Published is called with every new catalog, and must return at once; it may be nil.
	Published func(*contracts.Catalog)
	// Now is the clock [time.Now].
	Now    func() time.Time
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Poll = cmp.Or(c.Poll, 30*time.Second)
	c.HealthEvery = cmp.Or(c.HealthEvery, 10*time.Second)
	c.RetryFirst = cmp.Or(c.RetryFirst, time.Second)
	c.MaxDomains = cmp.Or(c.MaxDomains, 500)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.CheckURL == nil {
		c.CheckURL = func(string) error { return nil }
	}
	return c
}

// Registry maintains the domains of one process: it watches them between Start and Stop, and
// applies the calls of admins and the bootstrap file. It is safe for concurrent use.
type Registry struct {
	cfg     Config
	domains *domainTable
	fetcher packFetcher
	intake  *activator

	mu   sync.Mutex // guards halt
	halt func()     // ends the loops and waits for them
}

// New returns a registry with an empty catalog; Start fills it.
func New(cfg Config, store Store, fetcher Fetcher, tester Tester) (*Registry, error) {
	if faults := siteFaults("/site_policy", cfg.Site); len(faults) > 0 {
		return nil, contracts.Invalid("the site policy is refused", faults...)
	}
	l, err := newLinter()
	if err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	forget := func(string) {}
	if f, ok := fetcher.(interface{ Forget(domain string) }); ok {
		forget = f.Forget
	}
	known := &domainTable{
		site: cfg.Site, store: store, published: cfg.Published, forget: forget, now: cfg.Now, logger: cfg.Logger,
		turn: make(chan struct{}, 1), domains: map[string]*domain{},
	}
	empty, err := domainSet{}.catalog(cfg.Site)
	if err != nil {
		return nil, err
	}
	known.catalog.Store(empty)
	return &Registry{
		cfg: cfg, domains: known, fetcher: packFetcher{fetcher},
		intake: &activator{
			roster: known, fetcher: packFetcher{fetcher}, maxDomains: cfg.MaxDomains, logger: cfg.Logger,
			admit: &admission{site: cfg.Site, tester: tester, linter: l},
		},
	}, nil
}

// Catalog returns the current catalog. It is immutable; a change publishes a new one.
func (r *Registry) Catalog() *contracts.Catalog { return r.domains.catalog.Load() }

// Endpoint returns the address of a registered domain.
func (r *Registry) Endpoint(name string) (Endpoint, bool) {
	d, ok := r.domains.domain(name)
	if !ok {
		return Endpoint{}, false
	}
	return d.endpoint(), true
}

// Unauthorized records that a domain has refused our credential: its health is degraded for
// refusedCredentialFor.
func (r *Registry) Unauthorized(name string) {
	if d, ok := r.domains.domain(name); ok {
		d.noteRefusedCredential(r.cfg.Now().Add(refusedCredentialFor))
	}
}

func encodeRegistration(reg contracts.Registration) (json.RawMessage, error) {
	raw, err := contracts.Canonical(reg)
	if err != nil {
		return nil, fmt.Errorf("encode registration of domain %s: %w", reg.Domain, err)
	}
	return bytes.Clone(raw), nil
}
