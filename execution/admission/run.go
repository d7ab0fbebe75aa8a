package admission

import (
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Call is a call that asks for admission.
type Call struct {
	Node   string
	Tool   string // namespaced
	Policy contracts.Policy
	// Group and GroupLimit limit the concurrent calls of one list.
	Group      string
	GroupLimit int
}

// Wait describes what a call waits for. Until is set if a timer ends the wait; then it applies to
// all nodes that wait for the key.
type Wait struct {
	Key    Key
	Reason string // for people
	Until  time.Time
}

// Run is the state of one run in admission: its calls in flight, and its waiting nodes. Only the
// goroutine that owns the run may use it.
type Run struct {
	limits *Limits
	id     string
	// nudge notifies the owner, from any goroutine, that a shared key has a free slot. wake lets a
	// node of the run try again; it reports false if the node no longer waits.
	nudge func(key Key)
	wake  func(node string) bool

	// places counts the exchanges of this run by key; batches are those of chunked capabilities.
	places  map[Key]int
	batches map[Key]*batch
	held    map[string][]Key // node → shared keys that it has a slot of
	waiting map[Key][]string // key → nodes, longest first
	timed   map[Key]bool     // keys for which a timer has been set
	// writer is the node that writes; a run has one write in flight.
	writer string
	// single means that the run has at most one exchange in flight.
	single bool
}

// batch is the current batch of a chunked capability.
type batch struct{ started, running int }

// Key names a limit, or another thing that nodes wait for.
type Key struct {
	kind kind
	of   string
}

type kind byte

const (
	ofCalls      kind = iota // all of this replica
	ofCapability             // of one capability
	ofDomain                 // of one domain
	ofRate                   // per minute, of one capability
	ofGroup                  // of one list of a run
	ofMode                   // of one capability inside a run
	ofLock                   // not a limit: nodes that wait for a lock
	ofTurn                   // not a limit: nodes that wait for another write of the run
	ofRun                    // of one run whose exchanges are serialized
)

// NewRun returns the admission state of one run.
func NewRun(limits *Limits, runID string, nudge func(key Key), wake func(node string) bool) *Run {
	return &Run{
		limits: limits, id: runID, nudge: nudge, wake: wake,
		places: map[Key]int{}, batches: map[Key]*batch{}, held: map[string][]Key{},
		waiting: map[Key][]string{}, timed: map[Key]bool{},
	}
}

// Serialize limits the run to one exchange at a time.
func (r *Run) Serialize() { r.single = true }

// Enter takes a slot of every limit that applies to the call. It reports false and what the node
// waits for if one has none.
func (r *Run) Enter(c Call, now time.Time) (Wait, bool) {
	if key, ok := r.checkRunLimits(c); !ok {
		return r.wait(c.Node, Wait{Key: key, Reason: "other calls of this run"})
	}
	held := make([]Key, 0, 3)
	for _, s := range r.shares(c) {
		if !r.limits.acquire(s.key, s.limit, r.id, func() { r.nudge(s.key) }) {
			r.giveBack(held)
			return r.wait(c.Node, Wait{Key: s.key, Reason: s.reason})
		}
		held = append(held, s.key)
	}
	rate := rateKey(c.Tool)
	if wait := r.limits.allow(rate, c.Policy.RateLimitPerMin, now); wait > 0 {
		r.giveBack(held)
		w := Wait{Key: rate, Reason: "the rate limit of " + c.Tool}
		if !r.timed[rate] { // one timer serves all waiting nodes, one after the other
			r.timed[rate], w.Until = true, now.Add(wait)
		}
		return r.wait(c.Node, w)
	}
	r.occupy(c)
	r.held[c.Node] = held
	for _, key := range held {
		r.WakeNext(key) // other waiting nodes try too, or wait again
	}
	r.WakeNext(rate)
	if key, room := r.checkRunLimits(c); room {
		r.WakeNext(key)
	}
	return Wait{}, true
}

func (r *Run) wait(node string, w Wait) (Wait, bool) {
	r.waiting[w.Key] = append(r.waiting[w.Key], node)
	return w, false
}

func (r *Run) giveBack(keys []Key) {
	for _, key := range keys {
		r.limits.release(key)
	}
}

// share is a limit that the calls of all runs share.
type share struct {
	key    Key
	limit  int
	reason string
}

// shares returns the shared limits of a call. A domain gets at most half of all calls, so that a
// slow domain leaves slots for the others.
func (r *Run) shares(c Call) [3]share {
	return [3]share{
		{capKey(c.Tool), c.Policy.MaxConcurrency, "room at " + c.Tool},
		{domainKey(c.Tool), max(r.limits.calls/2, 1), "room at its domain"},
		{Key{kind: ofCalls}, r.limits.calls, "room for one more call"},
	}
}

// checkRunLimits checks the limits within one run: the limit of its list, and the execution mode.
func (r *Run) checkRunLimits(c Call) (Key, bool) {
	list, mode := groupKey(c.Group), modeKey(c.Tool)
	if r.single && r.places[Key{kind: ofRun}] > 0 {
		return Key{kind: ofRun}, false
	}
	if c.GroupLimit > 0 && r.places[list] >= c.GroupLimit {
		return list, false
	}
	switch c.Policy.ExecutionMode {
	case contracts.ModeSequential:
		return mode, r.places[mode] == 0
	case contracts.ModeParallelChunked:
		b := r.batches[mode]
		return mode, b == nil || b.started < c.Policy.ChunkSize
	default:
		return Key{}, true
	}
}

func (r *Run) occupy(c Call) {
	mode := modeKey(c.Tool)
	r.places[Key{kind: ofRun}]++
	r.places[groupKey(c.Group)]++
	r.places[mode]++
	if c.Policy.ExecutionMode != contracts.ModeParallelChunked {
		return
	}
	b := r.batches[mode]
	if b == nil {
		b = &batch{}
		r.batches[mode] = b
	}
	b.started++
	b.running++
}

// Leave releases all slots of a call.
func (r *Run) Leave(c Call) {
	r.giveBack(r.held[c.Node])
	delete(r.held, c.Node)
	list, mode := groupKey(c.Group), modeKey(c.Tool)
	r.places[Key{kind: ofRun}]--
	r.places[list]--
	r.places[mode]--
	r.WakeNext(list)
	defer r.WakeNext(Key{kind: ofRun})
	b := r.batches[mode]
	if b == nil {
		r.WakeNext(mode)
		return
	}
	if b.running--; b.running == 0 { // the next batch starts when the last one has ended
		delete(r.batches, mode)
		r.WakeNext(mode)
	}
}

// Close releases the slots of all remaining calls.
func (r *Run) Close() {
	for node, keys := range r.held {
		r.giveBack(keys)
		delete(r.held, node)
	}
}

// AwaitWriter reports whether the node may write now. If not, the node waits until the write in
// flight has ended.
func (r *Run) AwaitWriter(node string) (Wait, bool) {
	if r.writer == "" || r.writer == node {
		return Wait{}, true
	}
	return r.wait(node, Wait{Key: Key{kind: ofTurn}, Reason: "another write of this run"})
}

// SetWriter gives the node the run's write slot.
func (r *Run) SetWriter(node string) { r.writer = node }

// ReleaseWriter releases the write slot if the node holds it, and wakes the next writer.
func (r *Run) ReleaseWriter(node string) {
	if r.writer == node {
		r.writer = ""
		r.WakeNext(Key{kind: ofTurn})
	}
}

// AwaitLock records that the node waits for a lock that another run holds.
func (r *Run) AwaitLock(node, reason string) Wait {
	w, _ := r.wait(node, Wait{Key: Key{kind: ofLock}, Reason: reason})
	return w
}

// WakeLockWaiters wakes all nodes that wait for a lock.
func (r *Run) WakeLockWaiters() {
	for len(r.waiting[Key{kind: ofLock}]) > 0 {
		r.WakeNext(Key{kind: ofLock})
	}
}

// WakeWaiting wakes nodes that wait for the slots of a call which was admitted and not made:
// its node ended, or waits for a person or for something else.
func (r *Run) WakeWaiting(c Call) {
	r.WakeNextWriter()
	for _, key := range []Key{{kind: ofRun}, groupKey(c.Group), modeKey(c.Tool), capKey(c.Tool), domainKey(c.Tool), {kind: ofCalls}, rateKey(c.Tool)} {
		r.WakeNext(key)
	}
}

// WakeNextWriter wakes the next writer if no write is in flight.
func (r *Run) WakeNextWriter() {
	if r.writer == "" {
		r.WakeNext(Key{kind: ofTurn})
	}
}

// WakeNext wakes the next node that waits for the key.
func (r *Run) WakeNext(key Key) {
	queue := r.waiting[key]
	if len(queue) == 0 {
		return
	}
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		if r.wake(node) {
			break
		}
	}
	if r.waiting[key] = queue; len(queue) == 0 {
		delete(r.waiting, key)
	}
}

