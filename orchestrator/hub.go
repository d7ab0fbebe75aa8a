package orchestrator

import (
	"context"
	"sync"
	"time"
)

// Hub tells those who wait for a session that something was committed: a run, a
// question, or a turn. It is only a hint: whoever waits looks at the store. Who
// commits in this process says so, and nobody asks the store in between.
type Hub struct {
	mu      sync.Mutex // guards waiting
	waiting map[string]map[chan struct{}]bool
}

// NewHub makes a hub; the runner and the use cases share it.
func NewHub() *Hub { return &Hub{waiting: map[string]map[chan struct{}]bool{}} }

// Committed wakes those who wait for the session; it never blocks.
func (h *Hub) Committed(sessionID, _ string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, of := range []string{sessionID, EverySession} {
		for c := range h.waiting[of] {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}
}

// EverySession is what those wait for who care for all of them.
const EverySession = ""

// Subscribe gives a signal for each commit in the session, "" for any; leave
// ends it.
func (h *Hub) Subscribe(sessionID string) (signal chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting[sessionID] == nil {
		h.waiting[sessionID] = map[chan struct{}]bool{}
	}
	h.waiting[sessionID][c] = true
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.waiting[sessionID], c)
		if len(h.waiting[sessionID]) == 0 {
			delete(h.waiting, sessionID)
		}
	}
}

// lookAgain is how long the hint of a commit that was not made in this process
// can be missed.
const lookAgain = 15 * time.Second

// Until looks until done says so, the time is over or the caller is gone. It
// looks at least once, and the last look is what the caller has.
func (h *Hub) Until(ctx context.Context, sessionID string, wait time.Duration, done func(context.Context) (bool, error)) error {
	signal, leave := h.Subscribe(sessionID)
	defer leave()
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	poll := time.NewTicker(lookAgain)
	defer poll.Stop()
	for {
		ended, err := done(ctx)
		if err != nil || ended || wait <= 0 {
			return err
		}
		select {
		case <-signal:
		case <-poll.C:
		case <-deadline.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
