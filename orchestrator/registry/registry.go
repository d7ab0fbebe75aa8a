package registry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Config bounds a registry; zero values take the defaults in brackets.
type Config struct {
	// Site is the operator's policy for all domains.
	Site contracts.SitePolicy
	// CheckURL judges the address of a registration, such as an SSRF guard
	// does; nil allows all.
	CheckURL func(url string) error
	// Poll is how often manifests are asked for [30s]; a registration's poll_s
	// goes before it.
	Poll time.Duration
	// HealthEvery is how often health is asked for [10s].
	HealthEvery time.Duration
	// RetryFirst is the first pause after a manifest could not be had while
	// there is none [1s]; it doubles up to Poll.
	RetryFirst time.Duration
	// MaxDomains bounds the number of domains [500].
	MaxDomains int
	// Published is told of every new catalog, and must return at once; nil is
	// fine.
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

// Registry holds the domains of one process. All methods are safe for
// concurrent use.
type Registry struct {
	cfg     Config
	store   Store
	fetcher packs
	admit   *admission

	catalog atomic.Pointer[contracts.Catalog]

	// turn lets one manifest be judged and activated at a time, so that each is
	// judged beside what really is active. It is a channel because it is held
	// across store calls.
	turn chan struct{}

	mu      sync.Mutex // guards the fields below
	domains map[string]*domain
	// spawn starts the loop of a domain; nil while the registry is stopped.
	spawn func(*domain)
	halt  func()
}

// New makes a registry with an empty catalog; Start fills it.
func New(cfg Config, store Store, fetcher Fetcher, tester Tester) (*Registry, error) {
	if faults := siteFaults("/site_policy", cfg.Site); len(faults) > 0 {
		return nil, contracts.Invalid("the site policy is refused", faults...)
	}
	l, err := newLinter()
	if err != nil {
		return nil, err
	}
	r := &Registry{
		cfg: cfg.withDefaults(), store: store, fetcher: packs{fetcher},
		admit:   &admission{site: cfg.Site, tester: tester, linter: l},
		turn:    make(chan struct{}, 1),
		domains: map[string]*domain{},
	}
	empty, err := domainSet{}.catalog(cfg.Site)
	if err != nil {
		return nil, err
	}
	r.catalog.Store(empty)
	return r, nil
}

// Catalog gives the present catalog. It never changes; a change makes a new
// one.
func (r *Registry) Catalog() *contracts.Catalog { return r.catalog.Load() }

// Endpoint gives the address of a registered domain.
func (r *Registry) Endpoint(name string) (Endpoint, bool) {
	d, ok := r.domain(name)
	if !ok {
		return Endpoint{}, false
	}
	return d.endpoint(), true
}

// Unauthorized is told that a domain refused our credential: it counts as
// degraded for a while.
func (r *Registry) Unauthorized(name string) {
	if d, ok := r.domain(name); ok {
		d.noteRefusedCredential(r.cfg.Now().Add(refusedCredentialFor))
	}
}

func (r *Registry) domain(name string) (*domain, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, ok := r.domains[name]
	return d, ok
}

// live gives all domains in no order.
func (r *Registry) live() []*domain {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*domain, 0, len(r.domains))
	for _, d := range r.domains {
		out = append(out, d)
	}
	return out
}

// take waits for the turn; the caller gives it back.
func (r *Registry) take(ctx context.Context) (release func(), err error) {
	select {
	case r.turn <- struct{}{}:
		return func() { <-r.turn }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another registration to end: %w", ctx.Err())
	}
}

// actives is the set that the catalog is made of.
func (r *Registry) actives() domainSet {
	set := domainSet{}
	for _, d := range r.live() {
		if a, ok := d.active(); ok {
			set[d.name] = a
		}
	}
	return set
}

// publish makes the catalog of what is active now; the caller has the turn.
func (r *Registry) publish() error {
	c, err := r.actives().catalog(r.cfg.Site)
	if err != nil {
		return fmt.Errorf("build catalog: %w", err)
	}
	r.catalog.Store(c)
	if r.cfg.Published != nil {
		r.cfg.Published(c)
	}
	return nil
}

// load reads what the store knows. A manifest that this release cannot read
// any more leaves its domain without one, until the service gives a good one.
func (r *Registry) load(ctx context.Context) error {
	rows, err := r.store.Domains(ctx)
	if err != nil {
		return fmt.Errorf("read domains: %w", err)
	}
	loaded := map[string]*domain{}
	for _, row := range rows {
		d, err := r.restore(ctx, row)
		if err != nil {
			return err
		}
		loaded[row.Name] = d
	}
	r.mu.Lock()
	// What is known about health and findings survives a stop and a start.
	for name, d := range r.domains {
		if again, ok := loaded[name]; ok && again.sameRow(d) {
			loaded[name] = d
		}
	}
	r.domains = loaded
	r.mu.Unlock()
	return nil
}

func (r *Registry) restore(ctx context.Context, row DomainRow) (*domain, error) {
	var reg contracts.Registration
	if err := json.Unmarshal(row.Registration, &reg); err != nil {
		return nil, fmt.Errorf("registration of domain %s: %w", row.Name, err)
	}
	d := newDomain(row, reg)
	if row.PendingDigest != "" {
		d.outcome = contracts.DomainPending
	}
	if row.ActiveDigest == "" {
		return d, nil
	}
	body, err := r.store.Manifest(ctx, row.ActiveDigest)
	if err != nil {
		return nil, fmt.Errorf("active manifest of domain %s: %w", row.Name, err)
	}
	c := read(body, row.Name)
	if c.manifest == nil {
		r.cfg.Logger.WarnContext(ctx, "stored manifest cannot be used any more", slog.String("domain", row.Name), firstFinding(c.findings, contracts.SeverityError))
		d.outcome, d.findings = contracts.DomainRefused, c.findings
		return d, nil
	}
	d.manifest, d.body = c.manifest, body
	if row.PendingDigest == "" {
		d.outcome = contracts.DomainActive
	}
	return d, nil
}

// save writes a row and takes it over into the live domain.
func (r *Registry) save(ctx context.Context, row DomainRow, bodies ...ManifestBody) (DomainRow, error) {
	row.UpdatedAt = r.cfg.Now().UTC()
	if row.CreatedAt.IsZero() {
		row.CreatedAt = row.UpdatedAt
	}
	revision, err := r.store.SaveDomain(ctx, row, bodies...)
	if err != nil {
		return DomainRow{}, fmt.Errorf("save domain %s: %w", row.Name, err)
	}
	row.Revision = revision
	return row, nil
}

// adopt puts a domain under the registry's care and starts its loop.
func (r *Registry) adopt(d *domain) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.domains[d.name] = d
	if r.spawn != nil {
		r.spawn(d)
	}
}

// drop forgets a domain and ends its loop.
func (r *Registry) drop(name string) {
	r.mu.Lock()
	d := r.domains[name]
	delete(r.domains, name)
	r.mu.Unlock()
	if d != nil {
		d.stop()
	}
	if f, ok := r.fetcher.Fetcher.(interface{ Forget(domain string) }); ok {
		f.Forget(name)
	}
}

func (r *Registry) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.domains)
}

// names gives the names of all domains.
func (r *Registry) names() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]bool{}
	for name := range maps.Keys(r.domains) {
		out[name] = true
	}
	return out
}

func encodeRegistration(reg contracts.Registration) (json.RawMessage, error) {
	raw, err := contracts.Canonical(reg)
	if err != nil {
		return nil, fmt.Errorf("encode registration of domain %s: %w", reg.Domain, err)
	}
	return bytes.Clone(raw), nil
}
