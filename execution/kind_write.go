package execution

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/admission"
	"github.com/manifold-run/manifold/execution/runstate"
	"github.com/manifold-run/manifold/execution/verdict"
)

// write is a call with an effect. It is approved for exactly this action, is the only write in
// flight of its run, holds its locks, is announced by a committed intent, and is read back. It is
// repeated only if that cannot execute it twice; an unknown outcome is looked up, or a person is
// asked.
type write struct{}

func (write) start(t *activation) {
	switch t.row.Step {
	case runstate.StepSent:
		resend(t)
	case runstate.StepReconcile:
		reconcile(t)
	case runstate.StepVerify:
		readBack(t)
	default:
		prepare(t)
	}
}

// do takes a write from its resolved parameters to its call.
func (w write) do(t *activation, full map[string]any) {
	if proposedAfterReading(t) && t.calls.r.cfg.LateWrites == LateWritesForbid {
		t.fail(contracts.ErrPrecondition, "a write that is proposed after reading is not allowed here", contracts.EffectNone)
		return
	}
	if t.row.Step != runstate.StepApproved && !withinBudgets(t) {
		return
	}
	if !approved(t) {
		return
	}
	places, p := t.places, t.n.policy
	if waits, ok := places.AwaitWriter(t.n.ID()); !ok {
		t.wait(waits)
		return
	}
	if !mayCall(t) || !t.admit(t.n.Spec.Tool, p) {
		return
	}
	if !w.lock(t) || !w.announce(t) {
		places.Leave(t.n.place(t.n.Spec.Tool, p))
		return
	}
	w.send(t, full)
}

// approved reports whether the action may be executed: it needs no approval or was approved in
// exactly this form, and no key that this depends on was revoked. Otherwise it opens a gate.
func approved(t *activation) bool {
	action, hash, err := actionOf(t)
	if err != nil {
		t.fail(contracts.ErrInternal, err.Error(), contracts.EffectNone)
		return false
	}
	needed := t.n.policy.ApprovalRequired || proposedAfterReading(t) || (t.n.policy.SideEffectClass.Writes() && !matchesPinned(t))
	why := ""
	if !needed || t.row.ApprovedSHA256 == hash {
		if why, err = t.env().revoked(t.run.Run.Plan.Owner, gateOf(t, hash)); waitForStore(t, err) {
			return false
		}
		if why == "" {
			t.row.Step = runstate.StepApproved
			return true
		}
	}
	t.abortWrite() // it may have been announced, and was not sent; nothing is held at a gate
	openGate(t, action, hash, why)
	return false
}

// gateOf returns the gate at which an action was approved, nil if there is none.
func gateOf(t *activation, hash string) *contracts.Interrupt {
	if g := t.n.Gate; g != nil && g.Type.IsGate() && g.Status == contracts.InterruptApproved && g.ActionSHA256 == hash {
		return g
	}
	return nil
}

// actionOf returns what an approval is bound to, and its hash.
func actionOf(t *activation) (contracts.Action, string, error) {
	a := contracts.Action{
		Capability: t.n.entry.Ref(), CapabilityDigest: t.n.entry.Digest, Instance: t.n.Spec.Instance,
		OnBehalfOf: t.run.Run.Plan.Owner.Subject(), Evidence: t.row.Evidence, Policy: t.n.policy, Utterance: utteranceOf(t),
		AfterReading: t.n.Spec.AfterReading,
	}
	a.Parameters, a.Bound = runstate.SplitBoundParams(t.n.Spec, orEmpty(t.row.Params))
	if a.Evidence == nil {
		a.Evidence = []contracts.EvidenceItem{}
	}
	hash, err := t.run.ActionHash(a)
	return a, hash, err
}

