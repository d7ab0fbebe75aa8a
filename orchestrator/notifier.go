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
	// Committed signals a change of a session or run, "" if unknown; with neither, everything may
	// have changed. It never blocks. The runner calls it as its execution.Observer, the use cases
	// call it after their own commits.
	Committed(sessionID, runID string)
	// Progressed signals a commit of a run that continues: it has opened no interrupt and has not
	// ended.
	Progressed(sessionID, runID string)
	// Subscribe returns a channel with a signal after each change of the session. progress says
	// whether Progressed signals too. Signals that are not yet received are merged into one. leave
	// ends the subscription.
	Subscribe(sessionID string, progress bool) (signal <-chan struct{}, leave func())
	// Listen calls told after each change of any session, in the goroutine that commits, so told
	// must be quick. leave ends it; a call in progress may outlast leave.
	Listen(told func(Change)) (leave func())
}

// Change is a notification: the session that changed, and its run if there is one. An empty session
// means that everything may have changed.
type Change struct{ SessionID, RunID string }

// Touches reports whether the change may concern the session.
func (c Change) Touches(sessionID string) bool { return c.SessionID == "" || c.SessionID == sessionID }

// LocalNotifier is the Notifier of one process: it signals the commits of this process. To forward
// changes of other processes, call Committed. It is safe for concurrent use.
type LocalNotifier struct {
	mu sync.Mutex // guards the fields below; not held during callbacks
	// waiting has the subscribers of each session, and whether they want progress.
	waiting   map[string]map[chan struct{}]bool
	listeners []*func(Change) // copied on write
}

// NewLocalNotifier returns a notifier to be shared by the runner and the use cases.
func NewLocalNotifier() *LocalNotifier {
	return &LocalNotifier{waiting: map[string]map[chan struct{}]bool{}}
}

// Committed signals the subscribers of the session and calls the listeners.
func (n *LocalNotifier) Committed(sessionID, runID string) {
	n.publish(sessionID, runID, false)
}

// Progressed is like Committed, but only signals the subscribers that want progress.
func (n *LocalNotifier) Progressed(sessionID, runID string) { n.publish(sessionID, runID, true) }

func (n *LocalNotifier) publish(sessionID, runID string, progress bool) {
	for _, told := range n.wake(sessionID, progress) {
		(*told)(Change{SessionID: sessionID, RunID: runID})
	}
}

// wake signals the subscribers and returns the listeners.
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
		default: // the previous signal is not received yet
		}
	}
}

// Subscribe returns a channel with a signal after each change of the session.
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

// WaitFor calls done at once and after every change of the session, until it reports true, wait
// elapses or ctx ends.
func WaitFor(ctx context.Context, n Notifier, sessionID string, wait time.Duration, done func(context.Context) (bool, error)) error {
	signal, leave := n.Subscribe(sessionID, true)
	defer leave()
	return waitLoop(ctx, signal, wait, done)
}

// WaitUntilIdle is like WaitFor, but does not call done for mere progress of a run: it is for
// callers that wait until a run opens an interrupt or ends.
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
