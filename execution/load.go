package execution

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// load builds the owner's view of a run from a snapshot, reading it from the
// store unless it was just made. What was under way when the last owner
// disappeared is taken up again: reads are repeated, writes go by their intent.
func (l *loop) load(snapshot *Snapshot) error {
	fresh := snapshot != nil
	if !fresh {
		ctx, cancel := context.WithTimeout(l.ctx, 30*time.Second)
		defer cancel()
		s, err := l.r.store.LoadRun(ctx, l.lease.RunID)
		if err != nil {
			return fmt.Errorf("load run %s: %w", l.lease.RunID, err)
		}
		snapshot = &s
	}
	l.stored = snapshot.Run
	l.chain = chain{runID: l.stored.ID, seq: l.stored.LedgerSeq, head: l.stored.LedgerHead}
	l.chainCommitted = l.chain
	l.seenWake.Store(l.stored.WakeSeq)
	l.cancelling = l.stored.CancelRequestedAt != nil
	if err := l.build(snapshot.Nodes); err != nil {
		return err
	}
	l.attach(snapshot.Gates, snapshot.Intents)
	for _, v := range l.graph.sweep() {
		l.skipped(v)
	}
	if !fresh {
		l.resume()
	}
	return nil
}

// build makes the graph: the planned nodes, then those that were appended.
func (l *loop) build(records []NodeRecord) error {
	if err := l.graph.add(l.stored.Plan.Nodes...); err != nil {
		return err
	}
	for _, rec := range records {
		if rec.Spec == nil {
			continue
		}
		if err := l.graph.add(*rec.Spec); err != nil {
			return err
		}
		template, ok := l.graph.byID[rec.Spec.Of]
		if !ok {
			return fmt.Errorf("node %s was appended for %q, which is not in the plan", rec.NodeID, rec.Spec.Of)
		}
		if err := l.graph.expand(template, []contracts.Node{*rec.Spec}); err != nil {
			return err
		}
	}
	for _, v := range l.graph.nodes {
		l.nodes[v.spec.NodeID] = &node{v: v, rec: NodeRecord{NodeID: v.spec.NodeID, State: contracts.NodePending}}
	}
	for _, rec := range records {
		n := l.nodes[rec.NodeID]
		n.rec = rec
		if err := l.graph.restore(rec.NodeID, rec.State); err != nil {
			return err
		}
	}
	return nil
}

func (l *loop) attach(gates []contracts.Interrupt, intents []Intent) {
	for _, g := range gates {
		if n, ok := l.nodes[g.NodeID]; ok && n.rec.GateID == g.InterruptID {
			n.gate = &g
		}
	}
	for _, i := range intents {
		if n, ok := l.nodes[i.NodeID]; ok && i.N == n.rec.Writes && !i.Consumed {
			n.intent = &i
		}
	}
}

// resume takes up each node where its row says it stands.
func (l *loop) resume() {
	for _, v := range l.graph.nodes {
		n := l.nodes[v.spec.NodeID]
		if v.spec.Kind == contracts.KindTool && !v.state.Terminal() {
			l.findCapability(n)
		}
		switch n.rec.State {
		case contracts.NodeReady, contracts.NodeRunning, contracts.NodeQueued:
			l.resumeActive(n)
		case contracts.NodeAwaitingApproval, contracts.NodeAwaitingInput, contracts.NodeOutcomeUnknown:
			if l.observed(n) {
				l.settleByOutcome(n)
				continue
			}
			l.watchExpiry(n)
			l.consumeGate(n)
		default:
		}
	}
	if l.cancelling {
		l.cancelNodes()
	}
}

func (l *loop) resumeActive(n *node) {
	if n.intent != nil {
		l.writing = n
		if n.intent.Outcome != nil {
			l.onOutcome(n)
			return
		}
		if n.rec.Step == StepSent && n.rec.State == contracts.NodeRunning {
			l.resumeSent(n)
			return
		}
	}
	if !n.rec.NextAt.IsZero() {
		l.setState(n, contracts.NodeQueued)
		l.watchWait(n)
		return
	}
	l.graph.again(n.v)
}

