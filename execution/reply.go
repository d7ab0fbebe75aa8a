package execution

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// onReply takes the completion of an exchange.
func (l *loop) onReply(m message) {
	n := l.nodes[m.nodeID]
	l.inflight--
	n.inflight, n.cancel = false, nil
	n.rec.MachineMS += m.tookMS
	l.vacate(n, m.key)
	if n.v.state.Terminal() || l.lost {
		return
	}
	if l.stopping && (n.intent == nil || m.task != taskCall) {
		l.putBack(n, m.task)
		return
	}
	if l.cancelling && n.intent == nil && n.rec.Step != StepVerify {
		l.end(n, contracts.NodeCancelled)
		return
	}
	if m.task == taskCall {
		l.emitFor(n, callEnd(m))
	}
	if l.observed(n) {
		l.onOutcome(n)
		return
	}
	switch m.task {
	case taskCall:
		l.onCall(n, m.reply)
	case taskReconcile:
		l.onReconciled(n, m.reply)
	case taskVerify:
		l.onReadBack(n, m.reply)
	case taskRefresh:
		l.again(n)
	}
}

// putBack leaves a read that was cut off by the stop to the next owner.
func (l *loop) putBack(n *node, t task) {
	switch t {
	case taskCall:
		n.rec.Attempts, n.rec.AttemptAt = max(n.rec.Attempts-1, 0), time.Time{}
	case taskReconcile, taskVerify:
		n.rec.Tries = max(n.rec.Tries-1, 0)
	case taskRefresh:
	}
	l.setState(n, contracts.NodeReady)
}

func callEnd(m message) contracts.Event {
	e := contracts.Event{
		Type: contracts.EventToolCallEnd, Status: string(m.reply.Kind),
		DurationMS: m.tookMS, Summary: m.reply.Message,
	}
	if m.reply.Kind == ReplyResult {
		e.Summary = m.reply.Result.Summary
	}
	return e
}

// onCall applies the contract's answer table to a reply.
func (l *loop) onCall(n *node, r Reply) {
	if n.intent != nil && leavesOpen(n.rec.Doubtful, n.policy.Idempotency, r) {
		l.doubt(n, r)
		return
	}
	if n.intent != nil && definitive(r) {
		n.intent.Outcome = new(outcomeOf(r, l.r.cfg.Now()))
		l.onOutcome(n)
		return
	}
	switch r.Kind {
	case ReplyResult:
		l.onResult(n, r)
	case ReplyAccepted:
		l.poll(n, r)
	case ReplyBusy:
		l.busy(n, r)
	case ReplyChanged:
		l.recheck(n)
	case ReplyNotSent:
		l.notSent(n, r)
	case ReplyGone, ReplyBroken:
		n.rec.Operation = ""
		l.onBroken(n, r)
	case ReplyInvalid, ReplyUnauthorized, ReplyConflict, ReplyRefused:
		l.fail(n, errorType(r), r.Message, contracts.EffectNone)
	}
}

// errorType is the ToolError type of a reply that is no result.
func errorType(r Reply) string {
	switch r.Kind {
	case ReplyInvalid:
		return contracts.ErrInvalidParameters
	case ReplyUnauthorized:
		return contracts.ErrUnauthorized
	case ReplyConflict:
		return contracts.ErrConflict
	default:
		if r.Timeout {
			return contracts.ErrTimeout
		}
		return contracts.ErrUpstream
	}
}

// onResult takes a ToolResult that does not settle a write: a read's, or a
// failure that may be tried again.
func (l *loop) onResult(n *node, r Reply) {
	n.rec.WaitingSince = time.Time{}
	switch {
	case r.Result.OK:
		l.keep(n, r.Result)
		l.end(n, contracts.NodeCompleted)
	case again(r):
		l.retry(n, r, func() { l.failWith(n, r.Result.Error) })
	case n.intent != nil: // the effect is unknown
		l.onBroken(n, Reply{Kind: ReplyBroken, Message: r.Result.Error.Message})
	case r.Result.Error != nil && r.Result.Error.Retryable:
		l.retry(n, r, func() { l.failWith(n, r.Result.Error) })
	default:
		l.failWith(n, r.Result.Error)
	}
}

