package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/planner/workflow"
)

// maxFindings is the maximum number of findings stored for one manifest.
const maxFindings = 200

// admission judges manifests. It has no state: the other domains are in the set.
type admission struct {
	site   contracts.SitePolicy
	tester Tester
	linter *linter
}

// candidate is a manifest that was judged.
type candidate struct {
	digest   string
	body     []byte
	manifest *contracts.Manifest // nil if it cannot be parsed
	findings []contracts.Finding
	told     map[string][]contracts.Finding // findings for other domains, if it is activated
}

func (c *candidate) find(pointer string, severity contracts.Severity, message string) {
	c.findings = append(c.findings, contracts.Finding{Pointer: pointer, Severity: severity, Message: message})
}

// worst returns the highest severity of the findings, warning if there are none.
func (c *candidate) worst() contracts.Severity {
	worst := contracts.SeverityWarning
	for _, f := range c.findings {
		switch f.Severity {
		case contracts.SeverityError:
			return f.Severity
		case contracts.SeverityConfirm:
			worst = f.Severity
		case contracts.SeverityWarning:
		}
	}
	return worst
}

// beside is additional input for judging a manifest.
type beside struct {
	// offers are first manifests of other domains that will be judged right after it.
	offers domainSet
	tried  rehearsal
}

// rehearsal is the test result of a manifest in a catalog with only that domain.
type rehearsal struct {
	snapshot string
	failing  []TestFailure
}

// rehearse runs the tests of a manifest in a catalog with only that domain.
func (a *admission) rehearse(ctx context.Context, set, offers domainSet, of active, domain string) (rehearsal, error) {
	only, err := a.alone(set.with(domain, of), offers, domain)
	if err != nil {
		return rehearsal{}, err
	}
	failing, err := a.tester.RunTests(ctx, only, domain)
	return rehearsal{only.Snapshot, failing}, err
}

// judge validates a manifest: strict decoding, schema and semantics, references to other domains,
// lints, the difference to the active one, its own tests, and the tests of others. An error means
// that it could not be judged, not that it is bad.
func (a *admission) judge(ctx context.Context, set domainSet, b beside, reg contracts.Registration, body []byte) (candidate, error) {
	c := read(body, reg.Domain)
	if c.manifest == nil {
		return c.bounded(), nil
	}
	next := set.with(reg.Domain, active{registration: reg, manifest: c.manifest, digest: c.digest})
	c.findings = slices.Concat(c.findings, checkNamed(reg, c.manifest, a.site), checkReferences(next, reg.Domain, c.manifest))
	procedures, err := checkWorkflows(next, c.manifest, a.site)
	if err != nil {
		return candidate{}, err
	}
	c.findings = slices.Concat(c.findings, procedures, a.linter.lint(set, reg.Domain, c.manifest))
	if before, ok := set[reg.Domain]; ok {
		before.registration = reg // the manifest is judged here, not the registration
		c.findings = append(c.findings, loosened(reg.Domain, set.with(reg.Domain, before), next, a.site)...)
	}
	if c.worst() == contracts.SeverityError {
		return c.bounded(), nil
	}
	if err := a.tests(ctx, set, next, b, &c, reg.Domain); err != nil {
		return candidate{}, fmt.Errorf("try the manifest's tests: %w", err)
	}
	return c.bounded(), nil
}

// checkWorkflows checks the steps of the manifest's workflows. A workflow that needs a missing
// capability is inactive until that exists: a warning.
func checkWorkflows(next domainSet, m *contracts.Manifest, site contracts.SitePolicy) ([]contracts.Finding, error) {
	if len(m.Workflows) == 0 {
		return nil, nil
	}
	catalog, err := next.catalog(site)
	if err != nil {
		return nil, err
	}
	report := workflow.Check(m, catalog)
	for i, w := range m.Workflows {
		if missing := report.Missing[w.Name]; len(missing) > 0 {
			report.Findings = append(report.Findings, contracts.Finding{
				Pointer: fmt.Sprintf("/workflows/%d", i), Severity: contracts.SeverityWarning,
				Message: fmt.Sprintf("%s is inactive until there is %s", w.Name, strings.Join(missing, ", ")),
			})
		}
	}
	return report.Findings, nil
}

