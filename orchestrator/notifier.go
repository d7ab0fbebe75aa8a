package orchestrator

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Notifier notifies subscribers that a run or a session changed. It is a port, because other
// processes commit to the same store. A notification has no content: subscribers must read
// the store. Subscribers do not poll, so that a parked run costs nothing:
//
//   - a notification is sent after the commit, never before;
//   - none may be dropped: a notifier that may have missed some, such as one that has lost
//     its connection, signals that everything may have changed.
type Notifier interface {
	// Committed tells of a change, "" for a run or a session that is not known; with
	// neither, everything may have changed. It never blocks. The runner calls it as
	// its execution.Observer, the use cases after their own commits.
	Committed(sessionID, runID string)
	// Progressed tells of a commit of a run that goes on as before: it has asked nobody
	// and has not ended.
	Progressed(sessionID, runID string)
	// Subscribe returns a signal after each change of the session, progress included or
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
	n.publish(sessionID, runID, false)
}

// Progressed is Committed for those who wait for progress too.
func (n *LocalNotifier) Progressed(sessionID, runID string) { n.publish(sessionID, runID, true) }

func (n *LocalNotifier) publish(sessionID, runID string, progress bool) {
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

// WaitFor calls done once and again after every change of the session, until it reports true,
// wait elapses or ctx ends.
func WaitFor(ctx context.Context, n Notifier, sessionID string, wait time.Duration, done func(context.Context) (bool, error)) error {
	signal, leave := n.Subscribe(sessionID, true)
	defer leave()
	return waitLoop(ctx, signal, wait, done)
}

// WaitUntilIdle is Until for who waits until a run asks somebody or ends: it does not look
// when the run only goes on.
func WaitUntilIdle(ctx context.Context, n Notifier, sessionID string, wait time.Duration, done func(context.Context) (bool, error)) error {
	signal, leave := n.Subscribe(sessionID, false)
	defer leave()
	return waitLoop(ctx, signal, wait, done)
}

func waitLoop(ctx context.Context, signal <-chan struct{}, wait time.Duration, done func(context.Context) (bool, error)) error {
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
