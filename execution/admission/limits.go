package admission

import (
	"sync"
	"time"

	"github.com/manifold-run/manifold/internal/ratelimit"
)

// Limits bounds how many exchanges are under way: in all across the runs of this
// replica, and for each capability also together with other servers. Whoever is refused is told when there
// may be room again, and tries again: no place is ever given to somebody who
// has gone. It is safe for concurrent use.
type Limits struct {
	// calls bounds the exchanges in all.
	calls int

	mu sync.Mutex // guards the maps
	// held counts the exchanges under each key; waiting holds, for each key, the
	// nudge of every run that was refused.
	held    map[Key]int
	waiting map[Key]map[string]func()
	// rates has one bucket for each key, at most one for each capability.
	rates ratelimit.Keyed

	// quota is what is kept with other servers; claims are the places that this one
	// has or wants of them, by the goroutines of spawn.
	quota  Quota
	claims map[Key]*claim
	spawn  func(func())
	ended  <-chan struct{}
}

// NewLimits makes limits for so many exchanges at once.
func NewLimits(calls int) *Limits {
	return &Limits{calls: calls, held: map[Key]int{}, waiting: map[Key]map[string]func(){}}
}

// acquire takes one place under the key, or notes that the run wants to be
// nudged once when one is given back. A limit of 0 means none.
func (l *Limits) acquire(key Key, limit int, runID string, nudge func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if limit > 0 && l.held[key] >= l.localShare(key, limit) {
		if l.waiting[key] == nil {
			l.waiting[key] = map[string]func(){}
		}
		l.waiting[key][runID] = nudge
		l.requestSlot(key, limit)
		return false
	}
	l.held[key]++
	return true
}

// release gives a place back and nudges all who wait for one.
func (l *Limits) release(key Key) {
	l.mu.Lock()
	if l.held[key]--; l.held[key] <= 0 {
		delete(l.held, key)
		if c := l.claims[key]; c != nil {
			select {
			case c.idle <- struct{}{}:
			default: // it is told already
			}
		}
	}
	nudges := l.takeWaiting(key)
	l.mu.Unlock()
	for _, nudge := range nudges {
		nudge()
	}
}

// takeWaiting returns the nudges of those who wait for a key, who then try again; the
// caller holds mu.
func (l *Limits) takeWaiting(key Key) map[string]func() {
	nudges := l.waiting[key]
	delete(l.waiting, key)
	return nudges
}

// allow takes one call of a limit per minute, or says how long to wait. Within
// any minute there are never more than the limit: what may come at once is a
// tenth of it, and the rest comes evenly.
func (l *Limits) allow(key Key, limit int, now time.Time) time.Duration {
	if limit <= 0 {
		return 0
	}
	return l.rates.Take(key.of, l.quota.Share.Strictly(limit), now)
}
