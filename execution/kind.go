package execution

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/admission"
	"github.com/manifold-run/manifold/execution/runstate"
)

// nodeHandler handles the events of one kind of node. The owner of a run calls it without
// knowing kinds; a handler changes the run only through its activation. The set is closed:
// handlerOf lists it.
type nodeHandler interface {
	// start takes the next step of a node that is ready.
	start(t *activation)
	// reply handles the completion of an exchange that the node has begun.
	reply(t *activation, d completion)
	// answer handles the recorded outcome of the node's interrupt.
	answer(t *activation, last contracts.InterruptDecided)
	// resume continues a node that was in progress when its last owner disappeared. It reports
	// false if the node is to be started at its time instead.
	resume(t *activation) bool
	// onWaitTimeout handles the expiry of wait_max. It reports false if the node should keep
	// waiting.
	onWaitTimeout(t *activation) bool
	// mayHaveEffect reports whether the node may have had an effect that is not known. Such a node
	// is not ended by a cancel.
	mayHaveEffect(n *node) bool
}

// handlerOf returns the handler of a node as it was planned. Preparing a call replaces it if the
// capability declares another class now.
func handlerOf(n *runstate.Node, dryRun bool) nodeHandler {
	switch {
	case n.Spec.Kind == contracts.KindJoin:
		return join{}
	case n.Spec.Kind == contracts.KindHuman && n.InWorkflow() && n.Spec.Role != contracts.RolePreChoose:
		return workflowQuestion{}
	case n.Spec.Kind == contracts.KindHuman:
		return choice{}
	case n.Spec.Kind == contracts.KindSet:
		return set{}
	case n.Spec.Kind == contracts.KindVerify:
		return verify{}
	case n.Spec.Kind == contracts.KindResult:
		return result{}
	case n.Spec.Kind == contracts.KindUndo:
		return undo{}
	case n.Spec.Kind == contracts.KindAnswer:
		return answer{}
	case n.Spec.Kind == contracts.KindReplan:
		return replan{}
	case n.Spec.ForEach != nil:
		return repeat{}
	case n.Spec.Kind == contracts.KindReason:
		return reason{}
	default:
		return callOf(n.Writes() && !dryRun)
	}
}

func callOf(writes bool) nodeHandler {
	if writes {
		return write{}
	}
	return read{}
}

// node is a node of the run, with data that only its current owner has.
type node struct {
	*runstate.Node

	handler nodeHandler
	// entry is the capability as declared now, nil if it is gone. policy is the stricter of the
	// planned and the declared one.
	entry  *contracts.CapabilityEntry
	policy contracts.Policy
	// cancel ends the exchange in flight; it is nil if there is none. lasting means that the
	// exchange must not be cut off.
	cancel  context.CancelFunc
	lasting bool
}

func (n *node) inflight() bool { return n.cancel != nil }

// observed reports whether the outcome of a write is recorded but not applied to the run yet.
func (n *node) observed() bool { return n.Intent != nil && n.Intent.Outcome != nil && !n.Ended() }

// place returns the node's call for admission.
func (n *node) place(tool string, p contracts.Policy) admission.Call {
	return admission.Call{Node: n.ID(), Tool: tool, Policy: p, Group: n.Spec.Group, GroupLimit: n.Spec.GroupLimit}
}

// runOwner has the methods of an owner that handlers may use.
type runOwner interface {
	now() time.Time
	// take applies an event to the run.
	take(e runstate.Event)
	// flush commits what is pending. It reports false if the commit was refused.
	flush() bool
	// lock takes the resource keys of a node, or returns the holder of the first.
	lock(nodeID string, keys []string) (LockHolder, bool, error)
	// env returns read access to what is outside the run.
	env() environment
	// stopRun cancels the run because somebody answered an interrupt with that. It commits.
	stopRun(by string)
}

// deps is what a handler works with: the run, which it changes by applying events, and the owner's
// volatile data.
type deps struct {
	runOwner

	run    *runstate.State
	places *admission.Run
	timers *timers
	calls  *calls
}

// activation is passed to a handler for one event of one node. row is the next version of
// the node's row: a handler must end each activation by exactly one of wait, queue, again,
// running, ask and end, which commit it.
type activation struct {
	*deps

	n   *node
	row *runstate.Row
}

// put stores the row in a state that does not end the node.
func (t *activation) put(s contracts.NodeState) {
	t.row.State = s
	if s != contracts.NodeQueued {
		t.row.QueuedFor, t.row.NextAt = "", time.Time{}
	}
	t.take(runstate.RowUpdated{Row: t.row})
	t.row = nil
}

// edit begins a new row after one was stored.
func (t *activation) edit() *runstate.Row {
	t.row = t.n.Next()
	return t.row
}

// running marks the node before an exchange starts.
func (t *activation) running() { t.put(contracts.NodeRunning) }

// again makes the node ready again.
func (t *activation) again() { t.put(contracts.NodeReady) }

