package domainclient

import (
	"math/rand/v2"
	"sync"
	"time"
)

// outcome is what a call says about the domain behind it.
type outcome int

const (
	outcomeNeutral outcome = iota // says nothing, such as a cancelled call
	outcomeAlive
	outcomeBroken
)

// breaker keeps calls away from a domain that breaks one after the other. It
// delays: whoever is turned away is told when to come again.
type breaker struct {
	threshold int
	shortest  time.Duration
	longest   time.Duration
	now       func() time.Time

	mu        sync.Mutex // guards the fields below
	broken    int        // in a row
	opened    int        // times in a row
	openUntil time.Time
	probing   bool
}

// admit reports whether a call may go, or after which time to ask again. Once
// the pause is over one call is let through to try.
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

// record takes the outcome of an admitted call.
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

// open begins a pause, twice as long as the one before; the caller holds mu.
func (b *breaker) open() {
	if b.now().Before(b.openUntil) {
		return // a straggler from before the pause
	}
	pause := b.longest
	if shift := b.opened; shift < 16 {
		pause = min(b.shortest<<shift, b.longest)
	}
	b.opened++
	b.openUntil = b.now().Add(jitter(pause))
}

// jitter spreads a time over [d, 1.25 d), so that many waiters do not come
// back together.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return d
	}
	return d + rand.N(d/4+1) //nolint:gosec // spreading load needs no secrecy
}
