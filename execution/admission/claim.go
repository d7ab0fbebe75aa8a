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
	// ClaimPlace takes one of a key's slots for ttl, or extends the one that this server has. It
	// reports false if other servers have all of them. It commits.
	ClaimPlace(ctx context.Context, key string, places int, ttl time.Duration) (bool, error)
	// ReturnPlace releases this server's slot of a key. It commits.
	ReturnPlace(ctx context.Context, key string) error
}

// Quota shares limits with other servers on the same database. The zero value is for a single
// server.
type Quota struct {
	// Share is this server's part of the limits of capabilities.
	Share *ratelimit.Share
	// Places stores the slots of limits that are too small to share.
	Places SlotStore
}

// ShareWith shares the limits with other servers until ctx ends and no call is in flight. spawn
// runs its goroutines. It must be called before there are runs.
func (l *Limits) ShareWith(ctx context.Context, q Quota, spawn func(func())) {
	l.quota, l.spawn, l.ended, l.claims = q, spawn, ctx.Done(), map[Key]*claim{}
}

const (
	// claimFor is how long a slot is kept without renewal, like the lease of a run. claimAgain is
	// the renewal interval.
	claimFor   = 10 * time.Second
	claimAgain = 3 * time.Second
	// claimTurn is how long one server uses a slot while runs wait. claimRest is how long it then
	// leaves it to others: longer than the longest pause between two of their attempts.
	claimTurn = 5 * time.Second
	claimRest = 300 * time.Millisecond
	// claimLook is the longest pause between two attempts to get a slot.
	claimLook = 200 * time.Millisecond
	// claimIdle is how long an unused slot is kept.
	claimIdle = 10 * time.Millisecond
)

// claim is a slot that this server has or wants. It is in the map while a goroutine handles it. mu
// of the limits guards the fields.
type claim struct {
	// until is when another server may take the slot.
	until time.Time
	// open means that calls may use it.
	open bool
	// idle is notified when the last call in flight has ended.
	idle chan struct{}
}

// claimed reports whether slots of a limit must be claimed. A single slot always must: a new server
// must not use it while another one does.
func (l *Limits) claimed(key Key, limit int) bool {
	return l.quota.Places != nil && key.kind == ofCapability && limit > 0 && (limit == 1 || limit < l.quota.Share.Servers())
}

// localShare returns how many slots of a key this server may use now. The caller holds mu.
func (l *Limits) localShare(key Key, limit int) int {
	if key.kind != ofCapability || limit == 0 {
		return limit // not shared
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
		} else { // other servers have all slots; half of the pause is random
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

// renew claims the slot, or extends the claim.
func (l *Limits) renew(key Key, places int, c *claim) bool {
	asked := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), claimAgain)
	defer cancel()
	ours, err := l.quota.Places.ClaimPlace(ctx, key.of, places, claimFor)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil: // the claim is kept until it ends
	case ours:
		c.until = asked.Add(claimFor)
	default:
		c.until = time.Time{}
	}
	return ours && err == nil
}

// useSlot lets runs use the slot until no call is in flight or waiting, or until the server's time
// slice is over and its calls have ended. Then it releases the slot.
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
		case <-begun: // runs that were nudged have called by now, or will not
		case <-c.idle:
			time.Sleep(claimIdle) // runs that were nudged call now
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
	_ = l.quota.Places.ReturnPlace(ctx, key.of) // else the claim expires by itself
}
