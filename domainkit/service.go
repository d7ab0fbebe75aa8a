package domainkit

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Config configures a domain. Domain and Version are required; [brackets] give the default of other
// fields.
type Config struct {
	// Domain is the domain's name and the namespace of its capabilities.
	Domain string
	// Version is the domain's version, shown in its manifest and health.
	Version     string
	Title       string
	Description string
	// Instances are the installations that the domain works with. A call without an instance uses
	// the default one.
	Instances []contracts.Instance
	// Skills are Markdown texts for prompts, by name.
	Skills map[string]string
	// Tests are example messages with the intents that they must be routed to.
	Tests []contracts.RoutingTest
	// Hints is the content of a hints file: a manifest in which every part is optional, merged with
	// what the code declares.
	Hints []byte

	// Tokens are the accepted bearer tokens, for every endpoint. Configure two to replace a token
	// without downtime. Without tokens there is no authentication.
	Tokens []string
	// Checks are the health checks, by name.
	Checks map[string]Check
	// Store stores the idempotency keys [in memory].
	Store Store

	// AcceptAfter is how long a request is held before it is answered with 202 [20 s; at most 25 s,
	// because an exchange ends at 30 s].
	AcceptAfter time.Duration
	// RetryAfter is the Retry-After of a 202 or 429 [1 s].
	RetryAfter time.Duration
	// OperationTTL is how long the result of a 202 can be polled after its end [10 min].
	OperationTTL time.Duration
	// MaxConcurrent bounds the concurrent executions of all capabilities [256].
	MaxConcurrent int
	// MaxBodyBytes bounds a request body [32 MiB].
	MaxBodyBytes int64
	// ShutdownGrace is how long running work may continue after a stop [25 s].
	ShutdownGrace time.Duration

	// Logger logs one line per execution, and failures [none].
	Logger *slog.Logger
	// Now is the clock for timestamps, leases and expiry [time.Now].
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	c.AcceptAfter = cmp.Or(c.AcceptAfter, 20*time.Second)
	c.RetryAfter = cmp.Or(c.RetryAfter, time.Second)
	c.OperationTTL = cmp.Or(c.OperationTTL, 10*time.Minute)
	c.MaxConcurrent = cmp.Or(c.MaxConcurrent, 256)
	c.MaxBodyBytes = cmp.Or(c.MaxBodyBytes, contracts.MaxCallBytes)
	c.ShutdownGrace = cmp.Or(c.ShutdownGrace, 25*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Store == nil {
		c.Store = NewMemoryStore(0)
	}
	return c
}

// maxAcceptAfter leaves time to send the answer within one exchange.
const maxAcceptAfter = contracts.MaxExchange - 5*time.Second

func (c Config) check() error {
	var faults []error
	if c.Domain == "" {
		faults = append(faults, errors.New("domain is empty"))
	}
	if c.Version == "" {
		faults = append(faults, errors.New("version is empty"))
	}
	if c.AcceptAfter < 0 || c.AcceptAfter > maxAcceptAfter {
		faults = append(faults, fmt.Errorf("accept after %s: must be between 0 and %s", c.AcceptAfter, maxAcceptAfter))
	}
	for _, limit := range []int64{int64(c.RetryAfter), int64(c.OperationTTL), int64(c.MaxConcurrent), c.MaxBodyBytes, int64(c.ShutdownGrace)} {
		if limit < 0 {
			faults = append(faults, fmt.Errorf("a limit is negative: %d", limit))
		}
	}
	for i, token := range c.Tokens {
		if token == "" {
			faults = append(faults, fmt.Errorf("token %d is empty", i))
		}
	}
	for name, check := range c.Checks {
		if check.Run == nil {
			faults = append(faults, fmt.Errorf("health check %q has no function", name))
		}
	}
	return errors.Join(faults...)
}

// Service is a domain server. Add all capabilities first; Manifest, Handler, Run and Serve fix the
// manifest. Its methods are safe for concurrent use.
type Service struct {
	config   Config
	log      *slog.Logger
	executor *executor
	checks   []*checker

	mu sync.Mutex // guards the fields below
	// declared are in the order of Add.
	declared []*capability
	// built is set once the manifest is fixed.
	built *build
}

// New returns a service without capabilities. It fails if the config is invalid.
func New(config Config) (*Service, error) {
	if err := config.check(); err != nil {
		return nil, fmt.Errorf("domain %q: %w", config.Domain, err)
	}
	config = config.withDefaults()
	log := config.Logger.With(slog.String("domain", config.Domain))
	return &Service{
		config: config, log: log, checks: newCheckers(config.Checks),
		executor: &executor{config: config, log: log, slots: newLimiter(config.MaxConcurrent, 0), running: newOperations()},
	}, nil
}
