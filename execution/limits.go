package execution

import (
	"sync"
	"time"
)

// limits bounds, across the runs of this replica, how many exchanges are under
// way: in all and for each capability. Whoever is refused is told when there
// may be room again, and tries anew: no place is ever given to somebody who
// has gone.
type limits struct {
	mu sync.Mutex // guards the maps
	// held counts the exchanges under each key; waiting holds, for each key, the
	// nudge of every run that was refused.
	held    map[string]int
	waiting map[string]map[string]func()
	// tokens are the rate-limit buckets.
	tokens map[string]bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func newLimits() *limits {
	return &limits{held: map[string]int{}, waiting: map[string]map[string]func(){}, tokens: map[string]bucket{}}
}

// acquire takes one place under the key, or notes that the run wants to be
// nudged once when one is given back. A limit of 0 means none.
func (l *limits) acquire(key string, limit int, runID string, nudge func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if limit > 0 && l.held[key] >= limit {
		if l.waiting[key] == nil {
			l.waiting[key] = map[string]func(){}
		}
		l.waiting[key][runID] = nudge
		return false
	}
	l.held[key]++
	return true
}

// release gives a place back and nudges all who wait for one.
func (l *limits) release(key string) {
	l.mu.Lock()
	if l.held[key]--; l.held[key] <= 0 {
		delete(l.held, key)
	}
	nudges := l.waiting[key]
	delete(l.waiting, key)
	l.mu.Unlock()
	for _, nudge := range nudges {
		nudge()
	}
}

// allow takes one token of a rate limit per minute, or says how long to wait.
func (l *limits) allow(key string, perMinute int, now time.Time) time.Duration {
	if perMinute <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	perSecond := float64(perMinute) / 60
	b, ok := l.tokens[key]
	if !ok {
		b = bucket{left: float64(perMinute), at: now}
	}
	b.left = min(float64(perMinute), b.left+now.Sub(b.at).Seconds()*perSecond)
	b.at = now
	defer func() { l.tokens[key] = b }()
	if b.left >= 1 {
		b.left--
		return 0
	}
	return time.Duration((1 - b.left) / perSecond * float64(time.Second))
}
