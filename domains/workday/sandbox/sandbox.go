// Package sandbox is a simulated Workday tenant for development and tests. It implements Workday's
// REST protocol (OAuth 2 with rotating refresh tokens; the common, staffing, absence-management and
// business-process services), holds a seeded company, and can fail in all the ways of a real
// tenant.
//
// It does not model Workday's policies. It implements only enough of them (eligibility, free days,
// approvals) for a client to meet every answer that it must handle. All data is in memory; the same
// seed gives the same company, including ids.
package sandbox

import (
	"cmp"
	"crypto/rsa"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

// Process is a business process that may need an approval.
type Process string

// The business processes of the sandbox.
const (
	RequestTimeOff      Process = "Request Time Off"
	CorrectTimeOff      Process = "Correct Time Off"
	ChangeBusinessTitle Process = "Change Business Title"
	ChangeJob           Process = "Change Job"
)

// Config configures a tenant; the zero value is usable.
type Config struct {
	// Seed decides names, titles, balances and history [42].
	Seed uint64
	// Workers is the number of people in the company, at least 60 [300].
	Workers int
	// Tenant is the tenant's name in every path ["manifold_dpt1"].
	Tenant string
	// Now is the tenant's clock [time.Now].
	Now func() time.Time
	// TokenTTL is the lifetime of an access token [1h].
	TokenTTL time.Duration
	// KeepRefreshToken keeps refresh tokens valid after use. By default each use replaces the
	// token, as at Workday's agent gateway.
	KeepRefreshToken bool
	// StringExpiry sends expires_in as a string, as some deployments do.
	StringExpiry bool
	// RequestsPerSecond and Burst limit the requests; excess requests get 429. Zero means no limit.
	RequestsPerSecond float64
	Burst             int
	// NeedsApproval lists the processes that need the approval of the worker's manager [Request
	// Time Off and Change Job]. With an empty, non-nil list everything is approved at once.
	NeedsApproval []Process
	// JWTKey is the public key of clients that sign assertions [none: such clients are refused].
	JWTKey *rsa.PublicKey
	// NoCancel leaves out the actions cancel and rescind on events, which services before 2026-04
	// do not have.
	NoCancel bool
	// ToolPrefix is the prefix of the names of the MCP server's tools, as in deployments of Workday
	// [none].
	ToolPrefix string
	// Logger logs one line per request [none].
	Logger *slog.Logger
}

// Credentials are the credentials of an API client of the tenant.
type Credentials struct {
	Tenant       string `json:"tenant"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
}

// Tenant is a running sandbox. It implements http.Handler and is safe for concurrent use.
type Tenant struct {
	*sandboxkit.Control
	cfg    Config
	routes *http.ServeMux
	limit  *rate.Limiter // nil when unlimited

	// mu guards everything below. It is never held while a body is read or an answer is written.
	mu     sync.Mutex
	books  books
	tokens tokens
}

// New returns a seeded tenant.
func New(cfg Config) (*Tenant, error) {
	cfg.Seed = cmp.Or(cfg.Seed, 42)
	cfg.Workers = cmp.Or(cfg.Workers, 300)
	cfg.Tenant = cmp.Or(cfg.Tenant, "manifold_dpt1")
	cfg.TokenTTL = cmp.Or(cfg.TokenTTL, time.Hour)
	if cfg.Workers < minWorkers {
		return nil, fmt.Errorf("sandbox of %d workers: at least %d are needed", cfg.Workers, minWorkers)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.NeedsApproval == nil {
		cfg.NeedsApproval = []Process{RequestTimeOff, ChangeJob}
	}
	t := &Tenant{Control: sandboxkit.NewControl(cfg.Seed, cfg.Logger), cfg: cfg}
	if cfg.RequestsPerSecond > 0 {
		t.limit = rate.NewLimiter(rate.Limit(cfg.RequestsPerSecond), max(cfg.Burst, 1))
	}
	t.Reset()
	t.routes = t.newRoutes()
	return t, nil
}

// Reset restores the initial state: data, tokens, faults, records and clock.
func (t *Tenant) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := &t.books // the services hold this pointer
	*b = books{clock: t.cfg.Now, needsApproval: t.cfg.NeedsApproval, company: seedCompany(t.cfg.Seed, t.cfg.Workers, t.cfg.Tenant)}
	b.absence = seedAbsence(t.cfg.Seed, b.company)
	b.process = seedProcess(b.company, b.absence)
	t.tokens = newTokens(t.cfg)
	t.Forget()
}

// Credentials returns the credentials of the integration system user, who may read everyone and
// submit for everyone, but may not approve.
func (t *Tenant) Credentials() Credentials {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tokens.credentials(systemUser)
}

// CredentialsFor returns the credentials of a worker, for example a manager who approves.
func (t *Tenant) CredentialsFor(workerID string) Credentials {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tokens.credentials(workerID)
}

// ExpireTokens invalidates every access token.
func (t *Tenant) ExpireTokens() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.tokens.access)
}

// AdvanceClock moves the tenant's clock forward.
func (t *Tenant) AdvanceClock(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.books.offset += d
}

// ApproveAll approves every open step, except those of the seeded history, as the person that it
// awaits. It returns their number.
func (t *Tenant) ApproveAll() int {
	return t.decideAll(EffectStepApproved, func(e *event, s *step) {
		s.finish(stepCompleted, s.assigneeID, "", t.books.now())
		t.books.complete(e)
	})
}

// DenyAll denies every open step, except those of the seeded history, as the person that it awaits.
// It returns their number.
func (t *Tenant) DenyAll(comment string) int {
	return t.decideAll(EffectStepDenied, func(e *event, s *step) {
		s.finish(stepDenied, s.assigneeID, comment, t.books.now())
		t.books.stop(e, eventDenied, statusGone)
	})
}

// OpenStep is a step of a business process that awaits somebody.
type OpenStep struct {
	ID         string `json:"id"`
	EventID    string `json:"event_id"`
	WorkerID   string `json:"worker_id"`
	AssigneeID string `json:"assignee_id"`
}

// OpenSteps returns the open steps, except those of the seeded history.
func (t *Tenant) OpenSteps() []OpenStep {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []OpenStep
	for _, e := range t.books.process.events {
		if s := e.openStep(); s != nil && !e.seeded {
			out = append(out, OpenStep{s.id, e.id, e.workerID, s.assigneeID})
		}
	}
	return out
}

func (t *Tenant) decideAll(effect string, decide func(*event, *step)) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	decided := 0
	for _, e := range t.books.process.events {
		s := e.openStep()
		if s == nil || e.seeded {
			continue
		}
		decide(e, s)
		t.books.record(&call{subject: s.assigneeID}, effect, e.workerID, e.id)
		decided++
	}
	return decided
}

// Worker describes a person of the company for tests.
type Worker struct {
	ID         string `json:"id"`
	EmployeeID string `json:"employee_id"`
	Name       string `json:"name"`
	Title      string `json:"title"`
	ManagerID  string `json:"manager_id,omitempty"`
	Contingent bool   `json:"contingent,omitempty"`
	Terminated bool   `json:"terminated,omitempty"`
	MoreJobs   bool   `json:"more_jobs,omitempty"`
}

// People returns all people in the order of their seeding, including terminated ones.
func (t *Tenant) People() []Worker {
	t.mu.Lock()
	defer t.mu.Unlock()
	people := make([]Worker, 0, len(t.books.company.workers))
	for _, w := range t.books.company.workers {
		people = append(people, Worker{
			ID: w.id, EmployeeID: w.number, Name: w.name, Title: w.title, ManagerID: w.managerID,
			Contingent: w.contingent, Terminated: w.terminated, MoreJobs: w.moreJobs,
		})
	}
	return people
}
