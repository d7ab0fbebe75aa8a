package httpapi

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// maxBuckets is when full buckets, which say nothing, are thrown away.
const maxBuckets = 10_000

// limiter keeps a token bucket of requests for each caller.
type limiter struct {
	every rate.Limit
	burst int
	now   func() time.Time

	mu      sync.Mutex // guards buckets
	buckets map[string]*rate.Limiter
}

func newLimiter(perMinute, burst int, now func() time.Time) *limiter {
	return &limiter{every: rate.Limit(float64(perMinute) / 60), burst: burst, now: now, buckets: map[string]*rate.Limiter{}}
}

// take spends a token of the subject, or says when there will be one.
func (l *limiter) take(subject string) error {
	now := l.now()
	taken := l.bucket(subject, now).ReserveN(now, 1)
	wait := taken.DelayFrom(now)
	if wait <= 0 {
		return nil
	}
	taken.CancelAt(now)
	seconds := int(math.Ceil(wait.Seconds()))
	err := contracts.Errorf(contracts.CodeRateLimited, "too many requests; go on in %d s", seconds)
	err.Detail = access.RetryAfter{Seconds: seconds}
	return err
}

func (l *limiter) bucket(subject string, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.buckets[subject]; ok {
		return b
	}
	if len(l.buckets) >= maxBuckets {
		for name, b := range l.buckets {
			if b.TokensAt(now) >= float64(l.burst) {
				delete(l.buckets, name)
			}
		}
	}
	b := rate.NewLimiter(l.every, l.burst)
	l.buckets[subject] = b
	return b
}
