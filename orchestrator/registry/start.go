package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Start reads the store, applies the bootstrap file, publishes the catalog of the manifests that
// were active before, and starts to watch the services. It does not wait for them: a domain that
// cannot be reached is starting, and is tried again. If the registry is running, it does nothing.
func (r *Registry) Start(ctx context.Context, b contracts.Bootstrap) error {
	release, err := r.domains.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	if r.domains.watched() {
		return nil
	}
	if err := r.begin(ctx, b); err != nil {
		return err
	}
	if err := r.domains.publish(); err != nil {
		return err
	}
	r.watch(context.WithoutCancel(ctx))
	return nil
}

// beginTries is the maximum number of attempts when processes apply the bootstrap file at the same
// time.
const beginTries = 20

// begin reads the store and applies the bootstrap file. The caller must hold the turn.
func (r *Registry) begin(ctx context.Context, b contracts.Bootstrap) error {
	for try := 1; ; try++ {
		if err := r.domains.load(ctx); err != nil {
			return err
		}
		err := r.bootstrap(ctx, b)
		if contracts.CodeOf(err) != contracts.CodeConflict || try == beginTries {
			return err
		}
	}
}

// Follow takes over what other processes have saved: added, changed and removed domains.
func (r *Registry) Follow(ctx context.Context) error {
	release, err := r.domains.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	return r.domains.follow(ctx)
}

// watch starts the loops. They run until Stop and do not end with the context of Start.
func (r *Registry) watch(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{cfg: r.cfg, fetcher: r.fetcher, intake: r.intake}
	var loops sync.WaitGroup
	r.mu.Lock()
	defer r.mu.Unlock()
	r.halt = func() {
		cancel()
		loops.Wait()
	}
	r.domains.watchBy(func(d *domain) {
		ctx, end := context.WithCancel(ctx)
		d.endBy(end)
		loops.Go(func() {
			defer end()
			w.loop(ctx, d)
		})
	})
}

// Stop stops the loops and waits for them, at most until ctx ends. The catalog stays. A second call
// is harmless.
func (r *Registry) Stop(ctx context.Context) error {
	r.domains.watchBy(nil)
	r.mu.Lock()
	halt := r.halt
	r.halt = nil
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

// bootstrap applies the file: its domains are registered as given, domains of an earlier file that
// are not in it are removed, and the domains of an admin stay. The caller must hold the turn.
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
	for name := range r.domains.names() {
		d, _ := r.domains.domain(name)
		row, _ := d.state()
		if row.ManagedBy != ManagedByFile || named[name] {
			continue
		}
		if err := r.domains.remove(ctx, name, row.Revision); err != nil {
			return fmt.Errorf("remove domain %s, which the bootstrap file does not name any more: %w", name, err)
		}
		r.cfg.Logger.InfoContext(ctx, "domain removed, the bootstrap file does not name it any more", slog.String("domain", name))
	}
	return nil
}

func (r *Registry) bootstrapDomain(ctx context.Context, reg contracts.Registration) error {
	raw, err := encodeRegistration(reg)
	if err != nil {
		return err
	}
	d, known := r.domains.domain(reg.Domain)
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
	row, err = r.domains.save(ctx, row)
	if err != nil {
		return err
	}
	if known {
		d.noteRow(row, reg)
		return nil
	}
	r.domains.adopt(newDomain(row, reg))
	return nil
}

func sameJSON(a, b json.RawMessage) bool {
	x, errX := contracts.CanonicalBytes(a)
	y, errY := contracts.CanonicalBytes(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Settled waits until every domain has had one attempt to get its manifest, successful or not, for
// programs that want to start with a full catalog.
func (r *Registry) Settled(ctx context.Context) error {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		waiting := ""
		for _, d := range r.domains.live() {
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
