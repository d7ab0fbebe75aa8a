package access

import (
	"cmp"
	"math"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/ratelimit"
)

// LimitConfig bounds how often one caller may start a session; zero values
// take the defaults in brackets.
type LimitConfig struct {
	PerMinute int // sessions that may be started per minute, in the long run [30]
	Burst     int // sessions that may be started at once [10]
	// Now is the clock [time.Now].
	Now func() time.Time
}

// RetryAfter is the Detail of a rate_limited error.
type RetryAfter struct {
	Seconds int `json:"retry_after_s"`
}

// Limiter bounds how often each caller starts a session.
type Limiter struct {
	limit   ratelimit.Limit
	now     func() time.Time
	buckets ratelimit.Keyed
}

// NewLimiter makes a limiter.
func NewLimiter(cfg LimitConfig) (*Limiter, error) {
	if cfg.PerMinute < 0 || cfg.Burst < 0 {
		return nil, contracts.Invalid("the rate limit must not be negative")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	limit := ratelimit.Limit{PerMinute: float64(cmp.Or(cfg.PerMinute, 30)), Burst: cmp.Or(cfg.Burst, 10)}
	return &Limiter{limit: limit, now: cfg.Now}, nil
}

// StartSession takes a token of the caller, or says when there will be one.
func (l *Limiter) StartSession(subject string) error {
	wait := l.buckets.Take(subject, l.limit, l.now())
	if wait <= 0 {
		return nil
	}
	seconds := int(math.Ceil(wait.Seconds()))
	err := contracts.Errorf(contracts.CodeRateLimited, "too many sessions were started; the next one may start in %d s", seconds)
	err.Detail = RetryAfter{Seconds: seconds}
	return err
}
