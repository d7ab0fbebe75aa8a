// Package ratelimit keeps one token bucket for each key: for each caller, or for
// each capability. It is the only rate limiter of the server; what a key is, and what
// to say to who must wait, is its users' business.
package ratelimit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limit is how often something may happen: PerMinute in the long run, Burst at
// once.
type Limit struct {
	PerMinute float64
	Burst     int
}

// Strict returns a limit that no minute ever exceeds: a bucket that is full at the
// beginning would let nearly twice as much through in the first.
func Strict(perMinute int) Limit {
	burst := max(perMinute/10, 1)
	return Limit{PerMinute: float64(perMinute - burst + 1), Burst: burst}
}

// maxBuckets is when full buckets, which say nothing, are thrown away.
const maxBuckets = 10_000

// Keyed keeps the buckets, in memory: after a restart all are full. It is safe
// for concurrent use; the zero value is ready.
type Keyed struct {
	mu      sync.Mutex // guards buckets
	buckets map[string]*bucket
}

// bucket is a limiter with the limit that it was made for.
type bucket struct {
	*rate.Limiter

	limit Limit
}

// Take takes one token of the key, or takes none and says how long to wait for
// it. A key whose limit has changed keeps the tokens that it has, as far as the
// new one allows: who comes and goes among the servers fills no bucket.
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

// sweep keeps the map small; the caller holds mu.
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

// Len is how many keys are kept.
func (k *Keyed) Len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.buckets)
}