// TimerFired wakes the next node that waits for a key whose timer has fired.
func (r *Run) TimerFired(key Key) {
	delete(r.timed, key)
	r.WakeNext(key)
}

// WaitsForSlot reports whether a node waits for a limit. Limits are released without a wake-up in
// the store.
func (r *Run) WaitsForSlot() bool {
	for key, waiting := range r.waiting {
		if key != (Key{kind: ofLock}) && key != (Key{kind: ofTurn}) && len(waiting) > 0 {
			return true
		}
	}
	return false
}

// WaitingForSlots returns the nodes that wait for a limit.
func (r *Run) WaitingForSlots() []string {
	var nodes []string
	for key, waiting := range r.waiting {
		if key != (Key{kind: ofLock}) && key != (Key{kind: ofTurn}) {
			nodes = append(nodes, waiting...)
		}
	}
	return nodes
}

func groupKey(of string) Key  { return Key{ofGroup, of} }
func modeKey(tool string) Key { return Key{ofMode, tool} }
func capKey(tool string) Key  { return Key{ofCapability, tool} }
func rateKey(tool string) Key { return Key{ofRate, tool} }
func domainKey(tool string) Key {
	of, _, _ := strings.Cut(tool, ".")
	return Key{ofDomain, of}
}

// LockKeys expands the {param} placeholders of lock templates and returns the sorted keys. An
// absent parameter is *.
func LockKeys(templates []string, text func(param string) string) []string {
	var keys []string
	for _, template := range templates {
		keys = append(keys, fill(template, text))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func fill(template string, text func(param string) string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		out.WriteString(text(name))
		template = after
	}
}
