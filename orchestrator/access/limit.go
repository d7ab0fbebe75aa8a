package access

import (
	"cmp"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/manifold-run/manifold/contracts"
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

// Limiter keeps a token bucket for each caller, in memory: after a restart
// everyone has a full one.
type Limiter struct {
	every rate.Limit
	burst int
	now   func() time.Time

	mu      sync.Mutex // guards buckets
	buckets map[string]*rate.Limiter
}

// NewLimiter makes a limiter.
func NewLimiter(cfg LimitConfig) (*Limiter, error) {
	if cfg.PerMinute < 0 || cfg.Burst < 0 {
		return nil, contracts.Invalid("the rate limit must not be negative")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Limiter{
		every: rate.Limit(float64(cmp.Or(cfg.PerMinute, 30)) / 60), burst: cmp.Or(cfg.Burst, 10),
		now: cfg.Now, buckets: map[string]*rate.Limiter{},
	}, nil
}

// maxBuckets is when full buckets, which say nothing, are thrown away.
const maxBuckets = 10_000

// StartSession takes a token of the caller, or says when there will be one.
func (l *Limiter) StartSession(subject string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	bucket, ok := l.buckets[subject]
	if !ok {
		l.sweep(now)
		bucket = rate.NewLimiter(l.every, l.burst)
		l.buckets[subject] = bucket
	}
	taken := bucket.ReserveN(now, 1)
	wait := taken.DelayFrom(now)
	if wait <= 0 {
		return nil
	}
	taken.CancelAt(now)
	seconds := int(math.Ceil(wait.Seconds()))
	err := contracts.Errorf(contracts.CodeRateLimited, "too many sessions were started; the next one may start in %d s", seconds)
	err.Detail = RetryAfter{Seconds: seconds}
	return err
}

// sweep keeps the map small; the caller holds mu.
func (l *Limiter) sweep(now time.Time) {
	if len(l.buckets) < maxBuckets {
		return
	}
	for subject, bucket := range l.buckets {
		if bucket.TokensAt(now) >= float64(l.burst) {
			delete(l.buckets, subject)
		}
	}
}
