package execution

import (
	"container/heap"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// setState changes the state of a node that does not end.
func (l *loop) setState(n *node, s contracts.NodeState) {
	n.v.state, n.rec.State = s, s
	if s != contracts.NodeQueued {
		n.rec.QueuedFor, n.rec.NextAt = "", time.Time{}
	}
	l.touch(n)
}

// queue lets a node wait: until a time, or, with a zero time, until somebody
// puts it back among the ready ones. Waiting ends after the policy's wait_max.
func (l *loop) queue(n *node, reason string, until time.Time) {
	now := l.r.cfg.Now()
	l.setState(n, contracts.NodeQueued)
	if n.rec.WaitingSince.IsZero() {
		n.rec.WaitingSince = now
	}
	n.rec.QueuedFor, n.rec.NextAt = reason, until
	if l.writing == nil {
		l.undefer(writeKey) // another write need not wait for what this one waits for
	}
	l.watchWait(n)
}

// watchWait sets the timers of a queued node: for its next try, and for the end
// of its waiting if that comes first.
func (l *loop) watchWait(n *node) {
	next, end := n.rec.NextAt, n.rec.WaitingSince.Add(n.policy.WaitMax())
	if !next.IsZero() {
		l.timers.add(next, n)
	}
	if n.policy.WaitMaxS > 0 && (next.IsZero() || end.Before(next)) {
		l.timers.add(end, n)
	}
}

// again puts a node back among the ready ones, and says so in its row.
func (l *loop) again(n *node) {
	l.setState(n, contracts.NodeReady)
	l.graph.again(n.v)
}

// passOn lets others try in the place of a node that was let go and did not
// go: it ended, or waits for a person.
func (l *loop) passOn(n *node) {
	if n.v.spec.Kind != contracts.KindTool {
		return
	}
	if l.writing == nil {
		l.undefer(writeKey)
	}
	tool := n.v.spec.Tool
	for _, key := range []string{groupKey(n), modeKey(tool), capKey(tool), domainKey(tool), callsKey, rateKey(tool)} {
		l.undefer(key)
	}
}

// waitedTooLong tells whether a queued node has used up its wait_max. The time
// between polls of accepted work is the attempt's.
func (l *loop) waitedTooLong(n *node) bool {
	polls := n.rec.Operation != "" && !n.rec.NextAt.IsZero()
	return n.policy.WaitMaxS > 0 && !n.rec.WaitingSince.IsZero() && !polls &&
		!l.r.cfg.Now().Before(n.rec.WaitingSince.Add(n.policy.WaitMax()))
}

// deferUntilRoom lets a node wait for a limit.
func (l *loop) deferUntilRoom(n *node, key, reason string) {
	l.queue(n, reason, time.Time{})
	l.deferred[key] = append(l.deferred[key], n)
}

// undefer lets the next node that waits for the key try again.
func (l *loop) undefer(key string) {
	queue := l.deferred[key]
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if n.v.state == contracts.NodeQueued {
			l.graph.again(n.v)
			break
		}
	}
	if l.deferred[key] = queue; len(queue) == 0 {
		delete(l.deferred, key)
	}
}

func (l *loop) undeferAll(key string) {
	for len(l.deferred[key]) > 0 {
		l.undefer(key)
	}
}

// fireTimers lets nodes whose time has come try again, and ends gates that
// have expired.
func (l *loop) fireTimers() {
	now := l.r.cfg.Now()
	for {
		t, ok := l.timers.due(now)
		if !ok {
			return
		}
		switch n := t.node; {
		case t.key != "":
			delete(l.timed, t.key)
			l.undefer(t.key)
		case n == nil:
			l.readSignals()
		case n.v.state == contracts.NodeQueued:
			l.fireQueued(n, now)
		case n.v.state == contracts.NodeAwaitingApproval:
			l.expireGate(n)
		}
	}
}

func (l *loop) fireQueued(n *node, now time.Time) {
	switch {
	case l.waitedTooLong(n) && !l.inDoubt(n):
		l.fail(n, contracts.ErrTimeout, "waited longer than wait_max_s for "+n.rec.QueuedFor, contracts.EffectNone)
	case l.waitedTooLong(n) && n.rec.Step == StepSent:
		n.rec.WaitingSince = now
		l.doubt(n, Reply{Timeout: true, Message: "waited longer than wait_max_s for " + n.rec.QueuedFor})
	case n.rec.NextAt.IsZero() || n.rec.NextAt.After(now):
	default:
		l.graph.again(n.v)
	}
}

// fail ends a node with an error of the core's own making.
func (l *loop) fail(n *node, kind, message string, effect contracts.Effect) {
	n.rec.Error = &contracts.ToolError{Type: kind, Message: contracts.CleanSummary(message), Effect: effect}
	l.end(n, contracts.NodeFailed)
}

