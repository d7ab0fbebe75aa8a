package execution

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/admission"
	"github.com/manifold-run/manifold/execution/runstate"
)

// owner advances one run on the replica that holds its lease. It receives messages, lets the
// handlers of the nodes react, and commits the changes. It knows no kinds of nodes.
//
// Invariant: only the goroutine that calls advanceUntilDone touches the fields, except inbox,
// seenWake and told. The state in run is what is stored plus what is pending.
type owner struct {
	r     *Runner
	lease Lease
	inbox *inbox
	// seenWake is the last wake_seq that was processed; the heartbeat reads it.
	seenWake atomic.Int64
	// told means that observers were told of more than progress; Quiet reads it.
	told atomic.Bool

	kit   deps
	run   *runstate.State
	nodes map[string]*node
	// places, timers and calls are what the run waits for. pending is not committed yet.
	places  *admission.Run
	timers  timers
	calls   calls
	pending pending
	judge   verdictJudge

	// shown is the state of the run in the last notification.
	shown contracts.RunState

	stopping bool
	lost     bool
	// over means that the end of the run is committed.
	over bool
	// leaving means that the run yields its place to runs that can be advanced.
	leaving bool
	// reload means that the store may be ahead of this owner. lastRefused means that the last
	// commit was refused.
	reload, lastRefused bool

	ctx context.Context //nolint:containedctx // the life of this run's exchanges; set once by live
}

func newOwner(r *Runner, lease Lease) *owner {
	o := &owner{r: r, lease: lease, inbox: newInbox(), pending: pending{store: r.store, lease: lease}}
	o.calls = calls{r: r, inbox: o.inbox}
	o.calls.group.SetLimit(groupSize(r.cfg.MaxCalls))
	o.places = admission.NewRun(r.limits, lease.RunID,
		func(key admission.Key) { o.inbox.put(message{kind: msgFreed, key: key}) },
		func(id string) bool { return o.run.Wake(o.nodes[id].Node) })
	return o
}

// advanceUntilDone advances the run until it has ended, is parked, or has another owner.
func (o *owner) advanceUntilDone(ctx context.Context, begun *runstate.State) {
	o.ctx, o.calls.ctx = ctx, ctx
	defer o.drain()
	if err := o.load(begun); err != nil {
		o.logger().ErrorContext(o.ctx, "run cannot be loaded", slog.Any("error", err))
		switch {
		case ctx.Err() != nil:
			o.releaseLease()
		case contracts.CodeOf(err) != contracts.CodeUnavailable: // else the lease expires by itself
			o.r.deferUnreadable(ctx, o.lease, err)
		}
		return
	}
	for {
		o.advance()
		switch {
		case o.lost:
			return
		case o.stopping && o.calls.inflight == 0:
			o.flush()
			o.releaseLease()
			return
		case o.idle() && o.finishOrPark():
			return
		}
		o.await()
	}
}

// drain waits for calls that outlive the owner because it lost its lease: they still record what
// they observed. Then their slots are released, and a run whose stored state is in doubt is read
// again by its next owner.
func (o *owner) drain() {
	_ = o.calls.group.Wait()
	o.places.Close()
	if o.reload {
		o.releaseLease()
	}
}

// releaseLease gives up the lease, so that the run can be taken again at once.
func (o *owner) releaseLease() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), 5*time.Second)
	defer cancel()
	if err := o.r.store.ReleaseRun(ctx, o.lease); err != nil && contracts.CodeOf(err) != contracts.CodeLeaseLost {
		o.logger().WarnContext(o.ctx, "lease is left to expire", slog.Any("error", err))
	}
}

// load sets the state of the run, reading it from the store unless it was just created. What was in
// progress when the last owner disappeared is resumed: reads are repeated, writes follow their
// intent.
func (o *owner) load(run *runstate.State) error {
	begun := run != nil
	var stored Snapshot
	if !begun {
		ctx, cancel := context.WithTimeout(o.ctx, 30*time.Second)
		defer cancel()
		var err error
		if stored, err = o.r.store.LoadRun(ctx, o.lease.RunID); err != nil {
			return fmt.Errorf("load run %s: %w", o.lease.RunID, err)
		}
		if run, err = runstate.Read(stored); err != nil {
			return err
		}
	}
	o.run, o.nodes, o.shown = run, make(map[string]*node, run.Len()), run.Run.State
	if metrics.Effective(run.Run.Plan.Flags).ParallelReads == metrics.FlagOff {
		o.places.Serialize()
	}
	o.kit = deps{runOwner: o, run: run, places: o.places, timers: &o.timers, calls: &o.calls}
	o.pending.chain = runstate.Chain{RunID: run.Run.ID, Salt: saltOf(run.Run.Format), Seq: run.Run.LedgerSeq, Head: run.Run.LedgerHead}
	o.seenWake.Store(run.Run.WakeSeq)
	o.adopt(run.Nodes())
	o.take(runstate.RunResumed{})
	if !begun {
		o.readable(stored.Gates)
		o.resume()
	}
	return nil
}

