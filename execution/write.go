package execution

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/expr"
)

// write takes a write from its resolved parameters to its one call: approved
// for exactly this action, alone in its run, holding its locks, announced by a
// committed intent.
func (l *loop) write(n *node, full map[string]any) {
	if !l.approved(n) {
		return
	}
	if l.writing != nil && l.writing != n {
		l.deferUntilRoom(n, writeKey, "another write of this run")
		return
	}
	if !l.mayCall(n) || !l.admit(n, n.policy, n.v.spec.Tool) {
		return
	}
	if !l.lock(n) || !l.announce(n) {
		l.vacate(n, n.v.spec.Tool)
		return
	}
	l.send(n, full)
}

// approved tells whether the action may be done: no approval is needed, or one
// was given for exactly this action. Otherwise it opens a gate.
func (l *loop) approved(n *node) bool {
	action, hash, err := l.action(n)
	if err != nil {
		l.fail(n, contracts.ErrInternal, err.Error(), contracts.EffectNone)
		return false
	}
	needed := n.policy.ApprovalRequired || (n.policy.SideEffectClass.Writes() && !l.sameAsPlanned(n))
	if !needed || n.rec.ApprovedSHA256 == hash {
		n.rec.Step = StepApproved
		return true
	}
	l.withdraw(n) // it may have been announced, and was not done; nothing is held at a gate
	l.openGate(n, action, hash)
	return false
}

// action is what an approval is bound to, with its hash.
func (l *loop) action(n *node) (contracts.Action, string, error) {
	owner := l.stored.Plan.Owner
	a := contracts.Action{
		Capability: n.entry.Ref(), CapabilityDigest: n.entry.Digest, Instance: n.v.spec.Instance,
		OnBehalfOf: owner.Subject(), Parameters: orEmpty(n.rec.Params), Evidence: n.rec.Evidence, Policy: n.policy,
	}
	if a.Evidence == nil {
		a.Evidence = []contracts.EvidenceItem{} // like the parameters: a row hashes the same when it is read again
	}
	hash, err := contracts.Hash(a)
	return a, hash, err
}

// lock takes all resource keys of the node, or lets it wait for the first that
// is held.
func (l *loop) lock(n *node) bool {
	keys := l.lockKeys(n)
	if len(keys) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(l.ctx, 10*time.Second)
	defer cancel()
	holder, held, err := l.r.store.AcquireLocks(ctx, l.lease, n.rec.NodeID, keys)
	switch {
	case err == nil && held:
		return true
	case contracts.CodeOf(err) == contracts.CodeLeaseLost:
		l.loseLease()
	case err != nil:
		l.queue(n, "the store", l.r.cfg.Now().Add(time.Second))
	default:
		l.deferUntilRoom(n, lockKey, "lock "+holder.Key+", held by "+holder.RunID+" "+holder.NodeID)
	}
	return false
}

// lockKeys fills the {param} places of the lock templates; an absent parameter
// reads *.
func (l *loop) lockKeys(n *node) []string {
	var keys []string
	for _, template := range n.v.spec.Locks {
		keys = append(keys, fillTemplate(template, n.rec.Params))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func fillTemplate(template string, params map[string]any) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		out.WriteString(paramText(params[name]))
		template = after
	}
}

func paramText(v any) string {
	if v == nil {
		return "*"
	}
	return asText(v)
}

// asText is a value as people write it: text as it stands, everything else as
// JSON, in which a number has all its digits.
func asText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	body, err := contracts.Canonical(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(body)
}

