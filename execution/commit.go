package execution

import (
	"context"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// touch marks a node's row to be written with the next commit.
func (l *loop) touch(n *node) {
	l.dirty[n.rec.NodeID] = n
	l.markPending()
}

func (l *loop) markPending() {
	if l.pendingSince.IsZero() {
		l.pendingSince = l.r.cfg.Now()
	}
}

func (l *loop) hasPending() bool { return !l.pendingSince.IsZero() }

// emit adds an event to the next commit.
func (l *loop) emit(e contracts.Event) {
	e.SessionID, e.RunID, e.At = l.stored.SessionID, l.stored.ID, l.r.cfg.Now()
	e.Summary = contracts.CleanSummary(e.Summary)
	l.pending.Events = append(l.pending.Events, e)
	l.markPending()
}

// emitFor adds an event about a node.
func (l *loop) emitFor(n *node, e contracts.Event) {
	e.NodeID, e.Phase = n.rec.NodeID, n.v.spec.Phase
	e.NodeName = n.v.spec.Title
	if e.NodeName == "" {
		e.NodeName = n.v.spec.Tool
	}
	e.NodeName, e.Summary = l.masked(n, e.NodeName), l.masked(n, e.Summary)
	l.emit(e)
}

// record adds a ledger entry to the next commit.
func (l *loop) record(n *node, e contracts.LedgerEntry, payload any) {
	if n != nil {
		e.NodeID, e.Tool = n.rec.NodeID, n.v.spec.Tool
	}
	l.sealed(l.chain.append(&l.pending, e, payload, l.r.cfg.Now()))
	l.markPending()
}

// sealed leaves the run when an entry could not be sealed: payloads are our
// own types over decoded JSON, so this is a fault of ours, not of the run.
func (l *loop) sealed(err error) {
	if err != nil {
		l.r.cfg.Logger.ErrorContext(l.ctx, "ledger entry cannot be sealed", slog.String("run_id", l.stored.ID), slog.Any("error", err))
		l.loseLease()
	}
}

// flush commits what is pending.
func (l *loop) flush() bool {
	if !l.hasPending() || l.lost {
		return !l.lost
	}
	_, ok := l.commit()
	return ok
}

// commit writes the pending transition. On a conflict (the run was
// cancelled meanwhile) it takes back what conflicted, reads what was written,
// and says false; the rest stays pending. A store that takes nothing, such as
// one whose disk is full, is waited out: nothing is dropped, and no write is
// sent whose announcement is not stored.
func (l *loop) commit() (Committed, bool) {
	for doubtful := false; ; doubtful = true {
		t := l.pending
		t.Lease, t.At = l.lease, l.r.cfg.Now()
		t.State = l.graph.runState(l.cancelling)
		for _, n := range l.dirty {
			t.Nodes = append(t.Nodes, n.rec)
		}
		committed, err := l.tryCommit(t)
		switch contracts.CodeOf(err) {
		case "":
			l.storeIsBack(doubtful)
			l.committed(committed)
			return committed, true
		case contracts.CodeUnavailable:
			l.storeIsGone(doubtful, err)
			if !l.pause() {
				return Committed{}, false
			}
		case contracts.CodeConflict:
			l.refused(doubtful)
			return Committed{}, false
		default:
			if contracts.CodeOf(err) != contracts.CodeLeaseLost {
				l.r.cfg.Logger.ErrorContext(l.ctx, "run cannot be committed", slog.String("run_id", l.stored.ID), slog.Any("error", err))
			}
			l.loseLease()
			return Committed{}, false
		}
	}
}

func (l *loop) tryCommit(t Transition) (Committed, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), 30*time.Second)
	defer cancel()
	return l.r.store.Commit(ctx, t)
}

// refused deals with a conflict. After a commit whose answer was lost, or right
// after another conflict, what is stored is not what this loop believes: the
// run is read anew.
func (l *loop) refused(doubtful bool) {
	if doubtful || l.taken {
		l.r.cfg.Logger.WarnContext(l.ctx, "run is read anew", slog.String("run_id", l.stored.ID))
		l.reload = true
		l.loseLease()
		return
	}
	l.taken = true
	l.takeBack()
}

func (l *loop) committed(c Committed) {
	l.taken = false
	l.pending, l.dirty, l.pendingSince = Transition{}, map[string]*node{}, time.Time{}
	l.chainCommitted = l.chain
	if c.WakeSeq > l.seenWake.Load() && !c.Parked {
		l.inbox.put(message{kind: msgWake})
	}
	for _, id := range c.Woken {
		l.r.Wake(id)
	}
	if l.r.observer != nil {
		l.r.observer.Committed(l.stored.SessionID, l.stored.ID)
	}
}

// takeBack undoes announcements of writes that a cancel has overtaken, gives
// new codes to gates whose codes were taken, and reads what was written.
func (l *loop) takeBack() {
	undone := map[string]bool{}
	for _, intent := range l.pending.Intents {
		n := l.nodes[intent.NodeID]
		n.intent = nil
		n.rec.Writes--
		n.rec.Step = StepApproved
		l.again(n)
		l.stopWriting()
		undone[intent.NodeID] = true
	}
	l.pending.Intents = nil
	l.pending.Park, l.pending.Finished, l.pending.Verdict = false, false, nil
	for i := range l.pending.Gates {
		l.pending.Gates[i].Code = NewCode()
	}
	l.reseal(func(e contracts.LedgerEntry) bool {
		return e.Kind == contracts.LedgerIntent && undone[e.NodeID]
	})
	l.readSignals()
}

// reseal drops pending ledger entries and chains the others anew.
func (l *loop) reseal(drop func(contracts.LedgerEntry) bool) {
	entries := l.pending.Ledger
	l.pending.Ledger, l.chain = nil, l.chainCommitted
	for _, e := range entries {
		if !drop(e) {
			l.sealed(l.chain.add(&l.pending, e))
		}
	}
}

// storeIsGone says once what holds the run up.
func (l *loop) storeIsGone(known bool, err error) {
	if !known {
		l.r.cfg.Logger.WarnContext(l.ctx, "run waits for the store", slog.String("run_id", l.stored.ID), slog.Any("error", err))
	}
}

func (l *loop) storeIsBack(waited bool) {
	if waited {
		l.r.cfg.Logger.InfoContext(l.ctx, "run goes on: the store is back", slog.String("run_id", l.stored.ID))
	}
}

// pause waits for a store that is unavailable; false when the run must be left.
func (l *loop) pause() bool {
	timer := time.NewTimer(250 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.ctx.Done():
		l.loseLease() // the lease expires; whoever takes the run finds the last commit
		return false
	}
	messages := l.inbox.take()
	for _, m := range messages {
		if m.kind == msgLost {
			l.loseLease()
			return false
		}
	}
	for _, m := range messages {
		l.inbox.put(m)
	}
	return true
}
