package httpapi

import (
	"math"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/ratelimit"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// limiter bounds the requests of each caller.
type limiter struct {
	limit   ratelimit.Limit
	share   *ratelimit.Share // what this server has of it; nil is all
	now     func() time.Time
	buckets ratelimit.Keyed
}

func newLimiter(perMinute, burst int, share *ratelimit.Share, now func() time.Time) *limiter {
	return &limiter{share: share, limit: ratelimit.Limit{PerMinute: float64(perMinute), Burst: burst}, now: now}
}

// take spends a token of the subject, or says when there will be one.
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
