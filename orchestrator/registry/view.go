package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// List returns all domains by name.
func (r *Registry) List() []contracts.DomainView {
	live := r.domains.live()
	slices.SortFunc(live, func(a, b *domain) int { return strings.Compare(a.name, b.name) })
	out := make([]contracts.DomainView, 0, len(live))
	for _, d := range live {
		out = append(out, r.view(d))
	}
	return out
}

// Health returns the state of every domain, for readiness and routing.
func (r *Registry) Health() map[string]contracts.HealthStatus {
	out := map[string]contracts.HealthStatus{}
	for _, d := range r.domains.live() {
		out[d.name], _, _ = d.healthNow(r.cfg.Now())
	}
	return out
}

// Show returns all details of one domain.
func (r *Registry) Show(name string) (contracts.DomainDetail, error) {
	d, ok := r.domains.domain(name)
	if !ok {
		return contracts.DomainDetail{}, unknownDomain(name)
	}
	out := contracts.DomainDetail{DomainView: r.view(d)}
	_, _, out.Checks = d.healthNow(r.cfg.Now())
	d.mu.Lock()
	defer d.mu.Unlock()
	out.Registration, out.Findings, out.Manifest = d.reg, d.allFindings(), d.body
	return out, nil
}

func (r *Registry) view(d *domain) contracts.DomainView {
	status, healthDetail, _ := d.healthNow(r.cfg.Now())
	d.mu.Lock()
	defer d.mu.Unlock()
	v := contracts.DomainView{
		Domain: d.name, URL: d.reg.URL, ManagedBy: string(d.row.ManagedBy), Outcome: d.outcome, Health: status,
		Detail:       cmp.Or(problemIn(d.outcome, d.findings), d.trouble, healthDetail),
		ActiveDigest: d.row.ActiveDigest, PendingDigest: d.row.PendingDigest, Revision: d.row.Revision, UpdatedAt: d.row.UpdatedAt,
	}
	if d.manifest != nil {
		v.Title, v.Description, v.Version = d.manifest.Title, d.manifest.Description, d.manifest.Version
		v.Capabilities = len(d.manifest.Capabilities) - len(d.manifest.Unserved)
	}
	return v
}

// problemIn describes why the last manifest is not active.
func problemIn(outcome contracts.DomainOutcome, findings []contracts.Finding) string {
	severity := contracts.SeverityError
	switch outcome {
	case contracts.DomainPending:
		severity = contracts.SeverityConfirm
	case contracts.DomainRefused:
	case contracts.DomainActive, contracts.DomainUnchanged, contracts.DomainStarting:
		return ""
	}
	for _, f := range findings {
		if f.Severity == severity {
			return contracts.CleanSummary(strings.TrimPrefix(f.Pointer+": "+f.Message, ": "))
		}
	}
	return ""
}

// Diff compares the active manifest with the pending one, or, if none is pending, with the one that
// the service returns now. It changes nothing.
func (r *Registry) Diff(ctx context.Context, name string) (contracts.DomainDiff, error) {
	d, ok := r.domains.domain(name)
	if !ok {
		return contracts.DomainDiff{}, unknownDomain(name)
	}
	row, reg := d.state()
	body, err := r.newer(ctx, d, row)
	if err != nil {
		return contracts.DomainDiff{}, err
	}
	set := r.domains.actives()
	c, err := r.intake.judge(ctx, set, beside{}, reg, body)
	if err != nil {
		return contracts.DomainDiff{}, err
	}
	if c.manifest == nil {
		return contracts.DomainDiff{Domain: name, From: row.ActiveDigest, To: c.digest, Findings: c.findings}, nil
	}
	diff, err := compare(name, set, set.with(name, active{registration: reg, manifest: c.manifest, digest: c.digest}), r.cfg.Site)
	diff.Findings = c.findings
	return diff, err
}

func (r *Registry) newer(ctx context.Context, d *domain, row DomainRow) ([]byte, error) {
	if row.PendingDigest != "" {
		return r.domains.pending(ctx, row)
	}
	fetched, err := r.fetcher.FetchManifest(ctx, d.endpoint(), "")
	if err != nil {
		return nil, fmt.Errorf("compare domain %s: %w", d.name, err)
	}
	return fetched.Body, nil
}
