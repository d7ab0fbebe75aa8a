package registry

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// activator fetches and judges manifests, and commits the result for each. It has no state.
type activator struct {
	roster     *domainTable
	fetcher    packFetcher
	admit      *admission
	maxDomains int
	logger     *slog.Logger
}

// look fetches the manifest and judges it. If forced is set, it is judged even if nothing has
// changed. A caller that waited for a fetch that began after its call shares the result.
func (i *activator) look(ctx context.Context, d *domain, forced bool) (contracts.DomainReport, error) {
	before := d.begun()
	select {
	case d.busy <- struct{}{}:
		defer func() { <-d.busy }()
	case <-ctx.Done():
		return contracts.DomainReport{}, fmt.Errorf("wait for the manifest of domain %s: %w", d.name, ctx.Err())
	}
	if !forced && d.begun() > before {
		return d.report(), nil // another fetch began after this call
	}
	d.noteBegun()
	defer d.noteLooked()
	at := d.endpoint()
	etag := ""
	if !forced {
		etag = d.etag(i.roster.catalog.Load().Snapshot)
	}
	fetched, err := i.fetcher.FetchManifest(ctx, at, etag)
	first := err == nil && !fetched.NotModified && d.attempts() == 0
	if first {
		d.noteOffered(fetched.Body)
	}
	d.noteFetched(err) // only now: others wait until the offer is stored
	if err != nil {
		return d.report(), fmt.Errorf("refresh domain %s: %w", d.name, err)
	}
	if fetched.NotModified {
		return d.report(), nil
	}
	if first {
		i.gather(ctx)
	}
	return i.consider(ctx, d, at, fetched, forced)
}

// gatherFor is how long the first manifest of a domain waits for those of others.
const gatherFor = 750 * time.Millisecond

// gather waits until the first fetch of each domain has ended, at most for gatherFor: the manifests
// of one start are judged together, and not each with those that happened to come before it.
func (i *activator) gather(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, gatherFor)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for slices.ContainsFunc(i.roster.live(), func(d *domain) bool { return !d.asked() }) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// rehearse runs the tests of a first manifest alone, before it is judged: once all have done so,
// they can be activated in quick succession.
func (i *activator) rehearse(ctx context.Context, d *domain) (rehearsal, error) {
	offer, first := d.offer()
	offers := i.roster.offers(d.name)
	if !first || len(offers) == 0 {
		return rehearsal{}, nil
	}
	release, err := i.roster.take(ctx)
	if err != nil {
		return rehearsal{}, err
	}
	defer release()
	return i.admit.rehearse(ctx, i.roster.actives(), offers, offer, d.name)
}

// consider judges a fetched manifest and then activates it, holds it for a confirmation, or refuses
// it.
func (i *activator) consider(ctx context.Context, d *domain, at Endpoint, f Fetched, forced bool) (contracts.DomainReport, error) {
	tried, err := i.rehearse(ctx, d)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	release, err := i.roster.take(ctx)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	defer release()
	switch now, ok := i.roster.domain(d.name); {
	case !ok || now != d:
		return contracts.DomainReport{}, unknownDomain(d.name)
	case !d.endpoint().same(at):
		return d.report(), nil // registered with another address meanwhile
	}
	now := judgedManifest{etag: f.ETag, raw: contracts.HashBytes(f.Body), snapshot: i.roster.catalog.Load().Snapshot}
	if !forced && d.alreadyJudged(now) {
		return d.report(), nil
	}
	row, reg := d.state()
	c, err := i.judge(ctx, i.roster.actives(), beside{offers: i.roster.offers(d.name), tried: tried}, reg, f.Body)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	outcome, err := i.settle(ctx, d, row, reg, c, f.ETag)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	now.snapshot = i.roster.catalog.Load().Snapshot
	d.noteJudged(kept(outcome), c.findings, now)
	i.logOutcome(ctx, d, outcome, c)
	return contracts.DomainReport{Domain: d.name, Outcome: outcome, Digest: c.digest, Findings: c.findings}, nil
}

// kept returns the outcome to store: unchanged is stored as active.
func kept(o contracts.DomainOutcome) contracts.DomainOutcome {
	if o == contracts.DomainUnchanged {
		return contracts.DomainActive
	}
	return o
}

// judge judges a manifest with the other domains; an error means that it could not be judged.
func (i *activator) judge(ctx context.Context, set domainSet, b beside, reg contracts.Registration, body []byte) (candidate, error) {
	c, err := i.admit.judge(ctx, set, b, reg, body)
	if err != nil {
		return candidate{}, fmt.Errorf("judge manifest of domain %s: %w", reg.Domain, err)
	}
	return c, nil
}

// settle acts on a judged manifest; the caller must hold the turn.
func (i *activator) settle(ctx context.Context, d *domain, row DomainRow, reg contracts.Registration, c candidate, etag string) (contracts.DomainOutcome, error) {
	_, inUse := d.active()
	switch {
	case inUse && c.digest == row.ActiveDigest:
		return contracts.DomainUnchanged, i.dropHeld(ctx, d, row, reg, etag)
	case c.worst() == contracts.SeverityError:
		return contracts.DomainRefused, i.dropHeld(ctx, d, row, reg, row.ActiveETag)
	case c.worst() == contracts.SeverityConfirm:
		return contracts.DomainPending, i.holdForConfirmation(ctx, d, row, reg, c, etag)
	default:
		return contracts.DomainActive, i.activate(ctx, d, row, reg, c, etag)
	}
}