// utteranceOf returns the annotated sentence of a node. Values that an approver edited have the
// source "answer".
func utteranceOf(t *activation) *contracts.Utterance {
	said := t.n.Spec.Utterance
	if said == nil || t.run.Run.Format < runstate.Format2 {
		return nil
	}
	for name, v := range t.row.Edited {
		if planned, ok := t.n.Spec.Params[name]; !ok || paramText(planned) != paramText(v) {
			said = said.With(name, contracts.FromAnswer)
		}
	}
	return said
}

// lock takes all resource keys of the node, or lets it wait for the first that is held.
func (write) lock(t *activation) bool {
	keys := admission.LockKeys(t.n.Spec.Locks, func(param string) string { return paramText(t.row.Params[param]) })
	if len(keys) == 0 {
		return true
	}
	holder, held, err := t.lock(t.n.ID(), keys)
	switch {
	case err == nil && held:
		return true
	case contracts.CodeOf(err) == contracts.CodeLeaseLost: // the owner releases the run
	case err != nil:
		t.queue("the store", t.now().Add(time.Second))
	default:
		t.wait(t.places.AwaitLock(t.n.ID(), "lock "+holder.Key+", held by "+holder.RunID+" "+holder.NodeID))
	}
	return false
}

func paramText(v any) string {
	if v == nil {
		return "*"
	}
	return asText(v)
}

// announce commits the intent of a write before its call, under the lease and only if no cancel was
// requested. A write that is sent again, because the domain reported no effect, keeps its intent
// and its key.
func (w write) announce(t *activation) bool {
	_, hash, err := actionOf(t)
	var params json.RawMessage
	if err == nil {
		params, err = json.Marshal(t.row.Params)
	}
	if err != nil {
		t.fail(contracts.ErrInternal, err.Error(), contracts.EffectNone)
		return false
	}
	now, run := t.now(), &t.run.Run
	t.places.SetWriter(t.n.ID())
	t.row.Step, t.row.CallUntil = runstate.StepSent, now.Add(t.n.policy.Timeout())
	if t.n.Intent != nil && t.n.Intent.ActionSHA256 == hash {
		t.running()
		return t.flush()
	}
	t.row.State, t.row.QueuedFor, t.row.NextAt = contracts.NodeRunning, "", noTime
	t.row.Writes++
	t.row.Attempts, t.row.MachineMS, t.row.Resent, t.row.Doubtful = 0, 0, false, false
	t.take(runstate.WriteAnnounced{Row: t.row, Intent: Intent{
		RunID: run.ID, NodeID: t.n.ID(), N: t.row.Writes, Key: t.row.Key(run.ID),
		ActionSHA256: hash, Capability: t.n.Spec.Tool, Digest: t.n.entry.Digest, Instance: t.n.Spec.Instance,
		Parameters: params, Principal: run.Plan.Owner, Phase: t.n.Spec.Phase,
		CreatedAt: now, Deadline: now.Add(writeTime(t.n.policy)), Nonce: rand.Text(),
	}})
	t.row = nil
	return t.flush()
}

// writeTime returns how long after the announcement the write may still be sent.
func writeTime(p contracts.Policy) time.Duration {
	if p.Attempts() == 1 {
		return p.Timeout()
	}
	return p.NodeTimeout()
}

// send makes one exchange of the announced write.
func (write) send(t *activation, full map[string]any) {
	row, p := t.edit(), t.n.policy
	beginAttempt(t)
	c := newCall(t, t.n.entry, full)
	c.Context.IdempotencyKey = t.n.Intent.Key
	c.Context.Deadline = until(t.n.Intent, row)
	c.Context.Operation = row.Operation
	c.Context.Input = row.Input.Given()
	c.Context.TimeoutMS = p.TimeoutMS
	c.SendKey = p.Idempotency == contracts.IdempotencyKeyed || p.Idempotency == contracts.IdempotencyNatural
	c.Timeout = exchangeTime(t)
	t.emit(callStart(row.Attempts))
	t.running()
	t.calls.begin(t.n, taskCall, c)
}

