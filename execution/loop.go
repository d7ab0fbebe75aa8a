package execution

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/contracts"
)

// loop is the life of one run on the replica that holds its lease. The
// goroutine that calls run is the only one that touches the fields; exchanges
// talk to it through the inbox alone, one completion each.
type loop struct {
	r     *Runner
	lease Lease
	inbox *inbox
	// seenWake is the last wake_seq that was taken into account; the heartbeat
	// reads it.
	seenWake atomic.Int64

	stored Run
	graph  *graph
	nodes  map[string]*node
	// chain is the end of the ledger, pending entries included.
	chain, chainCommitted chain
	timers                timerHeap
	// deferred holds nodes that wait for room, by the key of the limit; timed
	// has the keys for which a timer is set.
	deferred map[string][]*node
	timed    map[string]bool
	// places counts the exchanges of this run by limit key; batches belong to
	// chunked capabilities.
	places  map[string]int
	batches map[string]*batch
	// writing is the one write that is under way in this run.
	writing *node

	pending      Transition
	dirty        map[string]*node
	pendingSince time.Time

	// group is plain, not WithContext: one failed branch must not cancel others.
	group    errgroup.Group
	inflight int

	cancelling bool
	stopping   bool
	lost       bool
	// leaving tells that the run gives its place to runs that can go on.
	leaving bool
	// reload tells that the store may have more than this loop knows of, and
	// taken that the last commit was refused and taken back.
	reload, taken bool

	ctx context.Context //nolint:containedctx // the life of this loop's exchanges; set once by run
}

// node is a vertex with its row and what only this owner knows of it.
type node struct {
	v   *vertex
	rec NodeRecord
	// intent is the write that is under way, gate the interrupt of GateID.
	intent *Intent
	gate   *contracts.Interrupt
	entry  *contracts.CapabilityEntry
	policy contracts.Policy
	// inflight tells whether an exchange is under way; cancel ends it.
	inflight bool
	cancel   context.CancelFunc
	held     []string // limits that the exchange holds a place of
}

func newLoop(r *Runner, lease Lease) *loop {
	return &loop{
		r: r, lease: lease, inbox: newInbox(), graph: newGraph(),
		nodes: map[string]*node{}, deferred: map[string][]*node{}, timed: map[string]bool{},
		places: map[string]int{}, batches: map[string]*batch{}, dirty: map[string]*node{},
	}
}

// run advances the run until it has ended, waits for something that takes
// long, or is no longer ours.
func (l *loop) run(ctx context.Context, snapshot *Snapshot) {
	l.ctx = ctx
	defer l.leave()
	if err := l.load(snapshot); err != nil {
		l.r.cfg.Logger.ErrorContext(ctx, "run cannot be loaded", slog.String("run_id", l.lease.RunID), slog.Any("error", err))
		if ctx.Err() != nil {
			l.letGo()
		}
		return // the lease ends by itself: the run is tried again, but not at once
	}
	for {
		l.advance()
		switch {
		case l.lost:
			return
		case l.stopping && l.inflight == 0:
			l.flush()
			l.letGo()
			return
		case l.idle() && l.rest():
			return
		}
		l.await()
	}
}

// leave waits for exchanges that outlive the loop because it lost its lease:
// they still record what they observed. Then their places are free, and a run
// whose stored state is in doubt is read anew by whoever takes it.
func (l *loop) leave() {
	_ = l.group.Wait()
	for _, n := range l.nodes {
		for _, key := range n.held {
			l.r.limits.release(key)
		}
	}
	if l.reload {
		l.letGo()
	}
}

// letGo gives the lease back, so that the run is taken again at once.
func (l *loop) letGo() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), 5*time.Second)
	defer cancel()
	if err := l.r.store.ReleaseRun(ctx, l.lease); err != nil && contracts.CodeOf(err) != contracts.CodeLeaseLost {
		l.r.cfg.Logger.WarnContext(ctx, "lease is left to expire", slog.String("run_id", l.lease.RunID), slog.Any("error", err))
	}
}

// advance handles what has come in and starts everything that may start.
func (l *loop) advance() {
	if l.ctx.Err() != nil && !l.stopping {
		l.beginStop() // before the replies of exchanges that the stop has cut off
	}
	for _, m := range l.inbox.take() {
		l.receive(m)
	}
	l.fireTimers()
	if l.stopping {
		return
	}
	for v := l.graph.next(); v != nil && !l.lost; v = l.graph.next() {
		l.start(l.nodes[v.spec.NodeID])
	}
}

