package admission

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/manifold-run/manifold/internal/ratelimit"
)

// SlotStore keeps slots that all servers share. If a limit has fewer slots than there are
// servers, a server must claim one.
type SlotStore interface {
	// ClaimPlace takes one of so many places of a key for ttl, or keeps the one that
	// this server has; false if others have all of them. It commits.
	ClaimPlace(ctx context.Context, key string, places int, ttl time.Duration) (bool, error)
	// ReturnPlace gives back the place that this server has of a key. It commits.
	ReturnPlace(ctx context.Context, key string) error
}

// Quota is how a server keeps its limits together with others on one database.
// The zero value is for one that is alone.
type Quota struct {
	// Share is this server's part of the limits of capabilities.
	Share *ratelimit.Share
	// Places keeps those of which there are too few to share.
	Places SlotStore
}

// ShareWith shares the limits with other servers until ctx ends and no call is under way;
// spawn runs the goroutines for it. It must be called before there are runs.
func (l *Limits) ShareWith(ctx context.Context, q Quota, spawn func(func())) {
	l.quota, l.spawn, l.ended, l.claims = q, spawn, ctx.Done(), map[Key]*claim{}
}

const (
	// claimFor is how long a server that says nothing more keeps a place, as it
	// keeps a run; claimAgain is how often it says so.
	claimFor   = 10 * time.Second
	claimAgain = 3 * time.Second
	// claimTurn is how long one server uses a place while runs wait, and claimRest
	// how long it then leaves it to others: longer than these wait between two looks.
	claimTurn = 5 * time.Second
	claimRest = 300 * time.Millisecond
	// claimLook is how often at most a server looks for a place that others have.
	claimLook = 200 * time.Millisecond
	// claimIdle is how long a place is kept that no call uses.
	claimIdle = 10 * time.Millisecond
)

// claim is a place that this server has or wants. It is in the map as long as a
// goroutine keeps it; mu of the limits guards the fields.
type claim struct {
	// until is when the place may be another server's.
	until time.Time
	// open means that calls may use it.
	open bool
	// idle is told when no call is under way any more.
	idle chan struct{}
}

// claimed reports whether the places of a limit are claimed. A single place always
// is: a server that comes must not find another one using it.
func (l *Limits) claimed(key Key, limit int) bool {
	return l.quota.Places != nil && key.kind == ofCapability && limit > 0 && (limit == 1 || limit < l.quota.Share.Servers())
}

// localShare returns how many slots of a key this server may use now. The caller holds mu.
func (l *Limits) localShare(key Key, limit int) int {
	if key.kind != ofCapability || limit == 0 {
		return limit // of this server alone
	}
	if !l.claimed(key, limit) {
		return l.quota.Share.Places(limit)
	}
	if c := l.claims[key]; c != nil && c.open && time.Now().Before(c.until.Add(-claimAgain)) {
		return 1
	}
	return 0
}

// requestSlot claims a slot for a run that waits for one. The caller holds mu.
func (l *Limits) requestSlot(key Key, limit int) {
	if l.claimed(key, limit) && l.claims[key] == nil {
		c := &claim{idle: make(chan struct{}, 1)}
		l.claims[key] = c
		l.spawn(func() { l.holdSlot(key, limit, c) })
	}
}

// holdSlot claims a slot while runs wait for it, lets them use it, and releases it.
func (l *Limits) holdSlot(key Key, places int, c *claim) {
	for pause := time.Duration(0); l.hasWaiters(key); {
		if l.renew(key, places, c) {
			l.useSlot(key, places, c)
			pause = claimRest
		} else { // others have all of them; half of a pause is by chance
			pause = min(max(2*pause, claimIdle), claimLook)
			pause = pause/2 + rand.N(pause) //nolint:gosec // spreads who looks
		}
		select {
		case <-time.After(pause):
		case <-l.ended:
		}
	}
}

// hasWaiters reports whether runs wait for a key, and ends its claim if none does.
func (l *Limits) hasWaiters(key Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.ended:
	default:
		if len(l.waiting[key]) > 0 {
			return true
		}
	}
	delete(l.claims, key)
	return false
}

// renew claims the place, or keeps it.
func (l *Limits) renew(key Key, places int, c *claim) bool {
	asked := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), claimAgain)
	defer cancel()
	ours, err := l.quota.Places.ClaimPlace(ctx, key.of, places, claimFor)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil: // it is kept until it ends
	case ours:
		c.until = asked.Add(claimFor)
	default:
		c.until = time.Time{}
	}
	return ours && err == nil
}

// useSlot lets runs use the slot until no call is under way and none is waiting, or this
// server's time slice is over and its calls have ended; then it releases the slot.
func (l *Limits) useSlot(key Key, places int, c *claim) {
	l.mu.Lock()
	c.open = true
	nudges := l.takeWaiting(key)
	l.mu.Unlock()
	for _, nudge := range nudges {
		nudge()
	}
	begun, turn, again := time.After(claimRest), time.After(claimTurn), time.NewTicker(claimAgain)
	defer again.Stop()
	for used := true; used; {
		select {
		case <-begun: // whoever was nudged has come, or never will
		case <-c.idle:
			time.Sleep(claimIdle) // whoever was nudged comes now
		case <-again.C:
			l.renew(key, places, c)
		case <-turn:
			l.mu.Lock()
			c.open = false
			l.mu.Unlock()
		}
		l.mu.Lock()
		if used = l.held[key] > 0; !used {
			c.open = false
		}
		l.mu.Unlock()
	}
	ctx, cancel := context.WithTimeout(context.Background(), claimAgain)
	defer cancel()
	_ = l.quota.Places.ReturnPlace(ctx, key.of) // else it ends by itself
}
