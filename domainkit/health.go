package domainkit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Check is a health check of something that the domain depends on.
type Check struct {
	// Run returns nil if the dependency works. It must return when its context ends.
	Run func(ctx context.Context) error
	// Optional makes a failure report degraded instead of down.
	Optional bool
	// Timeout bounds one run [2 s].
	Timeout time.Duration
}

const defaultCheckTimeout = 2 * time.Second

// checker runs one check, at most once at a time, so that hanging checks do not pile up with every
// request.
type checker struct {
	name  string
	check Check

	mu sync.Mutex // guards running
	// running is nil if no run is in progress. It is closed when the run ends and last is set.
	running chan struct{}
	last    error
}

func newCheckers(checks map[string]Check) []*checker {
	var out []*checker
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		c := checks[name]
		if c.Timeout <= 0 {
			c.Timeout = defaultCheckTimeout
		}
		out = append(out, &checker{name: name, check: c})
	}
	return out
}

// start starts a run, or joins the current one.
func (c *checker) start(ctx context.Context) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != nil {
		return c.running
	}
	done := make(chan struct{})
	c.running = done
	// Several requests may share the run, so it does not end with this one.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.check.Timeout)
	go func() {
		defer cancel()
		err := protect(ctx, c.check.Run)
		c.mu.Lock()
		c.last, c.running = err, nil
		c.mu.Unlock()
		close(done)
	}()
	return done
}

func protect(ctx context.Context, run func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return run(ctx)
}

// result waits for a run and returns its outcome.
func (c *checker) result(ctx context.Context) contracts.HealthCheck {
	timer := time.NewTimer(c.check.Timeout)
	defer timer.Stop()
	err := errors.New("no answer in time")
	select {
	case <-c.start(ctx):
		c.mu.Lock()
		err = c.last
		c.mu.Unlock()
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	switch {
	case err == nil:
		return contracts.HealthCheck{Status: contracts.HealthOK}
	case c.check.Optional:
		return contracts.HealthCheck{Status: contracts.HealthDegraded, Detail: contracts.CleanSummary(err.Error())}
	default:
		return contracts.HealthCheck{Status: contracts.HealthDown, Detail: contracts.CleanSummary(err.Error())}
	}
}

// Health runs all checks concurrently and returns the worst status with the result of each.
func (s *Service) Health(ctx context.Context) contracts.Health {
	results := make([]contracts.HealthCheck, len(s.checks))
	var all sync.WaitGroup
	for i, c := range s.checks {
		all.Go(func() { results[i] = c.result(ctx) })
	}
	all.Wait()
	out := contracts.Health{Status: contracts.HealthOK, Version: s.config.Version}
	for i, c := range s.checks {
		if out.Checks == nil {
			out.Checks = map[string]contracts.HealthCheck{}
		}
		out.Checks[c.name] = results[i]
		out.Status = worse(out.Status, results[i].Status)
	}
	return out
}

func worse(a, b contracts.HealthStatus) contracts.HealthStatus {
	if a == contracts.HealthDown || b == contracts.HealthDown {
		return contracts.HealthDown
	}
	if a == contracts.HealthDegraded || b == contracts.HealthDegraded {
		return contracts.HealthDegraded
	}
	return contracts.HealthOK
}

func (s *Service) serveHealth(w http.ResponseWriter, r *http.Request) {
	s.write(w, r, reply{status: http.StatusOK, body: s.Health(r.Context())})
}
