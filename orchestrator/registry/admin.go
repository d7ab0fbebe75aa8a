package registry

import (
	"context"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Register makes a domain known, or changes its registration. The manifest is
// fetched and judged first; an error of it leaves everything as it was, and is
// returned with the report. Who may call this is for the caller to check.
func (r *Registry) Register(ctx context.Context, reg contracts.Registration) (contracts.DomainReport, error) {
	reg.URL = strings.TrimRight(reg.URL, "/")
	if faults := registrationFaults("", reg); len(faults) > 0 {
		return contracts.DomainReport{}, contracts.Invalid("the registration is refused", faults...)
	}
	if err := r.cfg.checkURL(reg); err != nil {
		return contracts.DomainReport{}, fmt.Errorf("register domain %s: %w", reg.Domain, err)
	}
	fetched, err := r.fetcher.FetchManifest(ctx, endpoint(reg.Domain, reg), "")
	if err != nil {
		return contracts.DomainReport{}, fmt.Errorf("register domain %s: %w", reg.Domain, err)
	}
	if reg.Domain == "" {
		m, err := contracts.ParseManifest(fetched.Body)
		if err != nil {
			return refused("", errorFindings(err))
		}
		reg.Domain = m.Domain
	}
	return r.enter(ctx, reg, fetched)
}

// enter judges a manifest with a new registration and saves both together.
func (r *Registry) enter(ctx context.Context, reg contracts.Registration, f Fetched) (contracts.DomainReport, error) {
	release, err := r.take(ctx)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	defer release()
	d, known := r.domain(reg.Domain)
	if err := r.mayEnter(d, known, reg.Domain); err != nil {
		return contracts.DomainReport{}, err
	}
	c, err := r.admit.judge(ctx, r.actives(), reg, f.Body)
	if err != nil {
		return contracts.DomainReport{}, fmt.Errorf("judge manifest of domain %s: %w", reg.Domain, err)
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
	outcome, err := r.enterRow(ctx, d, row, reg, c, f.ETag)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	if !known {
		r.adopt(d)
	}
	if err := r.publish(); err != nil {
		return contracts.DomainReport{}, err
	}
	d.noteLooked()
	d.noteJudged(kept(outcome), c.findings, seen{etag: f.ETag, raw: contracts.HashBytes(f.Body), snapshot: r.Catalog().Snapshot})
	r.logOutcome(ctx, d, outcome, c)
	d.wake()
	return contracts.DomainReport{Domain: reg.Domain, Outcome: outcome, Digest: c.digest, Findings: c.findings}, nil
}

// enterRow saves the registration together with what became of the manifest.
func (r *Registry) enterRow(ctx context.Context, d *domain, row DomainRow, reg contracts.Registration, c candidate, etag string) (contracts.DomainOutcome, error) {
	if _, inUse := d.active(); inUse && c.digest == row.ActiveDigest || c.worst() != contracts.SeverityConfirm {
		return contracts.DomainActive, r.activate(ctx, d, row, reg, c, etag)
	}
	row.PendingDigest, row.PendingETag = c.digest, etag
	row, err := r.save(ctx, row, ManifestBody{Digest: c.digest, Body: c.body})
	if err != nil {
		return "", err
	}
	d.noteRow(row, reg)
	return contracts.DomainPending, nil
}

func (r *Registry) mayEnter(d *domain, known bool, name string) error {
	if known {
		if row, _ := d.state(); row.ManagedBy == ManagedByFile {
			return managedByFile(name)
		}
		return nil
	}
	if r.count() >= r.cfg.MaxDomains {
		return contracts.Errorf(contracts.CodeTooLarge, "there are %d domains already, which is the limit", r.cfg.MaxDomains)
	}
	return nil
}

func managedByFile(name string) error {
	return contracts.Errorf(contracts.CodeConflict, "domain %q is managed by the bootstrap file; change it there", name)
}

// refused reports a manifest with errors; the error carries them as faults.
func refused(domain string, findings []contracts.Finding) (contracts.DomainReport, error) {
	var faults []contracts.Fault
	for _, f := range findings {
		if f.Severity == contracts.SeverityError {
			faults = append(faults, contracts.Fault{Pointer: f.Pointer, Message: f.Message})
		}
	}
	return contracts.DomainReport{Domain: domain, Outcome: contracts.DomainRefused, Findings: findings},
		contracts.Invalid("the manifest is refused", faults...)
}

// RefreshDomain fetches the manifest now and judges it, changed or not.
func (r *Registry) RefreshDomain(ctx context.Context, name string) (contracts.DomainReport, error) {
	d, ok := r.domain(name)
	if !ok {
		return contracts.DomainReport{}, unknownDomain(name)
	}
	return r.look(ctx, d, true)
}

// Confirm activates the pending manifest with this digest: an admin has read
// what it loosens or whose sentences it takes. It is judged once more, because
// other domains may have changed since.
func (r *Registry) Confirm(ctx context.Context, name, digest string) (contracts.DomainReport, error) {
	release, err := r.take(ctx)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	defer release()
	d, ok := r.domain(name)
	if !ok {
		return contracts.DomainReport{}, unknownDomain(name)
	}
	row, reg := d.state()
	if row.PendingDigest == "" {
		return contracts.DomainReport{}, contracts.Errorf(contracts.CodeConflict, "nothing of domain %q waits for a confirmation", name)
	}
	if digest != row.PendingDigest {
		return contracts.DomainReport{}, contracts.Errorf(contracts.CodeConflict,
			"what waits is the manifest %s of domain %q; look at the difference again", row.PendingDigest, name)
	}
	body, err := r.store.Manifest(ctx, digest)
	if err != nil {
		return contracts.DomainReport{}, fmt.Errorf("pending manifest of domain %s: %w", name, err)
	}
	c, err := r.admit.judge(ctx, r.actives(), reg, body)
	if err != nil {
		return contracts.DomainReport{}, fmt.Errorf("judge manifest of domain %s: %w", name, err)
	}
	if c.worst() == contracts.SeverityError {
		return refused(name, c.findings)
	}
	if err := r.activate(ctx, d, row, reg, c, row.PendingETag); err != nil {
		return contracts.DomainReport{}, err
	}
	d.noteJudged(contracts.DomainActive, c.findings, seen{
		etag: row.PendingETag, raw: contracts.HashBytes(body), snapshot: r.Catalog().Snapshot,
	})
	r.logOutcome(ctx, d, contracts.DomainActive, c)
	return contracts.DomainReport{Domain: name, Outcome: contracts.DomainActive, Digest: digest, Findings: c.findings}, nil
}

// Unregister forgets a domain. Runs that wait for one of its capabilities find
// it gone and ask a person.
func (r *Registry) Unregister(ctx context.Context, name string) error {
	release, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	d, ok := r.domain(name)
	if !ok {
		return unknownDomain(name)
	}
	row, _ := d.state()
	if row.ManagedBy == ManagedByFile {
		return managedByFile(name)
	}
	if err := r.store.DeleteDomain(ctx, name, row.Revision); err != nil {
		return fmt.Errorf("unregister domain %s: %w", name, r.reread(ctx, d, err))
	}
	r.drop(name)
	return r.publish()
}
