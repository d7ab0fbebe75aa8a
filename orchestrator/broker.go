package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sort"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// ErrReset means that a listener was dropped because it was too slow, or that it asked for a
// position beyond the end of the stream. The listener must start again from the beginning.
var ErrReset = errors.New("the place in the stream is lost")

const (
	// maxBehind is how many batches a listener may lag behind before it is dropped. It bounds the
	// memory for each listener.
	maxBehind = 64
	// readAgain is the pause before a failed read of the store is repeated.
	readAgain = 5 * time.Second
)

// EventBroker fans out session events. It runs one reader per session while there are
// listeners, and reads only when notified.
type EventBroker struct {
	journal  execution.Journal
	notifier Notifier
	logger   *slog.Logger

	mu    sync.Mutex // guards feeds, and the fields of each feed
	feeds map[string]*feed
	work  sync.WaitGroup
}

// NewEventBroker returns a broker for the events of a journal.
func NewEventBroker(journal execution.Journal, notifier Notifier, logger *slog.Logger) *EventBroker {
	return &EventBroker{journal: journal, notifier: notifier, logger: cmp.Or(logger, slog.New(slog.DiscardHandler)), feeds: map[string]*feed{}}
}

// feed reads one session while it has listeners.
type feed struct {
	last    int64
	members map[*Listener]bool
	stop    context.CancelFunc
}

// Listener receives the events of a session: first those that it has missed, then each new one,
// without gaps or repeats.
type Listener struct {
	live    *EventBroker
	session string
	feed    *feed
	queue   chan []contracts.Event
	// seen is the last event that Next returned; the feed delivers the events after joined.
	seen, joined int64
}

// Listen subscribes to the events of a session after a sequence number, 0 for all. It returns
// ErrReset if the number is beyond the last event. The caller must check access first, and must
// call Close at the end.
func (v *EventBroker) Listen(ctx context.Context, sessionID string, after int64) (*Listener, error) {
	last, err := LastSeq(ctx, v.journal, sessionID)
	if err != nil {
		return nil, err
	}
	if after > last {
		return nil, ErrReset
	}
	l := &Listener{live: v, session: sessionID, queue: make(chan []contracts.Event, maxBehind), seen: after}
	v.join(ctx, l, last)
	return l, nil
}

func (v *EventBroker) join(ctx context.Context, l *Listener, last int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.feeds[l.session]
	if f == nil {
		// The feed serves all listeners, so the context of the first one's request must not end it.
		work, stop := context.WithCancel(context.WithoutCancel(ctx))
		f = &feed{last: last, members: map[*Listener]bool{}, stop: stop}
		v.feeds[l.session] = f
		v.work.Go(func() { v.run(work, l.session, f) })
	}
	f.members[l] = true
	l.feed, l.joined = f, f.last
}

// Close ends the subscription; a second call is harmless.
func (l *Listener) Close() {
	v := l.live
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(l.feed.members, l)
	if len(l.feed.members) == 0 && v.feeds[l.session] == l.feed {
		delete(v.feeds, l.session)
		l.feed.stop()
	}
}

// Stop ends all feeds and waits for them; listeners receive no further events.
func (v *EventBroker) Stop() {
	v.mu.Lock()
	for id, f := range v.feeds {
		delete(v.feeds, id)
		f.stop()
	}
	v.mu.Unlock()
	v.work.Wait()
}

// run reads new events and delivers them until the last listener has closed.
func (v *EventBroker) run(ctx context.Context, sessionID string, f *feed) {
	signal, leave := v.notifier.Subscribe(sessionID, true)
	defer leave()
	for {
		var again <-chan time.Time
		if err := v.read(ctx, sessionID, f); err != nil && ctx.Err() == nil {
			v.logger.WarnContext(ctx, "live events are held up", slog.String("session_id", sessionID), slog.Any("error", err))
			again = time.After(readAgain)
		}
		select {
		case <-signal:
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}

func (v *EventBroker) read(ctx context.Context, sessionID string, f *feed) error {
	for {
		events, err := v.journal.Events(ctx, sessionID, f.last, contracts.MaxEvents) // only this goroutine changes last
		if err != nil || len(events) == 0 {
			return err
		}
		v.publish(f, events)
	}
}

// publish queues a batch for every listener. A listener whose queue is full is dropped, so that it
// does not delay the others.
func (v *EventBroker) publish(f *feed, events []contracts.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f.last = events[len(events)-1].Seq
	for l := range f.members {
		select {
		case l.queue <- events:
		default:
			delete(f.members, l)
			close(l.queue)
		}
	}
}

// Next returns the next events, or none if there are none within wait.
func (l *Listener) Next(ctx context.Context, wait time.Duration) ([]contracts.Event, error) {
	if l.seen < l.joined {
		return l.replay(ctx)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case events, ok := <-l.queue:
		if !ok {
			return nil, ErrReset
		}
		// The feed may have been behind the requested position.
		events = events[sort.Search(len(events), func(n int) bool { return events[n].Seq > l.seen }):]
		if len(events) > 0 {
			l.seen = events[len(events)-1].Seq
		}
		return events, nil
	case <-timer.C:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// replay returns a page of the events before the listener joined.
func (l *Listener) replay(ctx context.Context) ([]contracts.Event, error) {
	events, err := l.live.journal.Events(ctx, l.session, l.seen, contracts.MaxEvents)
	if err != nil {
		return nil, err
	}
	for n, e := range events {
		if e.Seq > l.joined {
			events = events[:n]
			break
		}
	}
	if len(events) == 0 {
		l.seen = l.joined // those events have been deleted since
		return nil, nil
	}
	l.seen = events[len(events)-1].Seq
	return events, nil
}

// LastSeq returns the number of a session's newest event, 0 if there is none. It doubles its step
// until it is past the end and then starts again with a step of one, so that a long session costs
// few small reads.
func LastSeq(ctx context.Context, journal execution.Journal, sessionID string) (int64, error) {
	low, step := int64(0), int64(1)
	for step > 0 {
		events, err := journal.Events(ctx, sessionID, low+step-1, 1)
		switch {
		case err != nil:
			return 0, err
		case len(events) > 0:
			low, step = events[0].Seq, step*2
		case step == 1:
			return low, nil
		default:
			step = 1
		}
	}
	return low, nil
}
