package httpapi

import (
	"math"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/ratelimit"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// limiter limits the request rate of each caller.
type limiter struct {
	limit   ratelimit.Limit
	share   *ratelimit.Share // this server's share of the limit; nil means all of it
	now     func() time.Time
	buckets ratelimit.Keyed
}

func newLimiter(perMinute, burst int, share *ratelimit.Share, now func() time.Time) *limiter {
	return &limiter{share: share, limit: ratelimit.Limit{PerMinute: float64(perMinute), Burst: burst}, now: now}
}

// take takes one token of the subject. Its error says when the next one is available.
func (l *limiter) take(subject string) error {
	wait := l.buckets.Take(subject, l.share.Of(l.limit), l.now())
	if wait <= 0 {
		return nil
	}
	seconds := int(math.Ceil(wait.Seconds()))
	err := contracts.Errorf(contracts.CodeRateLimited, "too many requests; go on in %d s", seconds)
	err.Detail = access.RetryAfter{Seconds: seconds}
	return err
}
