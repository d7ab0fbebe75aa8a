package orchestrator

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Notifier tells those who wait that a run or a session changed: a port, because
// commits of other processes come from the store. It is only a hint, and carries
// nothing: who is told looks at the store. But it is a hint on which people rely
// who do not look in between, so that a run that waits for a day costs nothing:
//
//   - it comes after the commit, never before;
//   - it is not lost: a notifier that may have missed some, such as one whose
//     connection was cut, tells a change of everything.
type Notifier interface {
	// Committed tells of a change, "" for a run or a session that is not known; with
	// neither, everything may have changed. It never blocks. The runner calls it as
	// its execution.Observer, the use cases after their own commits.
	Committed(sessionID, runID string)
	// Progressed tells of a commit of a run that goes on as before: it has asked nobody
	// and has not ended.
	Progressed(sessionID, runID string)
	// Subscribe gives a signal after each change of the session, progress included or
	// not; several that came while nobody looked are one. leave ends it.
	Subscribe(sessionID string, progress bool) (signal <-chan struct{}, leave func())
	// Listen calls told after each change of any session, in the goroutine of who
	// commits: it must be quick. leave ends it; a call that is under way may outlast
	// it.
	Listen(told func(Change)) (leave func())
}

// Change is a notification: the session that changed, and its run if there is one.
// Without a session everything may have changed.
type Change struct{ SessionID, RunID string }

// Touches reports whether a change may concern the session.
func (c Change) Touches(sessionID string) bool { return c.SessionID == "" || c.SessionID == sessionID }

// LocalNotifier is the Notifier of one process: it notifies of what is
// committed here. One that receives the changes of other processes calls Committed for them. All of it
// may be used by several goroutines.
type LocalNotifier struct {
	mu sync.Mutex // guards the fields below; nobody is called while it is held
	// waiting are those who wait for a session, and whether for its progress too.
	waiting   map[string]map[chan struct{}]bool
	listeners []*func(Change) // replaced and never changed
}

// NewLocalNotifier makes a notifier; the runner and the use cases share it.
func NewLocalNotifier() *LocalNotifier {
	return &LocalNotifier{waiting: map[string]map[chan struct{}]bool{}}
}

// Committed wakes those who wait for the session, and calls who listens.
func (n *LocalNotifier) Committed(sessionID, runID string) {
	n.tell(sessionID, runID, false)
}

// Progressed is Committed for those who wait for progress too.
func (n *LocalNotifier) Progressed(sessionID, runID string) { n.tell(sessionID, runID, true) }

func (n *LocalNotifier) tell(sessionID, runID string, progress bool) {
	for _, told := range n.wake(sessionID, progress) {
		(*told)(Change{SessionID: sessionID, RunID: runID})
	}
}

// wake signals to who waits, and gives who listens.
func (n *LocalNotifier) wake(sessionID string, progress bool) []*func(Change) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if sessionID != "" {
		signalAll(n.waiting[sessionID], progress)
		return n.listeners
	}
	for _, waiting := range n.waiting {
		signalAll(waiting, progress)
	}
	return n.listeners
}

func signalAll(waiting map[chan struct{}]bool, progress bool) {
	for c, wanted := range waiting {
		if progress && !wanted {
			continue
		}
		select {
		case c <- struct{}{}:
		default: // it has one that it has not seen yet
		}
	}
}

// Subscribe returns a signal after each change of the session.
func (n *LocalNotifier) Subscribe(sessionID string, progress bool) (signal <-chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting[sessionID] == nil {
		n.waiting[sessionID] = map[chan struct{}]bool{}
	}
	n.waiting[sessionID][c] = progress
	return c, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.waiting[sessionID], c)
		if len(n.waiting[sessionID]) == 0 {
			delete(n.waiting, sessionID)
		}
	}
}

// Listen calls told after each change of any session.
func (n *LocalNotifier) Listen(told func(Change)) (leave func()) {
	entry := &told
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners = append(slices.Clip(n.listeners), entry)
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.listeners = slices.DeleteFunc(slices.Clone(n.listeners), func(l *func(Change)) bool { return l == entry })
	}
}

// Until looks until done says so, the time is over or the caller is gone. It
// looks at least once, then after each change of the session, and the last look
// is what the caller has.
func Until(ctx context.Context, n Notifier, sessionID string, wait time.Duration, done func(context.Context) (bool, error)) error {
	signal, leave := n.Subscribe(sessionID, true)
	defer leave()
	return look(ctx, signal, wait, done)
}

// UntilRest is Until for who waits until a run asks somebody or ends: it does not look
// when the run only goes on.
func UntilRest(ctx context.Context, n Notifier, sessionID string, wait time.Duration, done func(context.Context) (bool, error)) error {
	signal, leave := n.Subscribe(sessionID, false)
	defer leave()
	return look(ctx, signal, wait, done)
}

func look(ctx context.Context, signal <-chan struct{}, wait time.Duration, done func(context.Context) (bool, error)) error {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		ended, err := done(ctx)
		if err != nil || ended || wait <= 0 {
			return err
		}
		select {
		case <-signal:
		case <-deadline.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
