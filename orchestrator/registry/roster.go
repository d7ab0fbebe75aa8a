package registry

import (
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

// domainTable holds the registered domains, as rows of the store and in memory, and the catalog of
// their active manifests. Memory has only committed state: a row is saved first. A change of a
// manifest or registration holds the turn from its judgement until the new catalog is published.
type domainTable struct {
	site      contracts.SitePolicy
	store     Store
	published func(*contracts.Catalog) // may be nil
	forget    func(name string)        // called with the name of a dropped domain
	now       func() time.Time
	logger    *slog.Logger

	catalog atomic.Pointer[contracts.Catalog]

	// turn lets one manifest be judged and activated at a time, so that each is judged with what is
	// really active. It is a channel because it is held across store calls.
	turn chan struct{}

	mu      sync.Mutex // guards the fields below
	domains map[string]*domain
	// spawn starts the loop of a domain; nil while the registry is stopped.
	spawn func(*domain)
}

// domain returns a domain by its name.
func (r *domainTable) domain(name string) (*domain, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, ok := r.domains[name]
	return d, ok
}

// live returns all domains in no order.
func (r *domainTable) live() []*domain {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*domain, 0, len(r.domains))
	for _, d := range r.domains {
		out = append(out, d)
	}
	return out
}

// take waits for the turn; the caller must call release.
func (r *domainTable) take(ctx context.Context) (release func(), err error) {
	select {
	case r.turn <- struct{}{}:
		return func() { <-r.turn }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another registration to end: %w", ctx.Err())
	}
}

// actives returns the set from which the catalog is built.
func (r *domainTable) actives() domainSet {
	set := domainSet{}
	for _, d := range r.live() {
		if a, ok := d.active(); ok {
			set[d.name] = a
		}
	}
	return set
}

// offers returns the first manifests of other domains that are not judged yet.
func (r *domainTable) offers(but string) domainSet {
	set := domainSet{}
	for _, d := range r.live() {
		if a, ok := d.offer(); ok && d.name != but {
			set[d.name] = a
		}
	}
	return set
}

// publish builds and publishes the catalog of the active manifests; the caller must hold the turn.
func (r *domainTable) publish() error {
	c, err := r.actives().catalog(r.site)
	if err != nil {
		return fmt.Errorf("build catalog: %w", err)
	}
	r.catalog.Store(c)
	if r.published != nil {
		r.published(c)
	}
	return nil
}

// load reads the domains from the store. If this release cannot parse a stored manifest, the domain
// has none until its service returns a valid one.
func (r *domainTable) load(ctx context.Context) error {
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
	// Health and findings are kept over a stop and a start.
	for name, d := range r.domains {
		if again, ok := loaded[name]; ok && again.sameRow(d) {
			loaded[name] = d
		}
	}
	r.domains = loaded
	r.mu.Unlock()
	return nil
}

// restore returns the domain of a row.
func (r *domainTable) restore(ctx context.Context, row DomainRow) (*domain, error) {
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
		r.logger.WarnContext(ctx, "stored manifest cannot be used any more", slog.String("domain", row.Name), firstFinding(c.findings, contracts.SeverityError))
		d.outcome, d.findings = contracts.DomainRefused, c.findings
		return d, nil
	}
	d.manifest, d.body = c.manifest, body
	if row.PendingDigest == "" {
		d.outcome = contracts.DomainActive
	}
	return d, nil
}

// save commits a row, with the manifests that it refers to for the first time.
func (r *domainTable) save(ctx context.Context, row DomainRow, bodies ...ManifestBody) (DomainRow, error) {
	row.UpdatedAt = r.now().UTC()
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

// adopt adds a domain and starts its loop.
func (r *domainTable) adopt(d *domain) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.domains[d.name] = d
	if r.spawn != nil {
		r.spawn(d)
	}
}

// drop removes a domain from memory and ends its loop.
func (r *domainTable) drop(name string) {
	r.mu.Lock()
	d := r.domains[name]
	delete(r.domains, name)
	r.mu.Unlock()
	if d != nil {
		d.stop()
	}
	r.tell(name, nil)
	r.forget(name)
}

// tell stores in all other domains the findings about their sentences that a domain causes.
func (r *domainTable) tell(name string, told map[string][]contracts.Finding) {
	for _, other := range r.live() {
		if other.name != name {
			other.noteBeside(name, told[other.name])
		}
	}
}

// count returns the number of domains.
func (r *domainTable) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.domains)
}

// names returns the names of all domains.
func (r *domainTable) names() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]bool{}
	for name := range maps.Keys(r.domains) {
		out[name] = true
	}
	return out
}

// reread handles an error of save. After a conflict it takes over what another process has saved,
// publishes the catalog, and returns the conflict.
func (r *domainTable) reread(ctx context.Context, d *domain, cause error) error {
	if contracts.CodeOf(cause) != contracts.CodeConflict {
		return cause
	}
	row, err := r.store.Domain(ctx, d.name)
	if err != nil {
		return fmt.Errorf("read domain %s again: %w", d.name, err)
	}
	fresh, err := r.restore(ctx, row)
	if err != nil {
		return err
	}
	d.takeOver(fresh)
	if err := r.publish(); err != nil {
		return err
	}
	return cause
}

// follow takes over what other processes have saved; the caller must hold the turn.
func (r *domainTable) follow(ctx context.Context) error {
	rows, err := r.store.Domains(ctx)
	if err != nil {
		return fmt.Errorf("read domains: %w", err)
	}
	gone, changed := r.names(), false
	for _, row := range rows {
		delete(gone, row.Name)
		d, known := r.domain(row.Name)
		if known {
			if is, _ := d.state(); is.Revision == row.Revision && is.CreatedAt.Equal(row.CreatedAt) {
				continue
			}
		}
		fresh, err := r.restore(ctx, row)
		if err != nil {
			return err
		}
		changed = true
		if !known {
			r.adopt(fresh)
			continue
		}
		d.takeOver(fresh)
		d.wake()
	}
	for name := range gone {
		r.drop(name)
	}
	if !changed && len(gone) == 0 {
		return nil
	}
	return r.publish()
}

// remove deletes a domain from the store and from memory.
func (r *domainTable) remove(ctx context.Context, name string, revision int64) error {
	if err := r.store.DeleteDomain(ctx, name, revision); err != nil {
		return err
	}
	r.drop(name)
	return nil
}

// pending reads the manifest that waits for a confirmation.
func (r *domainTable) pending(ctx context.Context, row DomainRow) ([]byte, error) {
	body, err := r.store.Manifest(ctx, row.PendingDigest)
	if err != nil {
		return nil, fmt.Errorf("pending manifest of domain %s: %w", row.Name, err)
	}
	return body, nil
}

// watched reports whether domains have loops.
func (r *domainTable) watched() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spawn != nil
}

// watchBy starts a loop for every domain, and for each that is added later; nil starts none for
// later ones.
func (r *domainTable) watchBy(spawn func(*domain)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spawn = spawn
	if spawn == nil {
		return
	}
	for _, d := range r.domains {
		spawn(d)
	}
}
