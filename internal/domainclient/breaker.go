package domainclient

import (
	"math/rand/v2"
	"sync"
	"time"
)

// outcome is what the result of a call implies for the state of its domain.
type outcome int

const (
	outcomeNeutral outcome = iota // implies nothing, such as a cancelled call
	outcomeAlive
	outcomeBroken
)

// breaker is a circuit breaker for a domain. It only delays calls: a rejected caller is told when
// to retry.
type breaker struct {
	threshold int
	shortest  time.Duration
	longest   time.Duration
	now       func() time.Time

	mu        sync.Mutex // guards the fields below
	broken    int        // consecutive broken calls
	opened    int        // consecutive openings
	openUntil time.Time
	probing   bool
}

// admit reports whether a call may proceed, or how long to wait. After the pause, one call is
// admitted as a probe.
func (b *breaker) admit() (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened == 0 {
		return 0, true
	}
	if left := b.openUntil.Sub(b.now()); left > 0 {
		return left, false
	}
	if b.probing {
		return b.shortest, false
	}
	b.probing = true
	return 0, true
}

// record records the outcome of an admitted call.
func (b *breaker) record(o outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	switch o {
	case outcomeNeutral:
	case outcomeAlive:
		b.broken, b.opened = 0, 0
	case outcomeBroken:
		b.broken++
		if b.opened > 0 || b.broken >= b.threshold {
			b.open()
		}
	}
}

// open starts a pause, twice as long as the previous one. The caller holds mu.
func (b *breaker) open() {
	if b.now().Before(b.openUntil) {
		return // a call that began before the pause
	}
	pause := b.longest
	if shift := b.opened; shift < 16 {
		pause = min(b.shortest<<shift, b.longest)
	}
	b.opened++
	b.openUntil = b.now().Add(jitter(pause))
}

// jitter returns a random time in [d, 1.25 d), so that many waiters do not retry at once.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return d
	}
	return d + rand.N(d/4+1) //nolint:gosec // spreading load needs no secrecy
}
