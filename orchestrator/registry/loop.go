package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Start reads the store, applies the bootstrap file, publishes the catalog of
// what was active before, and begins to watch the services. It waits for none
// of them: a domain that cannot be reached is starting, and is tried again. A
// registry that runs already goes on.
func (r *Registry) Start(ctx context.Context, b contracts.Bootstrap) error {
	release, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	if r.running() {
		return nil
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	if err := r.bootstrap(ctx, b); err != nil {
		return err
	}
	if err := r.publish(); err != nil {
		return err
	}
	r.run(context.WithoutCancel(ctx))
	return nil
}

func (r *Registry) running() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spawn != nil
}

// run starts the loops. They belong to Start and Stop, not to the caller of
// Start.
func (r *Registry) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var loops sync.WaitGroup
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spawn = func(d *domain) {
		ctx, end := context.WithCancel(ctx)
		d.endBy(end)
		loops.Go(func() {
			defer end()
			r.loop(ctx, d)
		})
	}
	r.halt = func() {
		cancel()
		loops.Wait()
	}
	for _, d := range r.domains {
		r.spawn(d)
	}
}

// Stop ends watching and waits for what is under way, at most as long as ctx.
// The catalog stays. A second Stop is no error.
func (r *Registry) Stop(ctx context.Context) error {
	r.mu.Lock()
	halt := r.halt
	r.spawn, r.halt = nil, nil
	r.mu.Unlock()
	if halt == nil {
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		halt()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop registry: %w", ctx.Err())
	}
}

// bootstrap applies the file: what it names is registered as it says, what it
// named before and names no more is removed, what an admin manages stays. The
// caller has the turn.
func (r *Registry) bootstrap(ctx context.Context, b contracts.Bootstrap) error {
	named := map[string]bool{}
	for _, reg := range b.Domains {
		named[reg.Domain] = true
		if err := r.cfg.checkURL(reg); err != nil {
			return fmt.Errorf("bootstrap domain %s: %w", reg.Domain, err)
		}
		if err := r.bootstrapDomain(ctx, reg); err != nil {
			return err
		}
	}
	for name := range r.names() {
		d, _ := r.domain(name)
		row, _ := d.state()
		if row.ManagedBy != ManagedByFile || named[name] {
			continue
		}
		if err := r.store.DeleteDomain(ctx, name, row.Revision); err != nil {
			return fmt.Errorf("remove domain %s, which the bootstrap file does not name any more: %w", name, err)
		}
		r.drop(name)
		r.cfg.Logger.InfoContext(ctx, "domain removed, the bootstrap file does not name it any more", slog.String("domain", name))
	}
	return nil
}

func (r *Registry) bootstrapDomain(ctx context.Context, reg contracts.Registration) error {
	raw, err := encodeRegistration(reg)
	if err != nil {
		return err
	}
	d, known := r.domain(reg.Domain)
	row := DomainRow{Name: reg.Domain, ManagedBy: ManagedByFile}
	if known {
		row, _ = d.state()
		if row.ManagedBy == ManagedByAdmin {
			r.cfg.Logger.WarnContext(ctx, "domain of the bootstrap file is managed by an admin and was kept", slog.String("domain", reg.Domain))
			return nil
		}
		if sameJSON(row.Registration, raw) {
			return nil
		}
	}
	row.Registration = raw
	row, err = r.save(ctx, row)
	if err != nil {
		return err
	}
	if known {
		d.noteRow(row, reg)
		return nil
	}
	r.adopt(newDomain(row, reg))
	return nil
}

func sameJSON(a, b json.RawMessage) bool {
	x, errX := contracts.CanonicalBytes(a)
	y, errY := contracts.CanonicalBytes(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// loop watches one domain until the registry stops or the domain is dropped.
func (r *Registry) loop(ctx context.Context, d *domain) {
	pause := r.cfg.RetryFirst
	fetch := time.NewTimer(r.nextFetch(ctx, d, &pause))
	defer fetch.Stop()
	r.check(ctx, d)
	health := time.NewTimer(jitter(r.cfg.HealthEvery))
	defer health.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.kick:
			r.check(ctx, d)
		case <-health.C:
			r.check(ctx, d)
			health.Reset(jitter(r.cfg.HealthEvery))
		case <-fetch.C:
			fetch.Reset(r.nextFetch(ctx, d, &pause))
		}
	}
}

// nextFetch looks at the manifest and says when to look again: soon, while
// there is none in use.
func (r *Registry) nextFetch(ctx context.Context, d *domain, pause *time.Duration) time.Duration {
	_, err := r.look(ctx, d, false)
	if err != nil && ctx.Err() == nil {
		r.cfg.Logger.DebugContext(ctx, "manifest could not be had", slog.String("domain", d.name), slog.Any("error", err))
	}
	poll := r.cfg.Poll
	if _, reg := d.state(); reg.PollS > 0 {
		poll = time.Duration(reg.PollS) * time.Second
	}
	if _, inUse := d.active(); inUse {
		*pause = r.cfg.RetryFirst
		return jitter(poll)
	}
	wait := min(*pause, poll)
	*pause = min(2**pause, poll)
	return jitter(wait)
}

// check asks for the domain's health.
func (r *Registry) check(ctx context.Context, d *domain) {
	h, err := r.fetcher.Health(ctx, d.endpoint())
	if ctx.Err() != nil {
		return
	}
	if before, after := d.noteHealth(h, err); before != after {
		r.cfg.Logger.InfoContext(ctx, "domain health changed", slog.String("domain", d.name),
			slog.String("before", string(before)), slog.String("after", string(after)))
	}
}

// jitter spreads a time over 80 to 120 percent, so that many domains and many
// replicas do not ask together.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return d
	}
	return d - d/5 + rand.N(2*d/5+1) //nolint:gosec // spreading load needs no secrecy
}

// Settled waits until every domain was asked for its manifest at least once,
// whatever came of it: for programs that want to begin with a full catalog.
func (r *Registry) Settled(ctx context.Context) error {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		waiting := ""
		for _, d := range r.live() {
			if d.attempts() == 0 {
				waiting = d.name
			}
		}
		if waiting == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the first answer of domain %s: %w", waiting, ctx.Err())
		case <-ticker.C:
		}
	}
}
