package sandboxkit

import (
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
)

// Request is a request that the sandbox received. Admin requests are not recorded.
type Request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	Status int    `json:"status"` // 0: the connection was cut without an answer
	Fault  Kind   `json:"fault,omitempty"`
}

// keptRequests bounds the record; when it is full, the older half is dropped.
const keptRequests = 10_000

// Control injects faults into a sandbox and records its requests. A sandbox embeds it, calls Arm at
// the start of every request and Log at the end. It is safe for concurrent use.
type Control struct {
	seed uint64
	log  *slog.Logger

	mu       sync.Mutex // guards all below
	rules    []*rule
	rng      *rand.Rand
	requests []*Request // newest last
	open     map[*http.Request]*Request
}

// NewControl returns a control without faults. The logger gets one line per request.
func NewControl(seed uint64, logger *slog.Logger) *Control {
	return &Control{seed: seed, log: logger, rng: NewRand(seed, "faults"), open: map[*http.Request]*Request{}}
}

// Inject adds a fault rule.
func (c *Control) Inject(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rules = append(c.rules, newRule(f))
}

// ClearFaults removes all rules.
func (c *Control) ClearFaults() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rules = nil
}

// Forget resets the control: no rules, no requests, and the random numbers from the start.
func (c *Control) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rules, c.requests, c.rng = nil, nil, NewRand(c.seed, "faults")
}

// Fired reports whether any rule has fired.
func (c *Control) Fired() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.rules, func(r *rule) bool { return r.fired > 0 })
}

// Requests returns the recorded requests, newest last.
func (c *Control) Requests() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Request, len(c.requests))
	for i, r := range c.requests {
		out[i] = *r
	}
	return out
}

// Arm records a request and returns the fault to play, or the zero Fault. Recording at the start
// also covers requests whose connection is cut.
func (c *Control) Arm(r *http.Request) Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	fault := c.choose(r)
	if len(c.requests) == keptRequests {
		c.requests = slices.Delete(c.requests, 0, keptRequests/2)
	}
	c.open[r] = &Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Fault: fault.Kind}
	c.requests = append(c.requests, c.open[r])
	return fault
}

// choose returns the fault of the first rule that fires. The caller holds mu.
func (c *Control) choose(r *http.Request) Fault {
	for _, rule := range c.rules {
		if rule.applies(r.Method, r.URL.Path) && rule.fires(c.rng) {
			return rule.Fault
		}
	}
	return Fault{}
}

// Log completes the record of an armed request. Status 0 means that the connection was cut.
func (c *Control) Log(r *http.Request, status int, fault Fault) {
	c.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", status), slog.String("fault", string(fault.Kind)))
	c.mu.Lock()
	defer c.mu.Unlock()
	if record, ok := c.open[r]; ok {
		record.Status = status
		delete(c.open, r)
	}
}

// NewRand returns a random generator per purpose, so that more draws for one purpose do not change
// those of another.
func NewRand(seed uint64, purpose string) *rand.Rand {
	var stream uint64
	for _, b := range []byte(purpose) {
		stream = stream*131 + uint64(b)
	}
	return rand.New(rand.NewPCG(seed, stream)) //nolint:gosec // seeded on purpose: a sandbox must be the same each time
}