// read parses a manifest and checks that its domain is the registered one, so that nobody can take
// another's namespace.
func read(body []byte, domain string) candidate {
	c := candidate{body: body, digest: contracts.HashBytes(body)}
	if canonical, err := contracts.CanonicalBytes(body); err == nil {
		c.digest = contracts.HashBytes(canonical)
	}
	m, err := contracts.AdmitManifest(body)
	if err != nil {
		c.findings = errorFindings(err)
		return c
	}
	if m.Domain != domain {
		c.find("/domain", contracts.SeverityError, fmt.Sprintf("it speaks for the namespace %q but is registered as %q", m.Domain, domain))
		return c
	}
	c.manifest = m
	return c
}

func errorFindings(err error) []contracts.Finding {
	ours, ok := errors.AsType[*contracts.Error](err)
	if !ok || len(ours.Faults) == 0 {
		return []contracts.Finding{{Message: err.Error(), Severity: contracts.SeverityError}}
	}
	var out []contracts.Finding
	for _, f := range ours.Faults {
		out = append(out, contracts.Finding{Pointer: f.Pointer, Message: f.Message, Severity: contracts.SeverityError})
	}
	return out
}

// checkNamed warns of floors for capabilities that do not exist, because a misspelt name looks like
// protection, and of own_authority entries that have no effect.
func checkNamed(reg contracts.Registration, m *contracts.Manifest, site contracts.SitePolicy) (out []contracts.Finding) {
	warn := func(text string) {
		out = append(out, contracts.Finding{Pointer: "/capabilities", Severity: contracts.SeverityWarning, Message: text})
	}
	names := byName(m)
	if reg.Floor != nil {
		for _, name := range sortedKeys(reg.Floor.Capabilities) {
			if _, ok := names[name]; !ok {
				warn(fmt.Sprintf("the registration sets a floor for %q, which the manifest does not have", name))
			}
		}
	}
	for _, name := range site.Review.OwnAuthorityOf(m.Domain) {
		if c, ok := names[name]; !ok || !c.Metadata.OwnLogin {
			warn(fmt.Sprintf("the site's own_authority does not hold for %q, which is not declared to be done with the asker's own login", name))
		}
	}
	return out
}

// tests runs the test sentences. The manifest's own must pass in a catalog with only its domain.
// Failures in the whole catalog, of its own and of others' sentences, are findings but never
// errors.
func (a *admission) tests(ctx context.Context, set, next domainSet, b beside, c *candidate, domain string) error {
	only, err := a.alone(next, b.offers, domain)
	if err != nil {
		return err
	}
	failing := b.tried.failing
	if b.tried.snapshot != only.Snapshot {
		if failing, err = a.tester.RunTests(ctx, only, domain); err != nil {
			return err
		}
	}
	after, err := a.all(next, b.offers)
	if err != nil {
		return err
	}
	for _, f := range failing {
		c.find(testPointer(f), contracts.SeverityError, fmt.Sprintf("%q: %s", f.Say, f.Message))
	}
	if len(failing) > 0 {
		return nil
	}
	c.withheld(after, domain)
	failing, err = a.tester.RunTests(ctx, after, domain)
	if err != nil {
		return err
	}
	for _, f := range failing {
		c.find(testPointer(f), contracts.SeverityWarning, fmt.Sprintf("beside the other domains, %q: %s", f.Say, f.Message))
	}
	return a.collisions(ctx, set, b.offers, after, c, domain)
}

