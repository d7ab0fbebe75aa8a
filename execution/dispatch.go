package execution

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/model"
)

// dispatch takes runs that nobody holds and that can go on. The store says
// which; a poke only makes it look sooner.
func (r *Runner) dispatch(ctx context.Context) {
	for {
		r.takeDue(ctx)
		timer := time.NewTimer(r.untilNextLook(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-r.poke:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (r *Runner) takeDue(ctx context.Context) {
	for ctx.Err() == nil {
		r.mu.Lock()
		room := r.cfg.MaxActiveRuns - len(r.active) - r.reserved
		r.mu.Unlock()
		if room <= 0 {
			return
		}
		due, err := r.store.DueRuns(ctx, model.Formats(), min(room, 64))
		if err != nil {
			r.logFault(ctx, "list due runs", err)
			return
		}
		taken := 0
		for _, id := range due {
			if r.take(ctx, id) {
				taken++
			}
		}
		if taken == 0 {
			return
		}
	}
}

// take acquires one run and makes it an owner.
func (r *Runner) take(ctx context.Context, runID string) bool {
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

// maxImpatience is how often a run is looked at that is due by our clock and
// was not taken.
const maxImpatience = 250 * time.Millisecond

// untilNextLook is the time to the next timer of a parked run, at most one
// jittered sweep.
func (r *Runner) untilNextLook(ctx context.Context) time.Duration {
	wait := r.cfg.SweepEvery + rand.N(r.cfg.SweepEvery/3+1) //nolint:gosec // jitter, not a secret
	next, err := r.store.NextWake(ctx)
	if err != nil || next.IsZero() {
		return wait
	}
	until := time.Until(next)
	if until <= 0 { // due, but it could not be taken: no room, or the store's clock is behind
		until = maxImpatience
	}
	return min(wait, until)
}

// heartbeat renews all leases of this replica in one statement, tells owners
// that lost theirs, and passes on wake-ups that came by way of the store.
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

// heartbeatWhileStopping keeps the leases of writes that still finish.
func (r *Runner) heartbeatWhileStopping() {
	ctx := context.Background() // Stop has ended the work's context; the leases must live on
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
		// The owners find out by their own commits; the leases may be renewed after
		// they expired while nobody took them.
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