// activate is the only function that activates a manifest of a domain: it saves the row by
// compare-and-set on its revision, and then publishes a new catalog.
func (i *activator) activate(ctx context.Context, d *domain, row DomainRow, reg contracts.Registration, c candidate, etag string) error {
	row.ActiveDigest, row.ActiveETag, row.PendingDigest, row.PendingETag = c.digest, etag, "", ""
	row, err := i.roster.save(ctx, row, ManifestBody{Digest: c.digest, Body: c.body})
	if err != nil {
		return i.roster.reread(ctx, d, err)
	}
	d.noteActive(row, reg, c)
	i.roster.tell(d.name, c.told)
	return i.roster.publish()
}

// holdForConfirmation stores a manifest until an administrator confirms it; the active one stays.
func (i *activator) holdForConfirmation(ctx context.Context, d *domain, row DomainRow, reg contracts.Registration, c candidate, etag string) error {
	if row.PendingDigest == c.digest {
		return nil
	}
	row.PendingDigest, row.PendingETag = c.digest, etag
	row, err := i.roster.save(ctx, row, ManifestBody{Digest: c.digest, Body: c.body})
	if err != nil {
		return i.roster.reread(ctx, d, err)
	}
	d.noteRow(row, reg)
	return nil
}

// dropHeld deletes a held manifest that the service no longer offers.
func (i *activator) dropHeld(ctx context.Context, d *domain, row DomainRow, reg contracts.Registration, etag string) error {
	if row.PendingDigest == "" && row.ActiveETag == etag {
		return nil
	}
	row.ActiveETag, row.PendingDigest, row.PendingETag = etag, "", ""
	row, err := i.roster.save(ctx, row)
	if err != nil {
		return i.roster.reread(ctx, d, err)
	}
	d.noteRow(row, reg)
	return nil
}

func (i *activator) logOutcome(ctx context.Context, d *domain, outcome contracts.DomainOutcome, c candidate) {
	log := i.logger.With(slog.String("domain", d.name), slog.String("digest", c.digest), slog.Int("findings", len(c.findings)))
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

// register judges a manifest with a new registration and saves both together.
func (i *activator) register(ctx context.Context, reg contracts.Registration, f Fetched) (contracts.DomainReport, error) {
	release, err := i.roster.take(ctx)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	defer release()
	d, known := i.roster.domain(reg.Domain)
	if err := i.mayEnter(d, known, reg.Domain); err != nil {
		return contracts.DomainReport{}, err
	}
	c, err := i.judge(ctx, i.roster.actives(), beside{}, reg, f.Body)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	if c.worst() == contracts.SeverityError {
		return refused(reg.Domain, c.findings)
	}
	raw, err := encodeRegistration(reg)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	row := DomainRow{Name: reg.Domain, ManagedBy: ManagedByAdmin}
	if known {
		row, _ = d.state()
	} else {
		d = newDomain(row, reg)
	}
	row.Registration = raw
	outcome, err := i.enterRow(ctx, d, row, reg, c, f.ETag)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	if !known {
		i.roster.adopt(d)
	}
	if err := i.roster.publish(); err != nil {
		return contracts.DomainReport{}, err
	}
	d.noteLooked()
	d.noteJudged(kept(outcome), c.findings, judgedManifest{etag: f.ETag, raw: contracts.HashBytes(f.Body), snapshot: i.roster.catalog.Load().Snapshot})
	i.logOutcome(ctx, d, outcome, c)
	d.wake()
	return contracts.DomainReport{Domain: reg.Domain, Outcome: outcome, Digest: c.digest, Findings: c.findings}, nil
}

// enterRow saves the registration together with the outcome of the manifest.
func (i *activator) enterRow(ctx context.Context, d *domain, row DomainRow, reg contracts.Registration, c candidate, etag string) (contracts.DomainOutcome, error) {
	if _, inUse := d.active(); inUse && c.digest == row.ActiveDigest || c.worst() != contracts.SeverityConfirm {
		return contracts.DomainActive, i.activate(ctx, d, row, reg, c, etag)
	}
	row.PendingDigest, row.PendingETag = c.digest, etag
	row, err := i.roster.save(ctx, row, ManifestBody{Digest: c.digest, Body: c.body})
	if err != nil {
		return "", err
	}
	d.noteRow(row, reg)
	return contracts.DomainPending, nil
}

func (i *activator) mayEnter(d *domain, known bool, name string) error {
	if known {
		if row, _ := d.state(); row.ManagedBy == ManagedByFile {
			return managedByFile(name)
		}
		return nil
	}
	if i.roster.count() >= i.maxDomains {
		return contracts.Errorf(contracts.CodeTooLarge, "there are %d domains already, which is the limit", i.maxDomains)
	}
	return nil
}
