// Package conformance tests a running domain service, in any language, by its URL: health,
// manifest, authentication, execution and refusals. It uses only what the core can see. Reads are
// executed with the examples of the manifest; writes only if Options.AllowWrites is set, and only
// with examples that are marked safe.
//
// A finding of severity error violates the contract; a warning is an item of the authors'
// checklist.
package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Options configures Run. URL is required.
type Options struct {
	// URL is the base URL of the service, to which /health, /manifest and /execute are appended.
	URL string
	// Authorization is the value of the Authorization header, for example "Bearer …".
	Authorization string
	// AllowWrites executes safe examples of writes, which changes the service's data.
	AllowWrites bool
	// Timeout bounds one HTTP exchange [30 s].
	Timeout time.Duration
	// Progress is called after each check.
	Progress func(Check)
	// Further are additional manifest checks that need knowledge of the core. They run after the
	// checklist, in this order.
	Further []Further
	// Transport replaces the network in tests [http.DefaultTransport].
	Transport http.RoundTripper
}

// Further is an additional check of a valid manifest.
type Further struct {
	Name  string
	Check func(ctx context.Context, m *contracts.Manifest) []Finding
}

// Severity is the severity of a finding.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Finding is a violation or a possible improvement.
type Finding struct {
	// Rule is the stable identifier of the rule, for example "idempotency-repeat".
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	// Pointer is the JSON pointer into the manifest, if there is one.
	Pointer string `json:"pointer,omitempty"`
	// Fix says how to fix it.
	Fix string `json:"fix,omitempty"`
}

// Status is the outcome of a check.
type Status string

// The outcomes of a check.
const (
	StatusPassed  Status = "passed"
	StatusFailed  Status = "failed"
	StatusSkipped Status = "skipped"
)

// Check is one step of the suite.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Detail says why a check was skipped, or which part of it was.
	Detail   string        `json:"detail,omitempty"`
	Findings []Finding     `json:"findings,omitempty"`
	Took     time.Duration `json:"took_ns"`
}

// Report is the result of Run.
type Report struct {
	URL     string  `json:"url"`
	Domain  string  `json:"domain,omitempty"`
	Version string  `json:"version,omitempty"`
	Checks  []Check `json:"checks"`
}

// OK reports whether the service conforms, that is, has no finding of severity error.
func (r Report) OK() bool { return r.Count(SeverityError) == 0 }

// Findings returns the findings of all checks, in order.
func (r Report) Findings() []Finding {
	var out []Finding
	for _, c := range r.Checks {
		out = append(out, c.Findings...)
	}
	return out
}

// Count returns the number of findings of a severity.
func (r Report) Count(severity Severity) int {
	n := 0
	for _, f := range r.Findings() {
		if f.Severity == severity {
			n++
		}
	}
	return n
}

// Run tests a service. It stops early if the service is unreachable, unhealthy or has an invalid
// manifest.
func Run(ctx context.Context, opt Options) Report {
	s := &suite{opt: opt, report: &Report{URL: opt.URL}}
	if s.opt.Timeout <= 0 {
		s.opt.Timeout = contracts.MaxExchange
	}
	s.client = &http.Client{
		Transport: opt.Transport,
		// The core never follows a redirect.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if !s.check(ctx, "url", s.checkURL) || !s.check(ctx, "health", s.checkHealth) || !s.check(ctx, "manifest", s.checkManifest) {
		return *s.report
	}
	s.check(ctx, "authentication", s.checkAuthentication)
	s.check(ctx, "etag", s.checkETag)
	s.check(ctx, "checklist", s.checkList)
	s.check(ctx, "what passes in silence", s.checkSilent)
	for _, more := range s.opt.Further {
		s.check(ctx, more.Name, func(ctx context.Context, p *probe) {
			for _, f := range more.Check(ctx, s.manifest) {
				p.add(f.Severity, f.Rule, f.Pointer, f.Fix, "%s", f.Message)
			}
		})
	}
	s.check(ctx, "requests that are refused", s.checkRefusals)
	s.checkReads(ctx)
	s.checkWrites(ctx)
	return *s.report
}

// suite is one run of the tests.
type suite struct {
	opt      Options
	base     string
	client   *http.Client
	report   *Report
	etag     string
	manifest *contracts.Manifest
	instance string
}

// probe collects the findings of one check.
type probe struct{ check *Check }

func (p *probe) add(severity Severity, rule, pointer, fix, format string, args ...any) {
	p.check.Findings = append(p.check.Findings, Finding{
		Rule: rule, Severity: severity, Pointer: pointer, Fix: fix, Message: fmt.Sprintf(format, args...),
	})
	if severity == SeverityError {
		p.check.Status = StatusFailed
	}
}

func (p *probe) fail(rule, pointer, fix, format string, args ...any) {
	p.add(SeverityError, rule, pointer, fix, format, args...)
}

func (p *probe) warn(rule, pointer, fix, format string, args ...any) {
	p.add(SeverityWarning, rule, pointer, fix, format, args...)
}

// skip records why there was nothing to check; a failure stays a failure.
func (p *probe) skip(format string, args ...any) {
	p.check.Detail = fmt.Sprintf(format, args...)
	if p.check.Status == StatusPassed {
		p.check.Status = StatusSkipped
	}
}

// check runs one step and reports whether it did not fail.
func (s *suite) check(ctx context.Context, name string, step func(context.Context, *probe)) bool {
	c := Check{Name: name, Status: StatusPassed}
	begin := time.Now()
	if ctx.Err() != nil {
		c.Status, c.Detail = StatusSkipped, "the suite was stopped"
	} else {
		step(ctx, &probe{&c})
	}
	c.Took = time.Since(begin)
	s.report.Checks = append(s.report.Checks, c)
	if s.opt.Progress != nil {
		s.opt.Progress(c)
	}
	return c.Status != StatusFailed
}

func (s *suite) checkURL(_ context.Context, p *probe) {
	u, err := url.Parse(s.opt.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		p.fail("url", "", "Give the root of the service, such as http://localhost:8090.", "%q is no URL of a service", s.opt.URL)
		return
	}
	s.base = strings.TrimSuffix(u.String(), "/")
}
