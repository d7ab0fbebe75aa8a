package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

// refresh returns the active manifest. It lists the operations first if none is active, the service
// has reported a change, or look is set and the last listing is older than fresh. On an error it
// returns the previous manifest, if there is one.
func (d *Domain) refresh(ctx context.Context, look bool) (*serving, error) {
	if s := d.asItIs(look); s != nil {
		return s, nil
	}
	select {
	case d.busy <- struct{}{}:
		defer func() { <-d.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s := d.asItIs(look); s != nil {
		return s, nil
	}
	s, err := d.list(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trouble = ""
	if err != nil {
		d.trouble = err.Error()
		d.cfg.Logger.WarnContext(ctx, "the operations could not be listed", slog.Any("error", err))
		if d.current != nil {
			return d.current, nil
		}
	}
	return s, err
}

// asItIs returns the active manifest, nil if the operations must be listed first.
func (d *Domain) asItIs(look bool) *serving {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.current == nil || d.stale || look && d.cfg.Now().Sub(d.at) > fresh {
		return nil
	}
	return d.current
}

// list lists the operations, and activates a new manifest if they have changed.
func (d *Domain) list(ctx context.Context) (*serving, error) {
	d.mu.Lock()
	changes := d.changes
	d.mu.Unlock()
	defs, err := d.definitions(ctx)
	if err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for _, def := range defs {
		digests[def.Name] = def.Digest()
	}
	d.mu.Lock()
	same := d.current != nil && maps.Equal(digests, d.listed)
	current := d.current
	d.at, d.offered = d.cfg.Now(), digests
	d.stale = d.changes != changes
	d.mu.Unlock()
	if same {
		return current, nil
	}
	next, err := d.build(defs, digests)
	if err != nil {
		return nil, err
	}
	if err := d.recordBaseline(defs); err != nil {
		return nil, errors.Join(err, next.service.Shutdown(ctx))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.changes == changes {
		d.listed = digests
	}
	if d.current != nil {
		d.old = append([]*serving{d.current}, d.old...)
		d.old = d.old[:min(len(d.old), maxOld)]
	}
	d.current = next
	return next, nil
}

// recordBaseline adds the operations that are listed for the first time.
func (d *Domain) recordBaseline(defs []Definition) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := maps.Clone(d.seen)
	for _, def := range defs {
		if _, known := all[def.Name]; !known {
			all[def.Name] = def
		}
	}
	if len(all) > len(d.seen) && d.cfg.Baseline != nil {
		if err := d.cfg.Baseline.Save(all); err != nil {
			return fmt.Errorf("the baseline of operations: %w", err)
		}
	}
	d.seen = all
	return nil
}

// definitions lists the operations, with limits on time and number.
func (d *Domain) definitions(ctx context.Context) ([]Definition, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	selected := d.currentOverlay().Select
	defs, err := d.source.Definitions(ctx, selected)
	if err != nil {
		return nil, err
	}
	taken := defs[:0:0]
	for _, def := range defs {
		if selected.Takes(def) {
			taken = append(taken, def)
		}
	}
	if len(taken) > d.cfg.MaxOperations {
		return nil, contracts.Errorf(contracts.CodeTooLarge, "it offers %d operations, more than %d; select those that are needed in the overlay", len(taken), d.cfg.MaxOperations)
	}
	return taken, nil
}

// build returns a service with the operations that may be served.
func (d *Domain) build(defs []Definition, digests map[string]string) (*serving, error) {
	overlay := d.currentOverlay()
	if faults := overlay.faults(defs); len(faults) > 0 {
		return nil, contracts.Invalid("the overlay does not fit the service", faults...)
	}
	d.mu.Lock()
	seen := maps.Clone(d.seen)
	d.mu.Unlock()
	out, served := &serving{findings: judge(overlay, defs, seen, d.verbs)}, 0
	svc, err := domainkit.New(domainkit.Config{
		Domain: d.cfg.Domain, Version: d.cfg.Version, Title: overlay.Title, Description: overlay.Description,
		Tests: overlay.Tests, Tokens: d.cfg.Tokens, Store: d.cfg.Store, MaxConcurrent: d.cfg.MaxConcurrent,
		Checks: map[string]domainkit.Check{
			"server":     {Run: d.reachable, Optional: true},
			"operations": {Run: func(context.Context) error { return unserved(out.findings) }, Optional: true},
		},
		Logger: d.cfg.Logger, Now: d.cfg.Now,
	})
	if err != nil {
		return nil, err
	}
	for i := range out.findings {
		f := &out.findings[i]
		if !f.Served() {
			d.cfg.Logger.Warn("an operation is not served", slog.String("operation", contracts.CleanSummary(f.Operation)), slog.String("why", f.Why))
			continue
		}
		served++
		if err := d.add(svc, f, digests[f.Operation]); err != nil {
			return nil, err
		}
	}
	if served == 0 {
		return nil, contracts.Errorf(contracts.CodeInvalid, "none of its %d operations can be served: %w", len(defs), unserved(out.findings))
	}
	out.service = svc
	if out.handler, err = svc.Handler(); contracts.CodeOf(err) == contracts.CodeTooLarge {
		err = contracts.Errorf(contracts.CodeTooLarge, "its %d operations are too much for one domain; select those that are needed in the overlay: %w", served, err)
	}
	return out, err
}

// reachable is a health check: it returns the error of the last listing.
func (d *Domain) reachable(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.trouble == "" {
		return nil
	}
	return errors.New(d.trouble)
}

// unserved returns an error that lists the operations in quarantine or with a fault.
func unserved(findings []Finding) error {
	var names []string
	for _, f := range findings {
		if !f.Served() && f.Why != "left out by the overlay" {
			names = append(names, contracts.CleanSummary(f.Operation)+": "+f.Why)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%d operations are not served: %s", len(names), strings.Join(names[:min(len(names), 5)], "; "))
}
