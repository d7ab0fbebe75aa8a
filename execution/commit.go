package execution

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// ending is what a commit does besides storing changes: it parks the run until wakeAt, or ends it
// with its verdict.
type ending struct {
	park    bool
	wakeAt  time.Time
	seen    int64 // the last wake-up that was processed
	over    bool
	verdict *contracts.Verdict
}

// pending has the changes that are applied to the run and not stored yet.
type pending struct {
	store   Runs
	lease   Lease
	changes runstate.Changes
	// chain is the end of the ledger before the changes.
	chain runstate.Chain
}

// transition returns the pending changes as one transition, and the end of the ledger after it.
func (p *pending) transition(state contracts.RunState, end ending) (Transition, runstate.Chain, error) {
	c := &p.changes
	entries, payloads, chain, err := p.chain.Seal(c.Entries)
	if err != nil {
		return Transition{}, chain, err
	}
	return Transition{
		Lease: p.lease, State: state, Nodes: c.Rows(), Gates: c.Gates, Intents: c.Intents, Consume: c.Consume,
		Events: c.Events, Ledger: entries, Payloads: payloads, Blobs: c.Blobs, Data: c.Data, Release: c.Release,
		Verdict: end.verdict, Finished: end.over,
		Park: end.park, SeenWakeSeq: end.seen, WakeAt: end.wakeAt,
	}, chain, nil
}

// commit tries once to store a transition. It commits all or nothing; after an error of code
// unavailable the result is unknown.
func (p *pending) commit(ctx context.Context, t Transition) (Committed, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return p.store.Commit(ctx, t)
}

// commitPace is the average duration of recent commits. Pending changes wait for a few of them: the
// slower the store, the more goes into one commit.
type commitPace struct{ took atomic.Int64 }

const (
	paceOf  = 4
	maxPace = 100 * time.Millisecond
)

func (p *commitPace) note(took time.Duration) {
	p.took.Store((3*p.took.Load() + int64(took)) / 4)
}

// flushDelay returns how long the progress of reads waits to be committed with later changes.
func (r *Runner) flushDelay() time.Duration {
	return max(r.cfg.FlushDelay, min(paceOf*time.Duration(r.pace.took.Load()), maxPace))
}

// flush commits what is pending.
func (o *owner) flush() bool {
	if o.pending.changes.Empty() || o.lost {
		return !o.lost
	}
	_, ok := o.commit(ending{})
	return ok
}

// commit writes the pending changes as one transition, under the lease. On a conflict, such as a
// concurrent cancel, it drops what conflicted, reads the signals and reports false; the rest stays
// pending. While the store is unavailable, for example because its disk is full, it retries:
// nothing is dropped, and no write is sent before its announcement is stored.
func (o *owner) commit(end ending) (Committed, bool) {
	state := o.run.RunState()
	if state.Terminal() && !end.over {
		state = contracts.RunRunning // the verdict is not complete yet
	}
	t, chain, err := o.pending.transition(state, end)
	if err != nil {
		o.abandon(err)
		return Committed{}, false
	}
	for tries := 0; ; tries++ {
		doubtful := tries > 0
		t.At = o.now()
		began := time.Now()
		committed, err := o.pending.commit(o.ctx, t)
		o.r.pace.note(time.Since(began))
		switch contracts.CodeOf(err) {
		case "":
			if doubtful {
				o.logger().InfoContext(o.ctx, "run goes on: the store is back")
			}
			o.pending.chain = chain
			o.committed(t, committed)
			return committed, true
		case contracts.CodeUnavailable:
			if !doubtful {
				o.logger().WarnContext(o.ctx, "run waits for the store", slog.Any("error", err))
			}
			o.r.notify(o.run.Run.SessionID, o.run.Run.ID, false) // the commit may have succeeded
			if !o.pause(tries) {
				return Committed{}, false
			}
		case contracts.CodeConflict:
			o.refused(doubtful)
			return Committed{}, false
		default:
			if contracts.CodeOf(err) != contracts.CodeLeaseLost {
				o.logger().ErrorContext(o.ctx, "run cannot be committed", slog.Any("error", err))
			}
			o.loseLease()
			return Committed{}, false
		}
	}
}

func (o *owner) committed(t Transition, c Committed) {
	o.lastRefused = false
	o.pending.changes.Done()
	if o.over = t.Finished; o.over {
		o.run.Run = endedRow(o.run.Run, t, o.pending.chain)
		o.r.finished.keep(o.run)
	}
	if c.WakeSeq > o.seenWake.Load() && !c.Parked {
		o.inbox.put(message{kind: msgWake})
	}
	for _, id := range c.Woken {
		o.r.Wake(id)
	}
	// It is progress unless the run opened an interrupt, parks, ends or changes its state.
	progress := t.State == o.shown && len(t.Gates) == 0 && !o.over && !c.Parked
	o.shown = t.State
	if !progress {
		o.told.Store(true)
	}
	o.r.notify(o.run.Run.SessionID, o.run.Run.ID, progress)
}

// refused handles a conflict: it drops announcements of writes that a cancel has overtaken, makes
// new codes for the gates, and reads the signals. After a commit with an unknown result, or right
// after another conflict, the stored run differs from the owner's state: then the run is released
// and read again.
func (o *owner) refused(doubtful bool) {
	if doubtful || o.lastRefused {
		o.logger().WarnContext(o.ctx, "run is read anew")
		o.reload = true
		o.loseLease()
		return
	}
	o.lastRefused = true
	for _, id := range o.pending.changes.Drop() {
		o.take(runstate.AnnouncementRefused{Node: id})
		o.places.ReleaseWriter(id)
	}
	for i := range o.pending.changes.Gates {
		o.pending.changes.Gates[i].Code = NewCode()
	}
	o.readSignals()
}

// pause waits before the next attempt on an unavailable store: longer with each try, and jittered,
// so that runs do not retry together. It reports false if the run must be released.
func (o *owner) pause(tries int) bool {
	timer := time.NewTimer(jittered(500 * time.Millisecond << min(tries, 2)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-o.ctx.Done():
		o.loseLease() // the lease expires; the next owner continues from the last commit
		return false
	}
	messages := o.inbox.take()
	for _, m := range messages {
		if m.kind == msgLost {
			o.loseLease()
			return false
		}
	}
	for _, m := range messages {
		o.inbox.put(m)
	}
	return true
}
