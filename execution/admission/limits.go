package admission

import (
	"sync"
	"time"

	"github.com/manifold-run/manifold/internal/ratelimit"
)

// Limits limits the exchanges in flight: in total across the runs of this replica, and per
// capability also together with other servers. A run that was refused is nudged when there may be a
// free slot, and tries again: a slot is never reserved for a run that may be gone. It is safe for
// concurrent use.
type Limits struct {
	// calls limits the exchanges in total.
	calls int

	mu sync.Mutex // guards the maps
	// held counts the exchanges under each key. waiting has, for each key, the nudge of every run
	// that was refused.
	held    map[Key]int
	waiting map[Key]map[string]func()
	// rates has one bucket per key, at most one per capability.
	rates ratelimit.Keyed

	// quota is shared with other servers. claims are the slots of it that this server has or wants,
	// handled by the goroutines of spawn.
	quota  Quota
	claims map[Key]*claim
	spawn  func(func())
	ended  <-chan struct{}
}

// NewLimits returns limits for the given number of concurrent exchanges.
func NewLimits(calls int) *Limits {
	return &Limits{calls: calls, held: map[Key]int{}, waiting: map[Key]map[string]func(){}}
}

// acquire takes one slot of the key, or registers the run's nudge, which is called once when a slot
// is released. A limit of 0 means unlimited.
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

// release releases a slot and nudges all runs that wait for one.
func (l *Limits) release(key Key) {
	l.mu.Lock()
	if l.held[key]--; l.held[key] <= 0 {
		delete(l.held, key)
		if c := l.claims[key]; c != nil {
			select {
			case c.idle <- struct{}{}:
			default: // already notified
			}
		}
	}
	nudges := l.takeWaiting(key)
	l.mu.Unlock()
	for _, nudge := range nudges {
		nudge()
	}
}

// takeWaiting removes and returns the nudges of the runs that wait for a key. The caller holds mu.
func (l *Limits) takeWaiting(key Key) map[string]func() {
	nudges := l.waiting[key]
	delete(l.waiting, key)
	return nudges
}

// allow takes one call of a limit per minute, or returns how long to wait. No minute has more calls
// than the limit: a tenth of it may come at once, the rest is spread evenly.
func (l *Limits) allow(key Key, limit int, now time.Time) time.Duration {
	if limit <= 0 {
		return 0
	}
	return l.rates.Take(key.of, l.quota.Share.Strictly(limit), now)
}
