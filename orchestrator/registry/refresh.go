package registry

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/manifold-run/manifold/contracts"
)

// Refresh asks for a domain's manifest again, because something that runs
// found it changed. Callers that come while one is under way share the next
// one: what is under way may have been answered before the change.
func (r *Registry) Refresh(ctx context.Context, name string) error {
	d, ok := r.domain(name)
	if !ok {
		return unknownDomain(name)
	}
	_, err := r.look(ctx, d, false)
	return err
}

func unknownDomain(name string) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no domain %q", name)
}

// look fetches the manifest and lets it be judged. Forced, it is judged even
// if nothing has changed.
func (r *Registry) look(ctx context.Context, d *domain, forced bool) (contracts.DomainReport, error) {
	before := d.begun()
	select {
	case d.busy <- struct{}{}:
		defer func() { <-d.busy }()
	case <-ctx.Done():
		return contracts.DomainReport{}, fmt.Errorf("wait for the manifest of domain %s: %w", d.name, ctx.Err())
	}
	if !forced && d.begun() > before {
		return r.report(d), nil // somebody began to look after we came
	}
	d.noteBegun()
	defer d.noteLooked()
	at := d.endpoint()
	etag := ""
	if !forced {
		etag = d.etag(r.Catalog().Snapshot)
	}
	fetched, err := r.fetcher.FetchManifest(ctx, at, etag)
	d.noteFetched(err)
	if err != nil {
		return r.report(d), fmt.Errorf("refresh domain %s: %w", d.name, err)
	}
	if fetched.NotModified {
		return r.report(d), nil
	}
	return r.consider(ctx, d, at, fetched, forced)
}

// etag names the manifest that need not be sent again. What was not activated
// is asked for anew once the catalog has changed, because the reason may be
// gone.
func (d *domain) etag(snapshot string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	waits := d.outcome == contracts.DomainRefused || d.outcome == contracts.DomainPending
	switch {
	case waits && d.seen.snapshot != snapshot:
		return ""
	case d.seen.etag != "":
		return d.seen.etag
	case d.manifest != nil && d.row.PendingDigest == "":
		return d.row.ActiveETag
	}
	return ""
}

// consider judges a fetched manifest and acts on it: activates it, keeps it
// for a confirmation, or refuses it.
func (r *Registry) consider(ctx context.Context, d *domain, at Endpoint, f Fetched, forced bool) (contracts.DomainReport, error) {
	release, err := r.take(ctx)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	defer release()
	switch now, ok := r.domain(d.name); {
	case !ok || now != d:
		return contracts.DomainReport{}, unknownDomain(d.name)
	case !d.endpoint().same(at):
		return r.report(d), nil // registered elsewhere meanwhile; this came from the old place
	}
	now := seen{etag: f.ETag, raw: contracts.HashBytes(f.Body), snapshot: r.Catalog().Snapshot}
	if !forced && d.knows(now) {
		return r.report(d), nil
	}
	row, reg := d.state()
	c, err := r.admit.judge(ctx, r.actives(), reg, f.Body)
	if err != nil {
		return contracts.DomainReport{}, fmt.Errorf("judge manifest of domain %s: %w", d.name, err)
	}
	outcome, err := r.settle(ctx, d, row, reg, c, f.ETag)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	now.snapshot = r.Catalog().Snapshot
	d.noteJudged(kept(outcome), c.findings, now)
	r.logOutcome(ctx, d, outcome, c)
	return contracts.DomainReport{Domain: d.name, Outcome: outcome, Digest: c.digest, Findings: c.findings}, nil
}

// kept is the outcome as it is remembered: what was unchanged is active.
func kept(o contracts.DomainOutcome) contracts.DomainOutcome {
	if o == contracts.DomainUnchanged {
		return contracts.DomainActive
	}
	return o
}

// knows tells whether exactly this was judged before, beside the same catalog.
func (d *domain) knows(now seen) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen.raw == now.raw && d.seen.snapshot == now.snapshot
}