// announce commits the intent of a write before its call, under the lease and
// only while no cancel was requested. A write that is sent again after the
// domain said that nothing happened keeps its intent and its key.
func (l *loop) announce(n *node) bool {
	_, hash, err := l.action(n)
	if err != nil {
		l.fail(n, contracts.ErrInternal, err.Error(), contracts.EffectNone)
		return false
	}
	l.writing = n
	n.rec.Step = StepSent
	n.rec.CallUntil = l.r.cfg.Now().Add(n.policy.Timeout())
	l.setState(n, contracts.NodeRunning)
	if n.intent != nil && n.intent.ActionSHA256 == hash {
		return l.flush()
	}
	params, err := json.Marshal(n.rec.Params)
	if err != nil {
		l.fail(n, contracts.ErrInternal, err.Error(), contracts.EffectNone)
		return false
	}
	n.rec.Writes++
	n.rec.Attempts, n.rec.MachineMS, n.rec.Resent, n.rec.Doubtful = 0, 0, false, false
	now := l.r.cfg.Now()
	n.intent = &Intent{
		RunID: l.stored.ID, NodeID: n.rec.NodeID, N: n.rec.Writes, Key: n.rec.key(l.stored.ID),
		ActionSHA256: hash, Capability: n.v.spec.Tool, Digest: n.entry.Digest, Instance: n.v.spec.Instance,
		Parameters: params, Principal: l.stored.Plan.Owner, Phase: n.v.spec.Phase,
		CreatedAt: now, Deadline: now.Add(l.writeTime(n)), Nonce: rand.Text(),
	}
	l.pending.Intents = append(l.pending.Intents, *n.intent)
	l.record(n, contracts.LedgerEntry{
		Kind: contracts.LedgerIntent, ActionSHA256: hash, Key: n.intent.Key, Actor: l.stored.Plan.Owner.ID,
	}, n.rec.Params)
	l.begun(n)
	return l.flush()
}

// writeTime is how long after the announcement the write may still be sent.
func (l *loop) writeTime(n *node) time.Duration {
	if n.policy.Attempts() == 1 {
		return n.policy.Timeout()
	}
	return n.policy.NodeTimeout()
}

// send makes one exchange of the announced write.
func (l *loop) send(n *node, full map[string]any) {
	if n.rec.Operation == "" || n.rec.AttemptAt.IsZero() {
		n.rec.AttemptAt = l.r.cfg.Now()
		n.rec.Attempts++
	}
	c := l.newCall(n, n.entry, full)
	c.Context.IdempotencyKey = n.intent.Key
	c.Context.Deadline = n.until()
	c.Context.Operation = n.rec.Operation
	c.Context.TimeoutMS = n.policy.TimeoutMS
	c.SendKey = n.policy.Idempotency == contracts.IdempotencyKeyed || n.policy.Idempotency == contracts.IdempotencyNatural
	c.Timeout = l.exchangeTime(n)
	l.emitFor(n, contracts.Event{Type: contracts.EventToolCallStart, Status: attemptText(n.rec.Attempts)})
	l.touch(n)
	l.exchange(n, taskCall, c)
}

// until is when the last attempt of a write is over for certain.
func (n *node) until() time.Time {
	if n.rec.CallUntil.After(n.intent.Deadline) {
		return n.rec.CallUntil
	}
	return n.intent.Deadline
}

// mayRepeat tells whether an announced write may be sent once more: by its key,
// while the domain remembers it and the run is wanted, or because it is known to
// have done nothing. Asking for accepted work is no repeat.
func (l *loop) mayRepeat(n *node) bool {
	return !n.rec.Doubtful || n.rec.Operation != "" ||
		(!l.cancelling && n.policy.Idempotency.Repeatable() && !l.outlived(n.intent))
}

// unchanged tells whether what was announced is what would run now.
func (l *loop) unchanged(n *node) bool {
	_, hash, err := l.action(n)
	return err == nil && hash == n.intent.ActionSHA256
}

// resend sends an announced write again, from its intent row alone, if that is
// still the action that was approved.
func (l *loop) resend(n *node) {
	if n.intent == nil {
		l.prepare(n)
		return
	}
	if !l.look(n) {
		return
	}
	unchanged := n.rec.Operation != "" || l.unchanged(n)
	switch {
	case !l.mayRepeat(n):
		l.doubt(n, Reply{Kind: ReplyBroken, Message: "an earlier attempt was not answered, and it may not be sent again"})
	case !unchanged && n.rec.Doubtful:
		l.doubt(n, Reply{Kind: ReplyBroken, Message: "an earlier attempt was not answered, and the capability has changed since"})
	case !unchanged:
		l.prepareAnew(n)
	case l.writing != nil && l.writing != n:
		l.deferUntilRoom(n, writeKey, "another write of this run")
	default:
		l.sendAgain(n)
	}
}

