package execution

import (
	"context"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// taker is the Runner as seen by its dispatcher.
type taker struct{ *Runner }

// Room returns how many more runs this replica can advance.
func (r taker) Room() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping {
		return 0
	}
	return r.cfg.MaxActiveRuns - len(r.active) - r.reserved
}

// Take acquires one run and starts its owner.
func (r taker) Take(ctx context.Context, runID string) bool {
	r.mu.Lock()
	_, mine := r.active[runID]
	r.mu.Unlock()
	if mine || !r.reserve() {
		return false
	}
	lease, err := r.store.AcquireRun(ctx, runID, r.cfg.Replica, r.cfg.LeaseTTL)
	if err != nil {
		r.unreserve()
		if contracts.CodeOf(err) != contracts.CodeConflict {
			r.logFault(ctx, "acquire run", err)
		}
		return false
	}
	r.launch(runID, lease, nil)
	return true
}

// heartbeat renews all leases of this replica in one statement, notifies owners that lost theirs,
// and passes on wake-ups from the store.
func (r *Runner) heartbeat(ctx context.Context) {
	ticker := time.NewTicker(r.cfg.Heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.renew(ctx)
		case <-ctx.Done():
			r.heartbeatWhileStopping()
			return
		}
	}
}

// heartbeatWhileStopping keeps the leases of writes that are still in flight.
func (r *Runner) heartbeatWhileStopping() {
	ctx := context.Background() // Stop has ended ctx of the background work; the leases must be renewed
	ticker := time.NewTicker(min(r.cfg.Heartbeat, 50*time.Millisecond))
	defer ticker.Stop()
	last := time.Now()
	for range ticker.C {
		if r.Active() == 0 {
			return
		}
		if time.Since(last) >= r.cfg.Heartbeat {
			r.renew(ctx)
			last = time.Now()
		}
	}
}

func (r *Runner) renew(ctx context.Context) {
	r.mu.Lock()
	held := make([]Lease, 0, len(r.active))
	owners := make(map[string]*owner, len(r.active))
	for id, l := range r.active {
		held = append(held, l.lease)
		owners[id] = l
	}
	r.mu.Unlock()
	if len(held) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.LeaseTTL)
	defer cancel()
	seqs, err := r.store.RenewLeases(ctx, r.cfg.Replica, held, r.cfg.LeaseTTL)
	if err != nil {
		// The owners notice it at their next commit. A lease that expired can still be renewed if
		// nobody has taken it.
		r.logFault(ctx, "renew leases", err)
		return
	}
	for id, l := range owners {
		seq, kept := seqs[id]
		switch {
		case !kept:
			l.inbox.put(message{kind: msgLost})
		case seq > l.seenWake.Load():
			l.inbox.put(message{kind: msgWake})
		}
	}
}

func (r *Runner) logFault(ctx context.Context, doing string, err error) {
	if ctx.Err() == nil {
		r.cfg.Logger.WarnContext(ctx, "runner is held up", slog.String("doing", doing), slog.Any("error", err))
	}
}