// queue lets the node wait until a time or, if it is zero, until it is woken. The wait ends after
// the policy's wait_max.
func (t *activation) queue(reason string, until time.Time) {
	if t.row.WaitingSince.IsZero() {
		t.row.WaitingSince = t.now()
	}
	t.row.QueuedFor, t.row.NextAt = reason, until
	t.put(contracts.NodeQueued)
	t.places.WakeNextWriter() // another write need not wait for the same thing
	watchWait(t.timers, t.n)
}

// wait lets the node wait for what admission requires.
func (t *activation) wait(w admission.Wait) {
	if !w.Until.IsZero() {
		t.timers.add(timer{at: w.Until, key: w.Key})
	}
	t.queue(w.Reason, time.Time{})
}

// admit takes a slot for a call, or lets the node wait for one.
func (t *activation) admit(tool string, p contracts.Policy) bool {
	w, ok := t.places.Enter(t.n.place(tool, p), t.now())
	if !ok {
		t.wait(w)
	}
	return ok
}

// emit adds an event for people who watch the run.
func (t *activation) emit(e contracts.Event) { t.take(runstate.EventEmitted{Node: t.n.ID(), Event: e}) }

// fail ends the node with an error of the core.
func (t *activation) fail(kind, message string, effect contracts.Effect) {
	t.row.Error = &contracts.ToolError{Type: kind, Message: contracts.CleanSummary(message), Effect: effect}
	t.end(contracts.NodeFailed)
}

// refuse ends the node with the error of its call.
func (t *activation) refuse(e *contracts.ToolError) {
	if e == nil {
		e = &contracts.ToolError{Type: contracts.ErrInternal, Message: "the domain gave no reason"}
	}
	kept := *e
	kept.Message, kept.Needs = t.masked(kept.Message), nil
	t.row.Error = &kept
	t.end(contracts.NodeFailed)
}

// masked returns a text of a domain without personal data, cut to the length of a summary.
func (t *activation) masked(text string) string {
	return contracts.CleanSummary(runstate.Mask(text, t.n.Private, t.row.Params))
}

// end makes the node terminal, applies the consequences in the graph, and wakes nodes that waited
// for its slots.
func (t *activation) end(s contracts.NodeState) {
	t.row.State = s
	t.endWith(t.expansionByRules())
}

// endWith is end with nodes to add to the run.
func (t *activation) endWith(again *runstate.Expansion) {
	t.take(runstate.NodeEnded{Row: t.row, Expansion: again})
	t.row = nil
	t.releaseSlots()
}

// abortWrite releases the locks and the write slot of an announced write that will not be made.
func (t *activation) abortWrite() {
	t.take(runstate.WriteAborted{Node: t.n.ID()})
	t.places.ReleaseWriter(t.n.ID())
}

// releaseSlots releases the run's write slot, and wakes nodes that wait for slots which this node
// does not need now.
func (t *activation) releaseSlots() {
	t.places.ReleaseWriter(t.n.ID())
	if tool := t.n.Spec.Tool; tool != "" {
		t.places.WakeWaiting(t.n.place(tool, t.n.policy))
	}
}

// ask opens an interrupt and lets the node wait for the answer.
func (t *activation) ask(i contracts.Interrupt, s contracts.NodeState) {
	run := &t.run.Run
	i.InterruptID, i.Code, i.Status = NewID("gate"), NewCode(), contracts.InterruptOpen
	i.SessionID, i.RunID, i.NodeID = run.SessionID, run.ID, t.n.ID()
	i.BranchID, i.ToolName, i.CreatedAt = t.n.Spec.BranchID, t.n.Spec.Tool, t.now()
	if t.n.Spec.Policy != nil {
		i.RiskLevel = t.n.policy.RiskLevel
	}
	t.row.State, t.row.QueuedFor, t.row.NextAt = s, "", time.Time{}
	t.take(runstate.InterruptOpened{Row: t.row, Gate: i})
	t.row = nil
	t.releaseSlots()
}

// watchWait sets the timers of a queued node: for its next attempt, and for wait_max if that ends
// first.
func watchWait(on *timers, n *node) {
	next, end := n.Row.NextAt, n.Row.WaitingSince.Add(n.policy.WaitMax())
	if !next.IsZero() {
		on.add(timer{at: next, node: n})
	}
	if n.policy.WaitMaxS > 0 && (next.IsZero() || end.Before(next)) {
		on.add(timer{at: end, node: n})
	}
}

// waitedTooLong reports whether a queued node has used up its wait_max. The time between polls of
// accepted work counts for the attempt instead.
func (n *node) waitedTooLong(now time.Time) bool {
	polls := n.Row.Operation != "" && !n.Row.NextAt.IsZero()
	return n.policy.WaitMaxS > 0 && !n.Row.WaitingSince.IsZero() && !polls &&
		!now.Before(n.Row.WaitingSince.Add(n.policy.WaitMax()))
}
