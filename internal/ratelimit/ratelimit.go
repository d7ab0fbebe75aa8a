// Package ratelimit implements token buckets by key, such as a caller or a capability. It is the
// only rate limiter of the server. Its users define the keys and the errors for callers that must
// wait.
package ratelimit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limit is a rate limit: PerMinute is the sustained rate, Burst the number of events allowed at
// once.
type Limit struct {
	PerMinute float64
	Burst     int
}

// Strict returns a limit that is not exceeded in any minute. With a full bucket of perMinute
// tokens, the first minute would allow nearly twice as many.
func Strict(perMinute int) Limit {
	burst := max(perMinute/10, 1)
	return Limit{PerMinute: float64(perMinute - burst + 1), Burst: burst}
}

// maxBuckets is the number of buckets from which full ones are removed.
const maxBuckets = 10_000

// Keyed holds the buckets in memory: after a restart all are full. It is safe for concurrent use.
// The zero value is ready to use.
type Keyed struct {
	mu      sync.Mutex // guards buckets
	buckets map[string]*bucket
}

// bucket is a limiter with its limit.
type bucket struct {
	*rate.Limiter

	limit Limit
}

// Take takes one token of a key and returns 0, or takes none and returns how long to wait for
// one. If the limit of a key has changed, the bucket keeps its tokens up to the new burst, so
// that a change of the number of servers does not fill buckets.
func (k *Keyed) Take(key string, limit Limit, now time.Time) (wait time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.buckets[key]
	switch {
	case b == nil:
		k.sweep(now)
		b = &bucket{Limiter: rate.NewLimiter(rate.Limit(limit.PerMinute/60), limit.Burst), limit: limit}
		if k.buckets == nil {
			k.buckets = map[string]*bucket{}
		}
		k.buckets[key] = b
	case b.limit != limit:
		b.SetLimitAt(now, rate.Limit(limit.PerMinute/60))
		b.SetBurstAt(now, limit.Burst)
		b.limit = limit
	}
	taken := b.ReserveN(now, 1)
	if wait = taken.DelayFrom(now); wait > 0 {
		taken.CancelAt(now)
	}
	return wait
}

// sweep removes full buckets if there are many. The caller holds mu.
func (k *Keyed) sweep(now time.Time) {
	if len(k.buckets) < maxBuckets {
		return
	}
	for key, b := range k.buckets {
		if b.TokensAt(now) >= float64(b.Burst()) {
			delete(k.buckets, key)
		}
	}
}

// Len returns the number of buckets.
func (k *Keyed) Len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.buckets)
}
