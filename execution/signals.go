package execution

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// readSignals applies what others wrote for the run: decisions, answers, a cancel request, observed
// outcomes, released locks.
func (o *owner) readSignals() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), 10*time.Second)
	defer cancel()
	s, err := o.r.store.ReadSignals(ctx, o.run.Run.ID)
	if err != nil {
		o.logger().WarnContext(o.ctx, "signals cannot be read", slog.Any("error", err))
		o.timers.add(timer{at: o.now().Add(time.Second)}) // try again soon
		return
	}
	o.seenWake.Store(max(s.WakeSeq, o.seenWake.Load()))
	o.applyOutcomes(s.Intents) // an observation has priority over a person's answer
	o.applyDecisions(s.Gates)
	if s.CancelRequestedAt != nil && !o.run.Cancelling() {
		o.take(runstate.CancelRequested{At: s.CancelRequestedAt, By: s.CancelledBy})
		o.cancelNodes()
	}
	o.places.WakeLockWaiters()
}

func (o *owner) applyDecisions(gates []contracts.Interrupt) {
	for i := range gates {
		g := &gates[i]
		if n, ok := o.nodes[g.NodeID]; ok && n.Row.GateID == g.InterruptID {
			o.consumeGate(n, g)
		}
	}
}

// applyOutcomes applies outcomes that an earlier owner observed after it lost the lease.
func (o *owner) applyOutcomes(intents []Intent) {
	for _, i := range intents {
		n, ok := o.nodes[i.NodeID]
		if !ok || n.Ended() || n.Intent == nil || n.Intent.Nonce != i.Nonce || n.Intent.Outcome != nil || i.Outcome == nil {
			continue
		}
		o.take(runstate.OutcomeObserved{Node: i.NodeID, Outcome: i.Outcome})
		if !n.inflight() { // else its completion applies it
			o.settleByOutcome(n)
		}
	}
}

// settleByOutcome applies an outcome that was read from the store, and closes the question about
// it.
func (o *owner) settleByOutcome(n *node) {
	if runstate.Awaits(n.State()) {
		o.supersedeGate(n)
	}
	n.handler.reply(o.activate(n), completion{nodeID: n.ID()})
}

// cancelNodes ends all nodes without an effect in flight. Writes that were sent continue until
// their outcome is known.
func (o *owner) cancelNodes() {
	o.judge.cutOff()
	for _, m := range o.run.Nodes() {
		n := o.nodes[m.ID()]
		switch {
		case n.Ended() || n.handler.mayHaveEffect(n):
		case n.inflight():
			n.cancel() // the completion ends the node
		default:
			o.supersedeGate(n)
			o.activate(n).end(contracts.NodeCancelled)
		}
	}
}

// consumeGate applies the decision on a node's interrupt to the run.
func (o *owner) consumeGate(n *node, gate *contracts.Interrupt) {
	if gate == nil || gate.Status == contracts.InterruptOpen || !runstate.Awaits(n.State()) {
		return
	}
	o.take(runstate.InterruptResolved{Node: n.ID(), Gate: gate})
	n.handler.answer(o.activate(n), runstate.LastDecision(gate))
}

// errNotYet means that the store's clock has not reached the expiry.
var errNotYet = errors.New("not expired yet")

// expireGate closes an expired gate by the same compare-and-set as a decision, so that exactly one
// of them wins. It commits.
func (o *owner) expireGate(n *node) {
	gate := n.Gate
	if gate == nil || gate.ExpiresAt == nil || o.now().Before(*gate.ExpiresAt) {
		return
	}
	if !o.flush() || !closed(updateGate(o.ctx, o.r.store, gate.InterruptID, expire)) {
		o.timers.add(timer{at: o.now().Add(time.Second), node: n})
		return
	}
	o.readSignals()
}

// supersedeGate closes the interrupt of a node that no longer needs an answer. A concurrent
// decision is recorded and has no effect. It commits.
func (o *owner) supersedeGate(n *node) {
	if n.Gate == nil || n.Gate.Status != contracts.InterruptOpen || !o.flush() {
		return
	}
	err := updateGate(o.ctx, o.r.store, n.Gate.InterruptID, supersede)
	for tries := 0; contracts.CodeOf(err) == contracts.CodeUnavailable && o.pause(tries); tries++ {
		err = updateGate(o.ctx, o.r.store, n.Gate.InterruptID, supersede)
	}
	if !closed(err) {
		o.logger().WarnContext(o.ctx, "gate is left open", slog.Any("error", err))
	}
	o.take(runstate.InterruptSuperseded{Node: n.ID()})
}

// closed reports whether a gate is closed after an update, by this update or by another.
func closed(err error) bool { return err == nil || contracts.CodeOf(err) == contracts.CodeConflict }

func expire(i *contracts.Interrupt, now time.Time) error {
	if now.Before(*i.ExpiresAt) {
		return errNotYet
	}
	i.Status = contracts.InterruptExpired
	i.Decisions = append(i.Decisions, contracts.InterruptDecided{
		Decision: contracts.DecisionReject, DecidedBy: "system", DecidedAt: now, Comment: "expired", ActionSHA256: i.ActionSHA256,
	})
	return nil
}

func supersede(i *contracts.Interrupt, _ time.Time) error {
	i.Status = contracts.InterruptSuperseded
	return nil
}

// updateGate commits a change of an open gate, as a decision does.
func updateGate(ctx context.Context, store Gates, id string, change func(*contracts.Interrupt, time.Time) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := UpdateInterrupt(ctx, store, id, change)
	return err
}