// adopt adds nodes of the run state, with their handlers.
func (o *owner) adopt(nodes []*runstate.Node) {
	for _, n := range nodes {
		o.nodes[n.ID()] = &node{Node: n, handler: handlerOf(n, o.run.Run.Plan.DryRun)}
	}
}

// resume continues each node from the state in its row.
func (o *owner) resume() {
	for _, m := range o.run.Nodes() {
		n := o.nodes[m.ID()]
		if n.Spec.Tool != "" && n.Spec.ForEach == nil && !n.Ended() {
			findCapability(&o.kit, n)
		}
		switch {
		case n.Ended() || n.State() == contracts.NodePending:
		case runstate.Awaits(n.State()) && n.observed():
			o.settleByOutcome(n)
		case runstate.Awaits(n.State()):
			watchExpiry(&o.timers, n)
			o.consumeGate(n, n.Gate)
		case n.handler.resume(o.activate(n)):
		case !n.Row.NextAt.IsZero() && n.State() == contracts.NodeQueued:
			o.run.Sleep(n.Node)
			watchWait(&o.timers, n)
		}
	}
	if o.run.Cancelling() {
		o.cancelNodes()
	}
}

// activate starts an activation of the node.
func (o *owner) activate(n *node) *activation { return &activation{deps: &o.kit, n: n, row: n.Next()} }

// advance handles the messages and starts every node that may start.
func (o *owner) advance() {
	if o.ctx.Err() != nil && !o.stopping {
		o.beginStop() // before the replies of exchanges that the stop has cancelled
	}
	for _, m := range o.inbox.take() {
		switch m.kind {
		case msgReply:
			o.completed(m.done)
		case msgWake:
			o.readSignals()
		case msgFreed:
			o.places.WakeNext(m.key)
		case msgLost:
			o.loseLease()
		}
	}
	o.fireTimers()
	if o.stopping {
		return
	}
	for n := o.run.Next(); n != nil && !o.lost; n = o.run.Next() {
		o.start(o.nodes[n.ID()])
	}
}

// start takes the next step of a ready node, unless the run is cancelled or the node's condition is
// false.
func (o *owner) start(n *node) {
	t := o.activate(n)
	switch {
	case o.run.Cancelling() && !n.handler.mayHaveEffect(n):
		t.end(contracts.NodeCancelled)
	case n.Row.StartedAt == nil && n.Spec.When != nil && !conditionHolds(t):
	default:
		n.handler.start(t)
	}
}

// completed handles the completion of an exchange.
func (o *owner) completed(d completion) {
	o.calls.inflight--
	o.calls.reserved -= d.reserved
	n := o.nodes[d.nodeID]
	if n == nil {
		if !o.stopping && !o.lost { // otherwise the next owner asks again
			o.judge.take(d)
		}
		return
	}
	unsettled, lasting := n.handler.mayHaveEffect(n), n.lasting
	n.cancel, n.lasting = nil, false
	if d.tool != "" {
		o.places.Leave(n.place(d.tool, d.policy))
	}
	if n.Ended() || o.lost {
		return
	}
	t := o.activate(n)
	t.row.MachineMS += d.tookMS
	if d.task == taskModel || d.task == taskReplan {
		t.row.Thoughts = append(slices.Clip(t.row.Thoughts), d.thinking.Calls...)
		defer o.flush() // record what was paid for before anything else
	}
	switch {
	case o.stopping && !lasting:
		leaveToNextOwner(t, d.task)
		return
	case o.run.Cancelling() && !unsettled:
		t.end(contracts.NodeCancelled)
		return
	case d.task == taskCall:
		t.emit(callEnd(d))
	}
	n.handler.reply(t, d)
}