func (l *loop) failWith(n *node, e *contracts.ToolError) {
	if e == nil {
		e = &contracts.ToolError{Type: contracts.ErrInternal, Message: "the domain gave no reason"}
	}
	kept := *e
	kept.Message = contracts.CleanSummary(l.masked(n, kept.Message))
	n.rec.Error = &kept
	l.end(n, contracts.NodeFailed)
}

// poll asks again for accepted work, within the time of the attempt.
func (l *loop) poll(n *node, r Reply) {
	n.rec.Operation, n.rec.WaitingSince = r.Operation, time.Time{}
	if n.intent != nil {
		n.intent.Operation, n.rec.Doubtful = r.Operation, true
	}
	next := l.r.cfg.Now().Add(min(max(cmp.Or(r.RetryAfter, time.Second), firstBackoff), contracts.MaxExchange))
	if next.After(n.rec.AttemptAt.Add(n.policy.Timeout())) {
		n.rec.Operation = ""
		l.onBroken(n, Reply{Kind: ReplyBroken, Timeout: true, Message: "the accepted work did not end within timeout_ms"})
		return
	}
	l.queue(n, "the domain's accepted work", next)
}

// busy waits as the domain asks; the attempt does not count.
func (l *loop) busy(n *node, r Reply) {
	if n.rec.Operation != "" {
		l.poll(n, Reply{Operation: n.rec.Operation, RetryAfter: r.RetryAfter})
		return
	}
	n.rec.Attempts = max(n.rec.Attempts-1, 0)
	n.rec.AttemptAt = time.Time{}
	wait := l.busyBackoff(n)
	if r.RetryAfter > 0 {
		wait = min(max(r.RetryAfter, firstBackoff), time.Hour)
	}
	l.queue(n, cmp.Or(r.Message, "the domain is busy"), l.r.cfg.Now().Add(wait))
}

// notSent tries again whatever the idempotency is: nothing was sent.
func (l *loop) notSent(n *node, r Reply) {
	if n.rec.Attempts < max(n.policy.Attempts(), contracts.RepeatableAttempts) && l.mayTryAgain(n) {
		l.retryLater(n, r)
		return
	}
	if n.intent != nil && (n.rec.Resent || n.rec.Doubtful) {
		l.onBroken(n, r)
		return
	}
	l.settleFailed(n, &contracts.ToolError{Type: errorType(r), Message: r.Message, Effect: contracts.EffectNone})
}

// onBroken takes a reply after which nobody knows what happened.
func (l *loop) onBroken(n *node, r Reply) {
	n.rec.AttemptAt = time.Time{}
	n.rec.WaitingSince = time.Time{}
	if n.intent == nil {
		l.retry(n, r, func() { l.fail(n, errorType(r), r.Message, "") })
		return
	}
	n.rec.Doubtful = true
	if l.mayRepeat(n) && n.rec.Attempts < n.policy.Attempts() && l.mayTryAgain(n) {
		l.retryLater(n, r)
		return
	}
	l.doubt(n, r)
}

// doubt looks up what a write did that may have had an effect and is not sent
// again.
func (l *loop) doubt(n *node, r Reply) {
	n.rec.Operation = ""
	n.rec.Error = &contracts.ToolError{Type: errorType(r), Message: contracts.CleanSummary(l.masked(n, r.Message)), Effect: contracts.EffectUnknown}
	l.lookUp(n)
}

// outlived tells whether the domain may have forgotten the key.
func (l *loop) outlived(i *Intent) bool {
	n := l.nodes[i.NodeID]
	return l.r.cfg.Now().After(i.CreatedAt.Add(time.Duration(n.policy.IdempotencyWindowS) * time.Second))
}

// retry sends again after back-off while attempts and time are left.
func (l *loop) retry(n *node, r Reply, giveUp func()) {
	if n.rec.Attempts >= max(n.policy.Attempts(), attemptsAfterRefusal(n)) || !l.mayTryAgain(n) {
		giveUp()
		return
	}
	l.retryLater(n, r)
}