// prepareAnew lets go of a write that did nothing and is no longer the action
// that was approved: a gate shows the difference.
func (l *loop) prepareAnew(n *node) {
	n.rec.Step, n.rec.ApprovedSHA256 = StepNone, ""
	l.withdraw(n)
	l.again(n)
}

func (l *loop) sendAgain(n *node) {
	var params map[string]any
	err := contracts.Decode(n.intent.Parameters, &params)
	var full map[string]any
	if err == nil {
		n.rec.Params = params
		full, err = l.r.materialize(l.ctx, n.entry, params, l.pending.Blobs...)
	}
	if l.storeIsAway(n, err) {
		return
	}
	if err != nil {
		l.settleFailed(n, &contracts.ToolError{Type: contracts.ErrInternal, Message: err.Error(), Effect: contracts.EffectUnknown})
		return
	}
	if !l.admit(n, n.policy, n.v.spec.Tool) {
		return
	}
	l.writing = n
	n.rec.CallUntil = l.r.cfg.Now().Add(n.policy.Timeout())
	l.setState(n, contracts.NodeRunning)
	if !l.flush() { // the row must say that it is under way before it is
		l.vacate(n, n.v.spec.Tool)
		return
	}
	l.send(n, full)
}

// onOutcome takes a settled outcome of a write into the ledger.
func (l *loop) onOutcome(n *node) {
	o := n.intent.Outcome
	l.consume(n.intent, *o)
	r := o.reply()
	switch {
	case r.Kind == ReplyResult && r.Result.OK:
		l.applied(n, r)
	case r.Kind == ReplyResult:
		l.failWith(n, r.Result.Error)
	default:
		l.settleFailed(n, o.Error)
	}
}

// consume settles an intent in the next commit; what is observed later is on
// record and changes nothing.
func (l *loop) consume(i *Intent, o Outcome) {
	i.Outcome = &o
	l.pending.Consume = append(l.pending.Consume, i.Nonce)
	l.markPending()
}

// withdraw gives up what a node holds for a write that is over or is not to
// be made as announced: its intent, its locks and its turn.
func (l *loop) withdraw(n *node) {
	if n.intent != nil && n.intent.Outcome == nil {
		l.consume(n.intent, Outcome{Kind: ReplyNotSent, At: l.r.cfg.Now()})
	}
	n.intent = nil
	if len(n.v.spec.Locks) > 0 {
		l.pending.Release = append(l.pending.Release, n.rec.NodeID)
		l.markPending()
	}
	if l.writing == n {
		l.stopWriting()
	}
}

// settleFailed ends a write of which it is known that it did nothing.
func (l *loop) settleFailed(n *node, e *contracts.ToolError) {
	if n.intent != nil && e.EffectOf() == contracts.EffectUnknown {
		n.rec.Error = e
		l.lookUp(n)
		return
	}
	l.failWith(n, e)
}

// applied goes on after a write that took effect: what was dropped from its
// answer is noted, then it is read back.
func (l *loop) applied(n *node, r Reply) {
	l.keep(n, r.Result)
	for _, f := range r.Faults {
		n.rec.Checks = append(n.rec.Checks, contracts.Check{Name: checkBadAnswer, Detail: f.Pointer + ": " + f.Message})
	}
	l.beginVerify(n)
}

// stopWriting lets the next write of the run go.
func (l *loop) stopWriting() {
	l.writing = nil
	l.undefer(writeKey)
}

// mapped resolves a param_map for a look-up that belongs to a call.
func (l *loop) mapped(n *node, m map[string]any) (map[string]any, error) {
	v, _, err := expr.Resolve(asAny(m), l.callScope(n, n.rec.key(l.stored.ID)))
	if err != nil {
		return nil, err
	}
	params, _ := v.(map[string]any)
	return params, nil
}