// until returns the time at which the last attempt of a write has certainly ended.
func until(i *Intent, row *runstate.Row) time.Time {
	if row.CallUntil.After(i.Deadline) {
		return row.CallUntil
	}
	return i.Deadline
}

// mayRepeat reports whether an announced write may be sent again: if it is known to have had no
// effect, or by its key while the domain remembers it and the run is not cancelled. Polling
// accepted work is no repeat.
func mayRepeat(t *activation) bool {
	p := t.n.policy
	forgotten := t.n.Intent.CreatedAt.Add(time.Duration(p.IdempotencyWindowS) * time.Second)
	return !t.row.Doubtful || t.row.Operation != "" ||
		(!t.run.Cancelling() && p.Idempotency.Repeatable() && !t.now().After(forgotten))
}

// resend sends an announced write again from its intent row, if that is still the approved action.
func resend(t *activation) {
	if t.n.Intent == nil {
		prepare(t)
		return
	}
	if !resolveCapability(t) {
		return
	}
	_, hash, err := actionOf(t)
	unchanged := t.row.Operation != "" || err == nil && hash == t.n.Intent.ActionSHA256
	switch {
	case !mayRepeat(t):
		reconcileDoubt(t, Reply{Kind: ReplyBroken, Message: "an earlier attempt was not answered, and it may not be sent again"})
	case !unchanged && t.row.Doubtful:
		reconcileDoubt(t, Reply{Kind: ReplyBroken, Message: "an earlier attempt was not answered, and the capability has changed since"})
	case !unchanged: // it had no effect; a gate shows the difference
		t.row.Step, t.row.ApprovedSHA256 = runstate.StepNone, ""
		t.abortWrite()
		t.again()
	default:
		sendAgain(t)
	}
}

func sendAgain(t *activation) {
	places := t.places
	if waits, ok := places.AwaitWriter(t.n.ID()); !ok {
		t.wait(waits)
		return
	}
	var params, full map[string]any
	err := contracts.Decode(t.n.Intent.Parameters, &params)
	if err == nil {
		t.row.Params = params
		full, err = t.env().materialize(t.n.entry, params)
	}
	if waitForStore(t, err) {
		return
	}
	if err != nil {
		t.row.Error = &contracts.ToolError{Type: contracts.ErrInternal, Message: err.Error(), Effect: contracts.EffectUnknown}
		reconcileOrAsk(t)
		return
	}
	if !t.admit(t.n.Spec.Tool, t.n.policy) {
		return
	}
	places.SetWriter(t.n.ID())
	t.row.CallUntil = t.now().Add(t.n.policy.Timeout())
	t.running()
	if !t.flush() { // the row must be stored as running before the call starts
		places.Leave(t.n.place(t.n.Spec.Tool, t.n.policy))
		return
	}
	write{}.send(t, full)
}

func (w write) reply(t *activation, d completion) {
	if t.n.observed() {
		w.settle(t, *t.n.Intent.Outcome)
		return
	}
	switch d.task {
	case taskCall:
		w.called(t, d.reply)
	case taskReconcile:
		onReconciled(t, d.reply)
	case taskVerify:
		onReadBack(t, d.reply)
	case taskRefresh, taskModel, taskReplan:
		t.again()
	}
}

// called handles the reply to a write, as the contract's table of answers says.
func (w write) called(t *activation, r Reply) {
	if runstate.PriorAttemptUnknown(t.row.Doubtful, t.n.policy.Idempotency, r) {
		reconcileDoubt(t, r)
		return
	}
	if runstate.IsDefinitive(r) {
		w.settle(t, runstate.OutcomeOf(r, t.now()))
		return
	}
	switch r.Kind {
	case ReplyAccepted:
		t.row.Doubtful = true
		poll(t, w, r)
	case ReplyBusy:
		busy(t, w, r)
	case ReplyChanged:
		recheck(t)
	case ReplyNotSent:
		w.notSent(t, r)
	case ReplyResult: // it failed: retryable, refused or with an unknown effect
		t.row.WaitingSince = noTime
		switch {
		case !runstate.IsRetryable(r):
			w.broken(t, Reply{Kind: ReplyBroken, Message: r.Result.Error.Message})
		case !retry(t, r, contracts.RepeatableAttempts):
			t.refuse(r.Result.Error)
		}
	default:
		t.row.Operation = ""
		w.broken(t, r)
	}
}