// attemptsAfterRefusal lets a write of any idempotency be sent again when the
// domain itself said that it had no effect.
func attemptsAfterRefusal(n *node) int {
	if n.intent == nil {
		return 0
	}
	return contracts.RepeatableAttempts
}

func (l *loop) retryLater(n *node, r Reply) {
	n.rec.AttemptAt = time.Time{}
	wait := max(l.backoff(n.rec.Attempts), min(r.RetryAfter, time.Hour))
	l.queue(n, cmp.Or(r.Message, "the next attempt"), l.r.cfg.Now().Add(wait))
}

const (
	firstBackoff = 200 * time.Millisecond
	maxBackoff   = 30 * time.Second
)

// busyBackoff grows with the time that was waited already, because attempts at
// a domain that is busy are not counted.
func (l *loop) busyBackoff(n *node) time.Duration {
	waited := time.Duration(0)
	if !n.rec.WaitingSince.IsZero() {
		waited = l.r.cfg.Now().Sub(n.rec.WaitingSince)
	}
	return jittered(min(max(waited, firstBackoff), maxBackoff))
}

// backoff doubles from 0.2 s, with jitter, to at most 30 s.
func (l *loop) backoff(attempt int) time.Duration {
	d := maxBackoff
	if shift := max(attempt-1, 0); shift < 8 {
		d = min(firstBackoff<<shift, maxBackoff)
	}
	return jittered(d)
}

// jittered spreads a time over its second half.
func jittered(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1) //nolint:gosec // jitter, not a secret
}

// keep takes over what a run keeps of a result: raw output goes apart and
// expires, artifacts are stored once by their hash.
func (l *loop) keep(n *node, r contracts.ToolResult) {
	n.rec.Result = &Result{Summary: contracts.CleanSummary(l.masked(n, r.Summary)), Facts: r.Facts}
	n.rec.Operation, n.rec.Error = "", nil
	for name, body := range r.Artifacts {
		canonical, err := contracts.CanonicalBytes(body)
		if err != nil {
			continue // the wrapping code has decoded it already
		}
		sha := contracts.HashBytes(canonical)
		l.pending.Blobs = append(l.pending.Blobs, Blob{SHA256: sha, Kind: BlobArtifact, RunID: l.stored.ID, Body: canonical})
		if n.rec.Result.Artifacts == nil {
			n.rec.Result.Artifacts = contracts.ArtifactRefs{}
		}
		n.rec.Result.Artifacts[name] = "sha256:" + sha
	}
	if !r.Data.IsZero() && !l.r.cfg.DropData {
		l.pending.Data = append(l.pending.Data, NodeData{
			RunID: l.stored.ID, NodeID: n.rec.NodeID, Body: r.Data.Reveal(), ExpiresAt: l.r.cfg.Now().Add(contracts.DataTTL),
		})
	}
	l.touch(n)
}

// recheck fetches the manifest again after a 404 or 412, once; then the call
// is prepared anew from what is declared now.
func (l *loop) recheck(n *node) {
	if n.rec.Rechecked {
		l.changed(n)
		return
	}
	n.rec.Rechecked, n.rec.Step = true, StepNone
	n.rec.Attempts = max(n.rec.Attempts-1, 0)
	if n.intent != nil {
		n.rec.Step = StepApproved
	}
	l.setState(n, contracts.NodeRunning)
	n.inflight, n.cancel = true, func() {}
	l.inflight++
	l.occupy(n, n.policy, n.v.spec.Tool) // vacated like a call's place
	id, ref, domain := n.rec.NodeID, n.v.spec.Tool, n.entry.Domain
	l.group.Go(func() error {
		err := l.r.catalogs.Refresh(l.ctx, domain)
		if err != nil {
			l.r.cfg.Logger.WarnContext(l.ctx, "manifest cannot be refreshed", slog.String("domain", domain), slog.Any("error", err))
		}
		l.inbox.put(message{kind: msgReply, nodeID: id, task: taskRefresh, key: ref})
		return nil
	})
}
