package registry

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

const (
	// downAfter is how many health checks must fail in a row.
	downAfter = 3
	// refusedCredentialFor is how long a refused credential is remembered.
	refusedCredentialFor = 5 * time.Minute
)

// domain is this process's state of one domain, shared by its loop and the calls of admins.
type domain struct {
	name string
	// busy allows one fetch at a time. It is a channel because it is held across I/O.
	busy chan struct{}
	// kick makes the loop fetch at once.
	kick chan struct{}

	mu  sync.Mutex // guards the fields below
	end func()     // ends the loop, if there is one
	row DomainRow
	reg contracts.Registration

	manifest *contracts.Manifest // the active one, nil if there is none
	body     []byte
	// offered is a first manifest that is not judged yet; fetched means that a fetch has ended.
	offered *active
	fetched bool

	outcome  contracts.DomainOutcome
	findings []contracts.Finding
	// beside has the warnings about its sentences that other domains caused, by those domains,
	// since the start of this process.
	beside  map[string][]contracts.Finding
	seen    judgedManifest
	begins  int    // attempts to fetch the manifest that have begun
	looks   int    // attempts that have ended, including the judgement
	trouble string // why the last attempt failed

	health       contracts.Health
	failures     int // in a row
	healthDetail string
	refusedUntil time.Time
}

// judgedManifest identifies the manifest that was judged last, so that it is not judged again while
// nothing else has changed.
type judgedManifest struct {
	etag     string
	raw      string // hash of the bytes
	snapshot string // of the catalog that it was judged with
}

func newDomain(row DomainRow, reg contracts.Registration) *domain {
	return &domain{
		name: row.Name, row: row, reg: reg,
		busy: make(chan struct{}, 1), kick: make(chan struct{}, 1), end: func() {},
		outcome: contracts.DomainStarting,
		health:  contracts.Health{Status: contracts.HealthStarting},
	}
}

// endBy sets the function that ends the loop.
func (d *domain) endBy(end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end = end
}

// stop ends the loop without waiting for it.
func (d *domain) stop() {
	d.mu.Lock()
	end := d.end
	d.mu.Unlock()
	end()
}

func (d *domain) wake() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

func (d *domain) endpoint() Endpoint {
	d.mu.Lock()
	defer d.mu.Unlock()
	return endpoint(d.name, d.reg)
}

func (d *domain) active() (active, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.manifest == nil {
		return active{}, false
	}
	return active{registration: d.reg, manifest: d.manifest, digest: d.row.ActiveDigest}, true
}

// state returns the row and the registration together.
func (d *domain) state() (DomainRow, contracts.Registration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.row, d.reg
}

func (d *domain) sameRow(other *domain) bool {
	a, _ := d.state()
	b, _ := other.state()
	return a.Revision == b.Revision && bytes.Equal(a.Registration, b.Registration) && a.ActiveDigest == b.ActiveDigest
}

// noteRow stores a saved row.
func (d *domain) noteRow(row DomainRow, reg contracts.Registration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !endpoint(row.Name, d.reg).same(endpoint(row.Name, reg)) {
		d.seen, d.failures, d.refusedUntil = judgedManifest{}, 0, time.Time{}
		d.health = contracts.Health{Status: contracts.HealthStarting}
	}
	d.row, d.reg = row, reg
}

// noteActive stores an activated manifest.
func (d *domain) noteActive(row DomainRow, reg contracts.Registration, c candidate) {
	d.noteRow(row, reg)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.manifest, d.body = c.manifest, c.body
}

// takeOver copies the state that another process has saved.
func (d *domain) takeOver(fresh *domain) {
	d.noteActive(fresh.row, fresh.reg, candidate{manifest: fresh.manifest, body: fresh.body})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.outcome, d.findings = fresh.outcome, fresh.findings
}

// noteJudged stores the outcome of judging a manifest.
func (d *domain) noteJudged(outcome contracts.DomainOutcome, findings []contracts.Finding, s judgedManifest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.outcome, d.findings, d.seen, d.trouble = outcome, findings, s, ""
}

// noteBeside stores the warnings that another domain caused; an empty list removes them.
func (d *domain) noteBeside(other string, findings []contracts.Finding) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.beside, other)
	if len(findings) == 0 {
		return
	}
	if d.beside == nil {
		d.beside = map[string][]contracts.Finding{}
	}
	d.beside[other] = findings[:min(len(findings), maxFindings)]
}

// allFindings returns the findings of the last manifest and those that other domains caused. The
// caller must hold mu.
func (d *domain) allFindings() []contracts.Finding {
	out := slices.Clone(d.findings)
	for _, other := range sortedKeys(d.beside) {
		out = append(out, d.beside[other]...)
	}
	return out[:min(len(out), maxFindings)]
}

func (d *domain) begun() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begins
}

func (d *domain) noteBegun() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begins++
}

// noteLooked counts an attempt that has ended.
func (d *domain) noteLooked() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looks++
	d.offered = nil
}

// noteOffered stores a first manifest that is still to be judged.
func (d *domain) noteOffered(body []byte) {
	if _, inUse := d.active(); inUse {
		return
	}
	c := read(body, d.name)
	if c.manifest == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.offered = &active{registration: d.reg, manifest: c.manifest, digest: c.digest}
}

// offer returns a first manifest that is not judged yet.
func (d *domain) offer() (active, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.offered == nil {
		return active{}, false
	}
	return *d.offered, true
}

func (d *domain) asked() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fetched
}

// noteFetched stores that a fetch has ended, and its error.
func (d *domain) noteFetched(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trouble, d.fetched = "", true
	if err != nil {
		d.trouble = contracts.CleanSummary(err.Error())
	}
}

func (d *domain) attempts() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.looks
}

func (d *domain) noteRefusedCredential(until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refusedUntil = until
}

// noteHealth stores the result of a health check. A single failure has no effect: the domain is
// down after downAfter failures in a row.
func (d *domain) noteHealth(h contracts.Health, err error) (before, after contracts.HealthStatus) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before = d.health.Status
	if err == nil {
		d.health, d.failures, d.healthDetail = h, 0, ""
		return before, h.Status
	}
	d.failures++
	d.healthDetail = contracts.CleanSummary(err.Error())
	if d.failures >= downAfter {
		d.health = contracts.Health{Status: contracts.HealthDown}
	}
	return before, d.health.Status
}

// healthNow returns the health for people and for routing.
func (d *domain) healthNow(now time.Time) (status contracts.HealthStatus, detail string, checks map[string]contracts.HealthCheck) {
	d.mu.Lock()
	defer d.mu.Unlock()
	status, detail = d.health.Status, d.healthDetail
	if now.Before(d.refusedUntil) && status == contracts.HealthOK {
		return contracts.HealthDegraded, "it refused our credential; check the authorization of the registration", d.health.Checks
	}
	return status, detail, d.health.Checks
}

// etag returns the ETag for the next fetch. A manifest that was not activated is fetched again once
// the catalog has changed, because the reason may be gone.
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

// alreadyJudged reports whether exactly this manifest was judged with the same catalog.
func (d *domain) alreadyJudged(now judgedManifest) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen.raw == now.raw && d.seen.snapshot == now.snapshot
}

// report returns the outcome of the last judgement.
func (d *domain) report() contracts.DomainReport {
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