// all returns the catalog of a set together with offers, or of the set alone if an offer makes no
// valid catalog.
func (a *admission) all(set, offers domainSet) (*contracts.Catalog, error) {
	whole := domainSet{}
	maps.Copy(whole, offers)
	maps.Copy(whole, set)
	if c, err := whole.catalog(a.site); err == nil {
		return c, nil
	}
	return set.catalog(a.site)
}

// alone returns a catalog with only this domain; its workflows that call other domains stay.
func (a *admission) alone(set, offers domainSet, domain string) (*contracts.Catalog, error) {
	all, err := a.all(set, offers)
	if err != nil {
		return nil, err
	}
	var only []*contracts.DomainEntry
	if d, ok := all.Domain(domain); ok {
		only = append(only, d)
	}
	snapshot, err := snapshotOf(only, all.Roles)
	if err != nil {
		return nil, err
	}
	return contracts.NewCatalog(snapshot, only, all.Roles), nil
}

func testPointer(f TestFailure) string { return fmt.Sprintf("/tests/%d", f.Index) }

// withheld adds a warning for each test of a capability that is not available here.
func (c *candidate) withheld(after *contracts.Catalog, domain string) {
	entry, ok := after.Domain(domain)
	if !ok {
		return
	}
	for i, t := range c.manifest.Tests {
		if t.Expect != nil && local.Withheld(entry, t.Expect.Capability) {
			c.find(fmt.Sprintf("/tests/%d", i), contracts.SeverityWarning, fmt.Sprintf("%q is not tried: %s is not in use here", t.Say, t.Expect.Capability))
		}
	}
}

// collisions runs the tests of the other domains. A sentence that becomes ambiguous is a warning
// for both; one that is now understood as another request needs a confirmation.
func (a *admission) collisions(ctx context.Context, set, offers domainSet, after *contracts.Catalog, c *candidate, domain string) error {
	before, err := a.all(set, offers)
	if err != nil {
		return err
	}
	for _, other := range sortedKeys(set) {
		if other == domain || len(set[other].manifest.Tests) == 0 {
			continue
		}
		now, err := a.tester.RunTests(ctx, after, other)
		if err != nil {
			return err
		}
		if len(now) == 0 {
			continue
		}
		was, err := a.tester.RunTests(ctx, before, other)
		if err != nil {
			return err
		}
		for _, f := range now {
			if slices.ContainsFunc(was, func(w TestFailure) bool { return w.Index == f.Index }) {
				continue
			}
			c.collide(other, domain, f)
		}
	}
	return nil
}

func (c *candidate) collide(other, domain string, f TestFailure) {
	severity := contracts.SeverityWarning
	if f.Taken {
		severity = contracts.SeverityConfirm
	}
	c.find("", severity, fmt.Sprintf("a sentence of %s does not lead there any more: %q: %s", other, f.Say, f.Message))
	if c.told == nil {
		c.told = map[string][]contracts.Finding{}
	}
	c.told[other] = append(c.told[other], contracts.Finding{
		Pointer: testPointer(f), Severity: contracts.SeverityWarning, Message: fmt.Sprintf("beside %s, %q: %s", domain, f.Say, f.Message),
	})
}

// bounded keeps the most severe findings, in order, and adds how many were left out.
func (c *candidate) bounded() candidate {
	if len(c.findings) <= maxFindings {
		return *c
	}
	rank := func(f contracts.Finding) int {
		return slices.Index([]contracts.Severity{contracts.SeverityError, contracts.SeverityConfirm, contracts.SeverityWarning}, f.Severity)
	}
	slices.SortStableFunc(c.findings, func(x, y contracts.Finding) int { return rank(x) - rank(y) })
	gravest := c.findings[0].Severity
	left := len(c.findings) - maxFindings
	c.findings = append(c.findings[:maxFindings:maxFindings], contracts.Finding{
		Severity: gravest, Message: fmt.Sprintf("and %d more", left),
	})
	return *c
}
