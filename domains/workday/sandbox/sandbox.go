// Package sandbox is a Workday tenant to develop and test against. It speaks
// Workday's REST wire protocol (OAuth 2 with rotating refresh tokens, the
// common, staffing, absence-management and business-process services), holds a
// seeded company, and can be told to fail in all the ways a real tenant fails.
//
// It is not a model of Workday's policies: it knows just enough of them (who is
// eligible, which days are free, who must approve) for a client to meet every
// answer it must cope with. Everything lives in memory; the same seed gives the
// same company, ids included.
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

// Process names a business process that may need an approval.
type Process string

// The business processes that the sandbox can start.
const (
	RequestTimeOff      Process = "Request Time Off"
	CorrectTimeOff      Process = "Correct Time Off"
	ChangeBusinessTitle Process = "Change Business Title"
	ChangeJob           Process = "Change Job"
)

// Config describes a tenant; the zero value is a usable one.
type Config struct {
	// Seed decides names, titles, balances and history [42].
	Seed uint64
	// Workers is the number of people in the company, at least 60 [300].
	Workers int
	// Tenant is the tenant's name in every path ["manifold_dpt1"].
	Tenant string
	// Now is the tenant's clock [time.Now].
	Now func() time.Time
	// TokenTTL is the life of an access token [1h].
	TokenTTL time.Duration
	// KeepRefreshToken leaves refresh tokens valid after use; by default each
	// use replaces the token, as Workday's agent gateway does.
	KeepRefreshToken bool
	// StringExpiry sends expires_in as a string, as some deployments do.
	StringExpiry bool
	// RequestsPerSecond and Burst bound the API; above them it answers 429.
	// Zero means no limit.
	RequestsPerSecond float64
	Burst             int
	// NeedsApproval lists the processes that wait for the worker's manager
	// [Request Time Off and Change Job]. An empty, non-nil list approves everything at once.
	NeedsApproval []Process
	// JWTKey is the key of the API client's certificate, for clients that sign assertions
	// [none: such clients are refused].
	JWTKey *rsa.PublicKey
	// NoCancel leaves out the actions on events, cancel and rescind, which services of
	// before 2026-04 do not have.
	NoCancel bool
	// ToolPrefix stands before the names of the tools of the MCP server, as deployments
	// of Workday have one [none].
	ToolPrefix string
	// Logger receives one line for each request [none].
	Logger *slog.Logger
}

// Credentials are what an API client registered in the tenant holds.
type Credentials struct {
	Tenant       string `json:"tenant"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
}

// Tenant is a running sandbox; it is an http.Handler.
type Tenant struct {
	*sandboxkit.Control
	cfg    Config
	routes *http.ServeMux
	limit  *rate.Limiter // nil when unlimited

	// mu guards everything below; it is never held while a body is read or
	// an answer is written.
	mu     sync.Mutex
	books  books
	tokens tokens
}

// New seeds a tenant.
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

// Reset puts the tenant back to its first state: data, tokens, faults, records
// and clock.
func (t *Tenant) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := &t.books // the services know where they are
	*b = books{clock: t.cfg.Now, needsApproval: t.cfg.NeedsApproval, company: seedCompany(t.cfg.Seed, t.cfg.Workers, t.cfg.Tenant)}
	b.absence = seedAbsence(t.cfg.Seed, b.company)
	b.process = seedProcess(b.company, b.absence)
	t.tokens = newTokens(t.cfg)
	t.Forget()
}

// Credentials are those of the integration system user, who may read everyone
// and submit for everyone, and approves nothing.
func (t *Tenant) Credentials() Credentials {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tokens.credentials(systemUser)
}

// CredentialsFor are those of a worker, such as a manager who approves.
func (t *Tenant) CredentialsFor(workerID string) Credentials {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tokens.credentials(workerID)
}

// ExpireTokens makes every access token unknown, as an idle hour would.
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

// ApproveAll approves every step that waits, the company's history excepted, as
// the person whom it awaits, and counts them.
func (t *Tenant) ApproveAll() int {
	return t.decideAll(EffectStepApproved, func(e *event, s *step) {
		s.finish(stepCompleted, s.assigneeID, "", t.books.now())
		t.books.complete(e)
	})
}

// DenyAll denies every step that waits, the company's history excepted, as the
// person whom it awaits, and counts them.
func (t *Tenant) DenyAll(comment string) int {
	return t.decideAll(EffectStepDenied, func(e *event, s *step) {
		s.finish(stepDenied, s.assigneeID, comment, t.books.now())
		t.books.stop(e, eventDenied, statusGone)
	})
}

// OpenStep is a step of a business process that waits for somebody.
type OpenStep struct {
	ID         string `json:"id"`
	EventID    string `json:"event_id"`
	WorkerID   string `json:"worker_id"`
	AssigneeID string `json:"assignee_id"`
}

// OpenSteps lists the steps that wait, the company's history excepted.
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

// Worker is what a test needs to know of a person in the company.
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

// People lists the company in the order of its seeding, terminated people
// included.
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
