package execution

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/admission"
	"github.com/manifold-run/manifold/execution/model"
)

// behaviour is what a kind of node does about what happens to it. The owner of a
// run asks it and knows no kinds; it changes the run through its turn alone.
// The set is closed: behaviourOf names them all.
type behaviour interface {
	// start does the next thing for a node that is ready.
	start(t *activation)
	// reply takes the completion of an exchange that the node has begun.
	reply(t *activation, d done)
	// answer takes what became of the node's question, which is recorded.
	answer(t *activation, last contracts.InterruptDecided)
	// resume takes up a node that was under way when its last owner disappeared;
	// false leaves it to be started, at its time.
	resume(t *activation) bool
	// overdue takes that the node has waited as long as it may; false lets it
	// wait on.
	overdue(t *activation) bool
	// unsettled reports whether the node may have had an effect that is not known:
	// then a cancel does not end it.
	unsettled(n *node) bool
}

// behaviourOf returns the behaviour of a node as it was planned. A call that turns
// out to be of another class, by what its capability declares now, changes it.
func behaviourOf(n *model.Node, dryRun bool) behaviour {
	switch {
	case n.Spec.Kind == contracts.KindJoin:
		return join{}
	case n.Spec.Kind == contracts.KindHuman && n.InWorkflow() && n.Spec.Role != contracts.RolePreChoose:
		return asking{}
	case n.Spec.Kind == contracts.KindHuman:
		return human{}
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
	case n.Spec.Kind == contracts.KindRound:
		return round{}
	case n.Spec.ForEach != nil:
		return repeat{}
	case n.Spec.Kind == contracts.KindReason:
		return reason{}
	default:
		return callOf(n.Writes() && !dryRun)
	}
}

func callOf(writes bool) behaviour {
	if writes {
		return write{}
	}
	return read{}
}

// node is a node of the run with what only its present owner knows of it.
type node struct {
	*model.Node

	kind behaviour
	// entry is the capability as it is declared now, nil if it is not; policy is
	// the stricter of what was planned and what is declared.
	entry  *contracts.CapabilityEntry
	policy contracts.Policy
	// cancel ends the exchange that is under way, nil while there is none.
	// lasting tells that it must not be cut off.
	cancel  context.CancelFunc
	lasting bool
}

func (n *node) inflight() bool { return n.cancel != nil }

// observed reports whether the outcome of a write is on record and not yet taken
// into the run.
func (n *node) observed() bool { return n.Intent != nil && n.Intent.Outcome != nil && !n.Ended() }

// place is the node's call as admission knows it.
func (n *node) place(tool string, p contracts.Policy) admission.Call {
	return admission.Call{Node: n.ID(), Tool: tool, Policy: p, Group: n.Spec.Group, GroupLimit: n.Spec.GroupLimit}
}

// host is what a behaviour may ask of the owner of its run itself.
type host interface {
	now() time.Time
	// take applies an event to the run.
	take(e model.Event)
	// flush commits what is pending; false says that it was refused.
	flush() bool
	// lock takes the resource keys of a node, or says who holds the first.
	lock(nodeID string, keys []string) (LockHolder, bool, error)
	// outside is what may be read that is not of the run.
	outside() surroundings
	// stopRun cancels the run because somebody answered so. It commits.
	stopRun(by string)
}

// kit is what a behaviour works with: the run, which it changes by taking
// events, and what the owner keeps beside it.
type kit struct {
	host

	run    *model.State
	places *admission.Run
	timers *timers
	calls  *exchanges
}

// activation is a node in the hands of its behaviour while one thing happens to it.
// row is the row as it will be: each activation ends by exactly one of wait, queue,
// again, running, ask and end, which hands it over.
type activation struct {
	*kit

	n   *node
	row *model.Row
}

// put hands the row over in a state that does not end the node.
func (t *activation) put(s contracts.NodeState) {
	t.row.State = s
	if s != contracts.NodeQueued {
		t.row.QueuedFor, t.row.NextAt = "", time.Time{}
	}
	t.take(model.Moved{Row: t.row})
	t.row = nil
}

// edit begins a new row after one was handed over.
func (t *activation) edit() *model.Row {
	t.row = t.n.Next()
	return t.row
}

// running says that an exchange is about to be under way.
func (t *activation) running() { t.put(contracts.NodeRunning) }

// again puts the node back among the ready ones, and says so in its row.
func (t *activation) again() { t.put(contracts.NodeReady) }

