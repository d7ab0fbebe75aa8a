package domainkit

import (
	"sync"
	"time"
)

// limiter bounds how many executions run at once and how many begin in a
// minute. It never waits: who gets no slot is told when to come back.
type limiter struct {
	concurrent int // 0: no limit
	perMinute  int // 0: no limit

	mu     sync.Mutex // guards the fields below
	active int
	// tokens is the content of a bucket that holds a minute's worth.
	tokens   float64
	filledAt time.Time
}

func newLimiter(concurrent, perMinute int) *limiter {
	return &limiter{concurrent: concurrent, perMinute: perMinute, tokens: float64(perMinute)}
}

// take takes a slot, or says after how long to try again; 0 means: soon.
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

// fill is called with mu held. A clock that jumps back adds nothing.
func (l *limiter) fill(now time.Time) {
	if !l.filledAt.IsZero() && now.After(l.filledAt) {
		l.tokens += now.Sub(l.filledAt).Minutes() * float64(l.perMinute)
		l.tokens = min(l.tokens, float64(l.perMinute))
	}
	l.filledAt = now
}

// give gives a slot back.
func (l *limiter) give() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
}