// settle acts on a judged manifest; the caller has the turn.
func (r *Registry) settle(ctx context.Context, d *domain, row DomainRow, reg contracts.Registration, c candidate, etag string) (contracts.DomainOutcome, error) {
	_, inUse := d.active()
	switch {
	case inUse && c.digest == row.ActiveDigest:
		return contracts.DomainUnchanged, r.unpend(ctx, d, row, reg, etag)
	case c.worst() == contracts.SeverityError:
		return contracts.DomainRefused, r.unpend(ctx, d, row, reg, row.ActiveETag)
	case c.worst() == contracts.SeverityConfirm:
		return contracts.DomainPending, r.pend(ctx, d, row, reg, c, etag)
	default:
		return contracts.DomainActive, r.activate(ctx, d, row, reg, c, etag)
	}
}

// activate is the one place where a manifest comes into use: compare-and-set
// on the row's revision, then a new catalog.
func (r *Registry) activate(ctx context.Context, d *domain, row DomainRow, reg contracts.Registration, c candidate, etag string) error {
	row.ActiveDigest, row.ActiveETag, row.PendingDigest, row.PendingETag = c.digest, etag, "", ""
	row, err := r.save(ctx, row, ManifestBody{Digest: c.digest, Body: c.body})
	if err != nil {
		return r.reread(ctx, d, err)
	}
	d.noteActive(row, reg, c)
	return r.publish()
}

// pend keeps a manifest until an admin confirms it; the active one stays.
func (r *Registry) pend(ctx context.Context, d *domain, row DomainRow, reg contracts.Registration, c candidate, etag string) error {
	if row.PendingDigest == c.digest {
		return nil
	}
	row.PendingDigest, row.PendingETag = c.digest, etag
	row, err := r.save(ctx, row, ManifestBody{Digest: c.digest, Body: c.body})
	if err != nil {
		return r.reread(ctx, d, err)
	}
	d.noteRow(row, reg)
	return nil
}

// unpend drops a pending manifest that the service does not offer any more.
func (r *Registry) unpend(ctx context.Context, d *domain, row DomainRow, reg contracts.Registration, etag string) error {
	if row.PendingDigest == "" && row.ActiveETag == etag {
		return nil
	}
	row.ActiveETag, row.PendingDigest, row.PendingETag = etag, "", ""
	row, err := r.save(ctx, row)
	if err != nil {
		return r.reread(ctx, d, err)
	}
	d.noteRow(row, reg)
	return nil
}

// reread follows a row that another process has changed: what it activated is
// taken over, and our own change is reported as lost.
func (r *Registry) reread(ctx context.Context, d *domain, cause error) error {
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
	d.noteActive(row, fresh.reg, candidate{manifest: fresh.manifest, body: fresh.body})
	if err := r.publish(); err != nil {
		return err
	}
	return cause
}

// report says how things stand with what was looked at last.
func (r *Registry) report(d *domain) contracts.DomainReport {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := contracts.DomainReport{
		Domain: d.name, Outcome: d.outcome, Digest: d.row.ActiveDigest, Findings: d.findings, Message: d.trouble,
	}
	switch d.outcome {
	case contracts.DomainActive:
		out.Outcome = contracts.DomainUnchanged
	case contracts.DomainPending:
		out.Digest = d.row.PendingDigest
	case contracts.DomainUnchanged, contracts.DomainRefused, contracts.DomainStarting:
	}
	return out
}

func (r *Registry) logOutcome(ctx context.Context, d *domain, outcome contracts.DomainOutcome, c candidate) {
	log := r.cfg.Logger.With(slog.String("domain", d.name), slog.String("digest", c.digest), slog.Int("findings", len(c.findings)))
	switch outcome {
	case contracts.DomainActive:
		log.InfoContext(ctx, "manifest activated")
	case contracts.DomainPending:
		log.WarnContext(ctx, "manifest waits for an admin's confirmation", firstFinding(c.findings, contracts.SeverityConfirm))
	case contracts.DomainRefused:
		log.WarnContext(ctx, "manifest refused", firstFinding(c.findings, contracts.SeverityError))
	case contracts.DomainUnchanged, contracts.DomainStarting:
	}
}

func firstFinding(findings []contracts.Finding, s contracts.Severity) slog.Attr {
	for _, f := range findings {
		if f.Severity == s {
			return slog.String("finding", f.Pointer+": "+contracts.CleanSummary(f.Message))
		}
	}
	return slog.Attr{}
}