// end makes a node terminal: ledger, event, locks, and whatever follows from
// it in the graph.
func (l *loop) end(n *node, s contracts.NodeState) {
	now := l.r.cfg.Now()
	n.rec.FinishedAt, n.rec.Step = &now, StepNone
	n.rec.QueuedFor, n.rec.NextAt = "", time.Time{}
	l.withdraw(n)
	l.record(n, contracts.LedgerEntry{Kind: contracts.LedgerOutcome, Key: n.rec.key(l.stored.ID)}, outcomePayload(n, s))
	l.emitFor(n, endEvent(n, s, now))
	skipped := l.graph.settle(n.v, s)
	n.rec.State = s
	l.touch(n)
	l.passOn(n)
	for _, v := range skipped {
		l.skipped(v)
	}
}

// outcome is the ledger's account of how a node ended.
type outcome struct {
	State     contracts.NodeState    `json:"state"`
	Summary   string                 `json:"summary,omitempty"`
	Facts     map[string]any         `json:"facts,omitempty"`
	Artifacts contracts.ArtifactRefs `json:"artifacts,omitempty"`
	Error     *contracts.ToolError   `json:"error,omitempty"`
	Checks    []contracts.Check      `json:"checks,omitempty"`
	Attempts  int                    `json:"attempts,omitempty"`
}

func outcomePayload(n *node, s contracts.NodeState) outcome {
	o := outcome{State: s, Error: n.rec.Error, Checks: n.rec.Checks, Attempts: n.rec.Attempts}
	if r := n.rec.Result; r != nil {
		o.Summary, o.Facts, o.Artifacts = r.Summary, r.Facts, r.Artifacts
	}
	return o
}

func endEvent(n *node, s contracts.NodeState, now time.Time) contracts.Event {
	e := contracts.Event{Type: contracts.EventNodeEnd, Status: string(s)}
	if n.rec.StartedAt != nil {
		e.DurationMS = now.Sub(*n.rec.StartedAt).Milliseconds()
	}
	if n.rec.Result != nil {
		e.Summary = n.rec.Result.Summary
	}
	if n.rec.Error != nil {
		e.Type, e.Summary = contracts.EventNodeError, n.rec.Error.Message
	}
	return e
}

// skipped notes that a node cannot run because of one before it.
func (l *loop) skipped(v *vertex) {
	n := l.nodes[v.spec.NodeID]
	now := l.r.cfg.Now()
	n.rec.State, n.rec.FinishedAt = contracts.NodeSkipped, &now
	l.touch(n)
	l.emitFor(n, contracts.Event{Type: contracts.EventNodeEnd, Status: string(contracts.NodeSkipped)})
}

// begun notes the first start of a node.
func (l *loop) begun(n *node) {
	if n.rec.StartedAt != nil {
		return
	}
	now := l.r.cfg.Now()
	n.rec.StartedAt = &now
	l.emitFor(n, contracts.Event{Type: contracts.EventNodeStart, Status: string(contracts.NodeRunning)})
}

// masked hides the values of parameters that are marked as personal data.
func (l *loop) masked(n *node, text string) string {
	if n.entry == nil || text == "" {
		return text
	}
	for name, spec := range n.entry.Capability.Metadata.ParameterSpecs {
		if spec.PII {
			text = hide(text, n.rec.Params[name])
		}
	}
	return text
}

// hide takes every text and number of a value out of a text.
func hide(text string, value any) string {
	switch v := value.(type) {
	case nil, bool:
	case map[string]any:
		for _, item := range v {
			text = hide(text, item)
		}
	case []any:
		for _, item := range v {
			text = hide(text, item)
		}
	default:
		if s := asText(v); s != "" {
			text = strings.ReplaceAll(text, s, "•••")
		}
	}
	return text
}

func writes(n *node) bool {
	return n.v.spec.Policy != nil && n.v.spec.Policy.SideEffectClass.Writes()
}

// timer is when a node is to be looked at, or the nodes that wait for the key;
// with neither it is the run itself.
type timer struct {
	at   time.Time
	node *node
	key  string
}

// timerHeap orders timers by time. Timers are never removed: a node that moved
// on is simply not interested any more.
type timerHeap struct{ items timerItems }

func (h *timerHeap) add(at time.Time, n *node) { heap.Push(&h.items, timer{at: at, node: n}) }

func (h *timerHeap) addKey(at time.Time, key string) { heap.Push(&h.items, timer{at: at, key: key}) }

// next is the time of the first timer that still matters, zero if there is none.
func (h *timerHeap) next() time.Time {
	for len(h.items) > 0 {
		if t := h.items[0]; t.node == nil || t.matters() {
			return t.at
		}
		heap.Pop(&h.items)
	}
	return time.Time{}
}

func (h *timerHeap) due(now time.Time) (timer, bool) {
	if at := h.next(); at.IsZero() || at.After(now) {
		return timer{}, false
	}
	t, ok := heap.Pop(&h.items).(timer)
	return t, ok
}

func (t timer) matters() bool {
	return slices.Contains([]contracts.NodeState{contracts.NodeQueued, contracts.NodeAwaitingApproval}, t.node.v.state)
}

type timerItems []timer

func (h timerItems) Len() int           { return len(h) }
func (h timerItems) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h timerItems) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a timer; container/heap calls it.
func (h *timerItems) Push(x any) {
	if t, ok := x.(timer); ok {
		*h = append(*h, t)
	}
}

// Pop removes the last; container/heap calls it.
func (h *timerItems) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