// queue lets the node wait: until a time, or, with a zero time, until somebody
// wakes it. Waiting ends after the policy's wait_max.
func (t *activation) queue(reason string, until time.Time) {
	if t.row.WaitingSince.IsZero() {
		t.row.WaitingSince = t.now()
	}
	t.row.QueuedFor, t.row.NextAt = reason, until
	t.put(contracts.NodeQueued)
	t.places.YieldWriter() // another write need not wait for what this one waits for
	watchWait(t.timers, t.n)
}

// wait lets the node wait for what admission says.
func (t *activation) wait(w admission.Wait) {
	if !w.Until.IsZero() {
		t.timers.add(timer{at: w.Until, key: w.Key})
	}
	t.queue(w.Reason, time.Time{})
}

// admit takes a place for a call, or lets the node wait for one.
func (t *activation) admit(tool string, p contracts.Policy) bool {
	w, ok := t.places.Enter(t.n.place(tool, p), t.now())
	if !ok {
		t.wait(w)
	}
	return ok
}

// note adds a line for those who watch.
func (t *activation) note(e contracts.Event) { t.take(model.Noted{Node: t.n.ID(), What: e}) }

// fail ends the node with an error of the core's own making.
func (t *activation) fail(kind, message string, effect contracts.Effect) {
	t.row.Error = &contracts.ToolError{Type: kind, Message: contracts.CleanSummary(message), Effect: effect}
	t.end(contracts.NodeFailed)
}

// refuse ends the node with the error that its call came to.
func (t *activation) refuse(e *contracts.ToolError) {
	if e == nil {
		e = &contracts.ToolError{Type: contracts.ErrInternal, Message: "the domain gave no reason"}
	}
	kept := *e
	kept.Message, kept.Needs = t.masked(kept.Message), nil
	t.row.Error = &kept
	t.end(contracts.NodeFailed)
}

// masked is a text of a domain without personal data and too long a tail.
func (t *activation) masked(text string) string {
	return contracts.CleanSummary(model.Mask(text, t.n.Private, t.row.Params))
}

// end makes the node terminal, with whatever follows from it in the graph, and
// lets others try in its place.
func (t *activation) end(s contracts.NodeState) {
	t.row.State = s
	t.endWith(t.aftermath())
}

// endWith ends the node as its row says, and adds to the run what it asks for.
func (t *activation) endWith(again *model.Expansion) {
	t.take(model.Ended{Row: t.row, Again: again})
	t.row = nil
	t.passOn()
}

// withdraw gives up what the node holds for a write that is not to be made as
// announced.
func (t *activation) withdraw() {
	t.take(model.Withdrawn{Node: t.n.ID()})
	t.places.EndTurn(t.n.ID())
}

// passOn gives up the turn to write, and lets others try for what the node does
// not want now.
func (t *activation) passOn() {
	t.places.EndTurn(t.n.ID())
	if tool := t.n.Spec.Tool; tool != "" {
		t.places.PassOn(t.n.place(tool, t.n.policy))
	}
}

// ask puts a question to a person and lets the node wait for the answer.
func (t *activation) ask(i contracts.Interrupt, s contracts.NodeState) {
	run := &t.run.Run
	i.InterruptID, i.Code, i.Status = NewID("gate"), NewCode(), contracts.InterruptOpen
	i.SessionID, i.RunID, i.NodeID = run.SessionID, run.ID, t.n.ID()
	i.BranchID, i.ToolName, i.CreatedAt = t.n.Spec.BranchID, t.n.Spec.Tool, t.now()
	if t.n.Spec.Policy != nil {
		i.RiskLevel = t.n.policy.RiskLevel
	}
	t.row.State, t.row.QueuedFor, t.row.NextAt = s, "", time.Time{}
	t.take(model.Asked{Row: t.row, Gate: i})
	t.row = nil
	t.passOn()
}

// watchWait sets the timers of a queued node: for its next try, and for the end
// of its waiting if that comes first.
func watchWait(on *timers, n *node) {
	next, end := n.Row.NextAt, n.Row.WaitingSince.Add(n.policy.WaitMax())
	if !next.IsZero() {
		on.add(timer{at: next, node: n})
	}
	if n.policy.WaitMaxS > 0 && (next.IsZero() || end.Before(next)) {
		on.add(timer{at: end, node: n})
	}
}

// waitedTooLong reports whether a queued node has used up its wait_max. The time
// between polls of accepted work is the attempt's.
func (n *node) waitedTooLong(now time.Time) bool {
	polls := n.Row.Operation != "" && !n.Row.NextAt.IsZero()
	return n.policy.WaitMaxS > 0 && !n.Row.WaitingSince.IsZero() && !polls &&
		!now.Before(n.Row.WaitingSince.Add(n.policy.WaitMax()))
}
