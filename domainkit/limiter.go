package domainkit

import (
	"sync"
	"time"
)

// limiter bounds the concurrent executions and the starts per minute. It never blocks: a caller
// without a slot is told when to retry.
type limiter struct {
	concurrent int // 0: no limit
	perMinute  int // 0: no limit

	mu     sync.Mutex // guards the fields below
	active int
	// tokens is the content of a token bucket that holds one minute's worth.
	tokens   float64
	filledAt time.Time
}

func newLimiter(concurrent, perMinute int) *limiter {
	return &limiter{concurrent: concurrent, perMinute: perMinute, tokens: float64(perMinute)}
}

// take acquires a slot, or returns when to retry; 0 means soon.
func (l *limiter) take(now time.Time) (ok bool, after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.concurrent > 0 && l.active >= l.concurrent {
		return false, 0
	}
	if l.perMinute > 0 {
		l.fill(now)
		if l.tokens < 1 {
			missing := (1 - l.tokens) * float64(time.Minute) / float64(l.perMinute)
			return false, time.Duration(missing)
		}
		l.tokens--
	}
	l.active++
	return true, 0
}

// fill refills the bucket; a clock that goes back adds nothing. The caller holds mu.
func (l *limiter) fill(now time.Time) {
	if !l.filledAt.IsZero() && now.After(l.filledAt) {
		l.tokens += now.Sub(l.filledAt).Minutes() * float64(l.perMinute)
		l.tokens = min(l.tokens, float64(l.perMinute))
	}
	l.filledAt = now
}

// give releases a slot.
func (l *limiter) give() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
}
