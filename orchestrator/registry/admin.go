package registry

import (
	"context"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Register registers a domain, or changes its registration. The manifest is fetched and judged
// first. If it has errors nothing is changed, and the error is returned with the report. The caller
// must check access.
func (r *Registry) Register(ctx context.Context, reg contracts.Registration) (contracts.DomainReport, error) {
	reg.URL = strings.TrimRight(reg.URL, "/")
	if faults := append(registrationFaults("", reg), remoteFaults(reg)...); len(faults) > 0 {
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
		m, err := contracts.AdmitManifest(fetched.Body)
		if err != nil {
			return refused("", errorFindings(err))
		}
		reg.Domain = m.Domain
	}
	return r.intake.register(ctx, reg, fetched)
}

func managedByFile(name string) error {
	return contracts.Errorf(contracts.CodeConflict, "domain %q is managed by the bootstrap file; change it there", name)
}

// refused returns the report and the error for a manifest with errors; the error has them as
// faults.
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

// RefreshDomain fetches and judges the manifest now, even if it is unchanged.
func (r *Registry) RefreshDomain(ctx context.Context, name string) (contracts.DomainReport, error) {
	d, ok := r.domains.domain(name)
	if !ok {
		return contracts.DomainReport{}, unknownDomain(name)
	}
	return r.intake.look(ctx, d, true)
}

// Confirm activates the pending manifest with this digest, after an admin has accepted what it
// loosens or whose sentences it takes. It is judged again, because other domains may have changed
// since. It returns conflict if another manifest is pending, or none.
func (r *Registry) Confirm(ctx context.Context, name, digest string) (contracts.DomainReport, error) {
	release, err := r.domains.take(ctx)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	defer release()
	d, ok := r.domains.domain(name)
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
	body, err := r.domains.pending(ctx, row)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	c, err := r.intake.judge(ctx, r.domains.actives(), beside{}, reg, body)
	if err != nil {
		return contracts.DomainReport{}, err
	}
	if c.worst() == contracts.SeverityError {
		return refused(name, c.findings)
	}
	if err := r.intake.activate(ctx, d, row, reg, c, row.PendingETag); err != nil {
		return contracts.DomainReport{}, err
	}
	d.noteJudged(contracts.DomainActive, c.findings, judgedManifest{
		etag: row.PendingETag, raw: contracts.HashBytes(body), snapshot: r.Catalog().Snapshot,
	})
	r.intake.logOutcome(ctx, d, contracts.DomainActive, c)
	return contracts.DomainReport{Domain: name, Outcome: contracts.DomainActive, Digest: digest, Findings: c.findings}, nil
}

// Unregister removes a domain. Runs that wait for one of its capabilities then ask a person.
func (r *Registry) Unregister(ctx context.Context, name string) error {
	release, err := r.domains.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	d, ok := r.domains.domain(name)
	if !ok {
		return unknownDomain(name)
	}
	row, _ := d.state()
	if row.ManagedBy == ManagedByFile {
		return managedByFile(name)
	}
	if err := r.domains.remove(ctx, name, row.Revision); err != nil {
		return fmt.Errorf("unregister domain %s: %w", name, r.domains.reread(ctx, d, err))
	}
	return r.domains.publish()
}

// Refresh fetches a domain's manifest again, because a run found it changed. Callers during a fetch
// share the next one, since the current one may have been answered before the change. The changes
// of other servers are taken over first.
func (r *Registry) Refresh(ctx context.Context, name string) error {
	if err := r.Follow(ctx); err != nil {
		return err
	}
	d, ok := r.domains.domain(name)
	if !ok {
		return unknownDomain(name)
	}
	_, err := r.intake.look(ctx, d, false)
	return err
}

func unknownDomain(name string) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no domain %q", name)
}