func (w write) notSent(t *activation, r Reply) {
	switch {
	case retryNotSent(t, r):
	case t.row.Resent || t.row.Doubtful:
		w.broken(t, r)
	default:
		t.refuse(&contracts.ToolError{Type: runstate.ErrorType(r), Message: r.Message, Effect: contracts.EffectNone})
	}
}

// broken handles a reply that leaves the outcome unknown.
func (write) broken(t *activation, r Reply) {
	t.row.AttemptAt, t.row.WaitingSince = noTime, noTime
	t.row.Doubtful = true
	if mayRepeat(t) && retry(t, r, 0) {
		return
	}
	reconcileDoubt(t, r)
}

// reconcileDoubt looks up the outcome of a write that may have had an effect and is not sent again.
func reconcileDoubt(t *activation, r Reply) {
	t.row.Operation = ""
	t.row.Error = &contracts.ToolError{Type: runstate.ErrorType(r), Message: t.masked(r.Message), Effect: contracts.EffectUnknown}
	reconcileOrAsk(t)
}

// settle applies the outcome of a write to the run.
func (write) settle(t *activation, o Outcome) {
	t.take(runstate.IntentSettled{Node: t.n.ID()})
	r := o.Reply()
	switch {
	case r.Kind == ReplyResult && r.Result.OK:
		storeContent(t, r.Result)
		for _, f := range r.Faults {
			t.row.Checks = append(slices.Clip(t.row.Checks), contracts.Check{Name: verdict.CheckBadAnswer, Detail: f.Pointer + ": " + f.Message})
		}
		beginVerify(t)
	case needsInput(t, r.Result.Error):
	case r.Kind == ReplyResult:
		t.refuse(r.Result.Error)
	default:
		t.refuse(o.Error)
	}
}

func (w write) answer(t *activation, last contracts.InterruptDecided) { answerCall(t, last) }

// resume follows the intent: an observed outcome is applied, and a call that was sent counts as not
// answered.
func (w write) resume(t *activation) bool {
	i := t.n.Intent
	if i == nil {
		return false
	}
	t.places.SetWriter(t.n.ID())
	if i.Outcome != nil {
		w.settle(t, *i.Outcome)
		return true
	}
	if t.row.Step != runstate.StepSent || t.row.State != contracts.NodeRunning {
		return false
	}
	t.row.Doubtful = true
	if t.row.Operation = cmp.Or(t.row.Operation, i.Operation); t.row.Operation != "" {
		t.again() // polling accepted work sends nothing again
		return true
	}
	w.broken(t, Reply{Kind: ReplyBroken, Message: "the call was under way when the orchestrator stopped"})
	return true
}

func (w write) onWaitTimeout(t *activation) bool {
	switch waited := "waited longer than wait_max_s for " + t.row.QueuedFor; {
	case !w.mayHaveEffect(t.n):
		t.fail(contracts.ErrTimeout, waited, contracts.EffectNone)
	case t.row.Step == runstate.StepSent:
		t.row.WaitingSince = t.now()
		reconcileDoubt(t, Reply{Timeout: true, Message: waited})
	default:
		return false
	}
	return true
}

func (write) mayHaveEffect(n *node) bool {
	switch n.Row.Step {
	case runstate.StepSent:
		return n.inflight() || n.Row.Doubtful || n.Row.Operation != ""
	case runstate.StepReconcile, runstate.StepUnknown, runstate.StepVerify:
		return true
	default:
		return false
	}
}