// resumeSent takes up a write that was sent, and nobody knows what came of it.
// Asking for work that was accepted sends nothing again.
func (l *loop) resumeSent(n *node) {
	n.rec.Doubtful = true
	if n.rec.Operation = cmp.Or(n.rec.Operation, n.intent.Operation); n.rec.Operation != "" {
		l.again(n)
		return
	}
	l.setState(n, contracts.NodeRunning)
	l.onBroken(n, Reply{Kind: ReplyBroken, Message: "the call was under way when the orchestrator stopped"})
}

// readSignals takes in what others wrote for the run: decisions, answers, the
// wish to cancel, observed outcomes, freed locks.
func (l *loop) readSignals() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), 10*time.Second)
	defer cancel()
	s, err := l.r.store.ReadSignals(ctx, l.stored.ID)
	if err != nil {
		l.r.cfg.Logger.WarnContext(ctx, "signals cannot be read", slog.String("run_id", l.stored.ID), slog.Any("error", err))
		l.timers.add(l.r.cfg.Now().Add(time.Second), nil) // look again soon
		return
	}
	l.seenWake.Store(max(s.WakeSeq, l.seenWake.Load()))
	l.attachOutcomes(s.Intents) // what was observed counts more than what somebody believes
	l.attachGates(s.Gates)
	if s.CancelRequestedAt != nil && !l.cancelling {
		l.cancelling, l.stored.CancelRequestedAt, l.stored.CancelledBy = true, s.CancelRequestedAt, s.CancelledBy
		l.cancelNodes()
	}
	l.undeferAll(lockKey)
}

func (l *loop) attachGates(gates []contracts.Interrupt) {
	for _, g := range gates {
		n, ok := l.nodes[g.NodeID]
		if ok && n.rec.GateID == g.InterruptID && !n.v.state.Terminal() {
			n.gate = &g
			l.consumeGate(n)
		}
	}
}

// attachOutcomes takes outcomes that an earlier owner observed after it lost
// the lease.
func (l *loop) attachOutcomes(intents []Intent) {
	for _, i := range intents {
		n, ok := l.nodes[i.NodeID]
		if !ok || n.intent == nil || n.intent.Nonce != i.Nonce || n.intent.Outcome != nil || i.Outcome == nil {
			continue
		}
		if n.intent.Outcome = i.Outcome; !n.inflight { // else its completion takes it
			l.settleByOutcome(n)
		}
	}
}

// observed tells whether the outcome of a write is on record and not yet taken
// into the run.
func (l *loop) observed(n *node) bool {
	return n.intent != nil && n.intent.Outcome != nil && n.rec.Step != StepVerify && !n.v.state.Terminal()
}

// settleByOutcome takes an outcome that came by way of the store; whoever was
// asked about it need not answer any more.
func (l *loop) settleByOutcome(n *node) {
	if awaits(n.v.state) {
		l.supersedeGate(n)
	}
	l.onOutcome(n)
}

// cancelNodes ends everything that has no effect under way. Writes that were
// sent go on until it is known what they did.
func (l *loop) cancelNodes() {
	for _, v := range l.graph.nodes {
		n := l.nodes[v.spec.NodeID]
		switch {
		case v.state.Terminal() || l.inDoubt(n):
		case n.inflight:
			n.cancel() // its completion ends it
		default:
			l.supersedeGate(n)
			l.end(n, contracts.NodeCancelled)
		}
	}
}

// inDoubt tells whether a write of the node may have had an effect that is not
// settled yet.
func (l *loop) inDoubt(n *node) bool {
	switch n.rec.Step {
	case StepSent:
		return n.inflight || n.rec.Doubtful || n.rec.Operation != ""
	case StepReconcile, StepUnknown, StepVerify:
		return true
	default:
		return false
	}
}