func (l *loop) receive(m message) {
	switch m.kind {
	case msgReply:
		l.onReply(m)
	case msgWake:
		l.readSignals()
	case msgFreed:
		l.undefer(m.key)
	case msgLost:
		l.loseLease()
	}
}

// loseLease stops all that has no effect outside; writes that are under way
// are not cancelled, what they observe is recorded by their nonce.
func (l *loop) loseLease() {
	l.lost = true
	for _, n := range l.nodes {
		if n.inflight && n.intent == nil && n.cancel != nil {
			n.cancel()
		}
	}
}

// await sleeps until something comes in, a timer fires, or what is pending
// must be committed.
func (l *loop) await() {
	timer := time.NewTimer(l.untilNext())
	defer timer.Stop()
	done := l.ctx.Done()
	if l.stopping {
		done = nil
	}
	select {
	case <-l.inbox.notify:
	case <-timer.C:
	case <-done:
		l.beginStop()
	}
	// However much comes in: what is pending does not wait for a lull.
	if l.hasPending() && !l.r.cfg.Now().Before(l.pendingSince.Add(l.r.cfg.FlushDelay)) {
		l.flush()
	}
}

// beginStop cancels reads; they run again elsewhere.
func (l *loop) beginStop() {
	l.stopping = true
	for _, n := range l.nodes {
		if n.inflight && n.intent == nil && n.cancel != nil {
			n.cancel()
		}
	}
}

const farAway = time.Hour

func (l *loop) untilNext() time.Duration {
	now, wait := l.r.cfg.Now(), farAway
	if l.hasPending() {
		wait = l.pendingSince.Add(l.r.cfg.FlushDelay).Sub(now)
	}
	if at := l.timers.next(); !at.IsZero() && !l.stopping {
		wait = min(wait, at.Sub(now))
	}
	if l.waitsForRoom() {
		wait = min(wait, l.r.cfg.ParkAfter) // others may want the place of this run
	}
	return max(wait, 0)
}

// idle tells whether nothing is under way and nothing comes soon.
func (l *loop) idle() bool {
	if l.inflight > 0 || l.graph.ready.Len() > 0 {
		return false
	}
	if l.waitsForRoom() {
		l.leaving = l.leaving || l.r.leaves()
		return l.leaving
	}
	at := l.timers.next()
	return at.IsZero() || at.Sub(l.r.cfg.Now()) > l.r.cfg.ParkAfter || l.graph.ended()
}

// waitsForRoom tells whether a node waits for a limit, which is freed without a
// wake-up in the store.
func (l *loop) waitsForRoom() bool {
	for key, nodes := range l.deferred {
		if len(nodes) > 0 && key != lockKey && key != writeKey {
			return true
		}
	}
	return false
}

// rest finishes the run or parks it; false means that there is more to do.
func (l *loop) rest() bool {
	if l.graph.ended() {
		return l.finish()
	}
	return l.park()
}

func (l *loop) park() bool {
	l.pending.Park, l.pending.SeenWakeSeq = true, l.seenWake.Load()
	l.pending.WakeAt = l.timers.next()
	if l.leaving {
		l.pending.WakeAt = earlier(l.pending.WakeAt, l.tryAgainAt())
	}
	committed, ok := l.commit()
	if ok && committed.Parked {
		return true
	}
	l.stay()
	if ok {
		l.readSignals()
	}
	return l.lost
}

// stay takes the place back that a run was about to give away.
func (l *loop) stay() {
	if l.leaving {
		l.leaving = false
		l.r.stayed()
	}
}

// tryAgainAt is when a run that left while it waited for room looks whether
// there is some: later, the longer it waits.
func (l *loop) tryAgainAt() time.Time {
	now := l.r.cfg.Now()
	waited := time.Duration(0)
	for key, nodes := range l.deferred {
		if key == lockKey || key == writeKey {
			continue
		}
		for _, n := range nodes {
			waited = max(waited, now.Sub(n.rec.WaitingSince))
		}
	}
	return now.Add(jittered(min(max(waited, l.r.cfg.ParkAfter), maxBackoff)))
}

func (l *loop) finish() bool {
	verdict := l.verdict()
	state := l.graph.runState(l.cancelling)
	l.emit(contracts.Event{Type: contracts.EventVerdict, Status: string(verdict.Status), Summary: firstOf(verdict.Reasons)})
	l.emit(contracts.Event{Type: contracts.EventDone, Status: string(state)})
	l.pending.Verdict, l.pending.Finished = &verdict, true
	_, ok := l.commit()
	return ok || l.lost
}

func firstOf(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}