// beginStop cancels the exchanges that another replica can repeat.
func (o *owner) beginStop() {
	o.stopping = true
	o.cutOff()
}

// loseLease cancels all exchanges without an effect outside. Writes in flight are not cancelled;
// their outcomes are recorded by nonce.
func (o *owner) loseLease() {
	o.lost = true
	o.cutOff()
}

func (o *owner) cutOff() {
	o.judge.cutOff()
	for _, n := range o.nodes {
		if n.inflight() && !n.lasting {
			n.cancel()
		}
	}
}

// await sleeps until a message arrives, a timer fires, or pending changes must be committed.
func (o *owner) await() {
	timer := time.NewTimer(o.untilNext())
	defer timer.Stop()
	done := o.ctx.Done()
	if o.stopping {
		done = nil
	}
	select {
	case <-o.inbox.notify:
	case <-timer.C:
	case <-done:
		o.beginStop()
	}
	// Pending changes are committed in time even if messages keep arriving.
	if !o.pending.changes.Empty() && !o.now().Before(o.pending.changes.Since.Add(o.r.flushDelay())) {
		o.flush()
	}
}

const farAway = time.Hour

func (o *owner) untilNext() time.Duration {
	now, wait := o.now(), farAway
	if !o.pending.changes.Empty() {
		wait = o.pending.changes.Since.Add(o.r.flushDelay()).Sub(now)
	}
	if at := o.timers.next(); !at.IsZero() && !o.stopping {
		wait = min(wait, at.Sub(now))
	}
	if o.places.WaitsForSlot() {
		wait = min(wait, o.r.cfg.ParkAfter) // other runs may want the place of this run
	}
	return max(wait, 0)
}

// idle reports whether nothing is in flight and nothing is due soon.
func (o *owner) idle() bool {
	if o.calls.inflight > 0 || o.run.HasReady() {
		return false
	}
	if o.places.WaitsForSlot() {
		o.leaving = o.leaving || o.r.tryYieldPlace()
		return o.leaving
	}
	at := o.timers.next()
	return at.IsZero() || at.Sub(o.now()) > o.r.cfg.ParkAfter || o.run.Ended()
}

func (o *owner) park() bool {
	end := ending{park: true, wakeAt: o.timers.next(), seen: o.seenWake.Load()}
	if o.leaving {
		end.wakeAt = earlier(end.wakeAt, tryAgainAt(o.now(), o.places.WaitingForSlots(), o.nodes, o.r.cfg.ParkAfter))
	}
	committed, ok := o.commit(end)
	if ok && committed.Parked {
		o.r.dispatcher.RunParked(end.wakeAt)
		return true
	}
	if o.leaving { // the run keeps its place
		o.leaving = false
		o.r.keepPlace()
	}
	if ok {
		o.readSignals()
	}
	return o.lost
}

// tryAgainAt returns when a run that yielded its place while nodes waited for slots is resumed: the
// longer they waited, the later.
func tryAgainAt(now time.Time, waiting []string, nodes map[string]*node, least time.Duration) time.Time {
	waited := least
	for _, id := range waiting {
		waited = max(waited, now.Sub(nodes[id].Row.WaitingSince))
	}
	return now.Add(jittered(min(waited, maxBackoff)))
}

// fireTimers wakes nodes whose time has come, and handles expired gates.
func (o *owner) fireTimers() {
	now := o.now()
	for {
		t, ok := o.timers.due(now)
		if !ok {
			return
		}
		switch n := t.node; {
		case t.key != (admission.Key{}):
			o.places.TimerFired(t.key)
		case n == nil:
			o.readSignals()
		case runstate.Awaits(n.State()):
			o.expireGate(n)
		case n.waitedTooLong(now) && n.handler.onWaitTimeout(o.activate(n)):
		case !n.Row.NextAt.IsZero() && !n.Row.NextAt.After(now):
			o.run.Wake(n.Node)
		}
	}
}

func (o *owner) logger() *slog.Logger {
	return o.r.cfg.Logger.With(slog.String("run_id", o.lease.RunID))
}

// abandon releases the run after an event could not be applied or sealed. Payloads are our own
// types over decoded JSON, so this is a bug in this package, not an error of the run.
func (o *owner) abandon(err error) {
	o.logger().ErrorContext(o.ctx, "run cannot be advanced", slog.Any("error", err))
	o.loseLease()
}
