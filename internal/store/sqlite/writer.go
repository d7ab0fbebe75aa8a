package sqlite

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

const (
	// maxBatch bounds the writes of one transaction, so that the first of them
	// need not wait long for its commit.
	maxBatch = 512
	// maxQueue bounds the writes that wait for the next transaction.
	maxQueue = 16384
)

// writer is the one goroutine that changes the database.
type writer struct {
	handle *handle
	now    func() time.Time
	// wake holds a token while something is queued.
	wake chan struct{}
	// closed is closed when no write is accepted any more, ended when the last
	// one was answered.
	closed, ended chan struct{}

	mu      sync.Mutex // guards the fields below
	queue   []*operation
	closing bool
}

// operation is one write that waits for its turn. It may be run again, when a
// batch has to be repeated with care; its changes of the time before are gone
// then.
type operation struct {
	ctx   context.Context //nolint:containedctx // asked once, just before the write runs
	doing string
	run   func(context.Context, *tx) error
	// begun is set by whoever comes first: the writer that begins, or the caller
	// that gives up.
	begun atomic.Bool
	done  chan error
}

// tx is the transaction that a write runs in.
type tx struct {
	*handle

	// now is the store's clock.
	now time.Time
}

func startWriter(h *handle, now func() time.Time) *writer {
	w := &writer{handle: h, now: now, wake: make(chan struct{}, 1), closed: make(chan struct{}), ended: make(chan struct{})}
	go w.loop()
	return w
}

// close refuses new writes, waits for those that are queued, and tells whether
// it was open.
func (w *writer) close() bool {
	w.mu.Lock()
	first := !w.closing
	w.closing = true
	if first {
		close(w.closed)
	}
	w.mu.Unlock()
	w.poke()
	<-w.ended
	return first
}

// write runs a change in a transaction and returns when it is on the disk, or
// when it was refused. A write whose context ends before it began is not done.
func (s *file) write(ctx context.Context, doing string, run func(context.Context, *tx) error) error {
	o := &operation{ctx: ctx, doing: doing, run: run, done: make(chan error, 1)}
	if err := s.writer.push(o); err != nil {
		return err
	}
	select {
	case err := <-o.done:
		return translate(doing, err)
	case <-ctx.Done():
	}
	if o.begun.CompareAndSwap(false, true) {
		return translate(doing, ctx.Err())
	}
	// It has begun: only its own answer tells whether it happened.
	return translate(doing, <-o.done)
}

func (w *writer) push(o *operation) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing {
		return errClosed(o.doing)
	}
	if len(w.queue) >= maxQueue {
		return contracts.Errorf(contracts.CodeUnavailable, "%s: too many writes are waiting", o.doing)
	}
	w.queue = append(w.queue, o)
	w.poke()
	return nil
}

func (w *writer) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// loop commits what is queued until the writer is closed and the queue empty.
func (w *writer) loop() {
	defer close(w.ended)
	for {
		batch, last := w.take()
		switch {
		case len(batch) > 0:
			w.commit(batch)
		case last:
			return
		default:
			<-w.wake
		}
	}
}

func (w *writer) take() (batch []*operation, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.queue), maxBatch)
	batch, w.queue = w.queue[:n:n], w.queue[n:]
	if len(w.queue) == 0 {
		w.queue = nil
	}
	return batch, w.closing
}

// commit does a batch in one transaction. If that cannot be committed, each
// write is tried alone, so that one fault harms only its own write.
func (w *writer) commit(batch []*operation) {
	begun := batch[:0]
	for _, o := range batch {
		switch {
		case !o.begun.CompareAndSwap(false, true): // its caller has left
		case o.ctx.Err() != nil:
			o.done <- o.ctx.Err()
		default:
			begun = append(begun, o)
		}
	}
	if len(begun) == 0 {
		return
	}
	answers, err := w.attempt(begun, w.runAll)
	if err != nil && len(begun) > 1 && !broken(err) {
		answers, err = w.attempt(begun, w.runEach)
	}
	if err == nil {
		answer(begun, answers)
		return
	}
	if len(begun) == 1 {
		begun[0].done <- err
		return
	}
	for i := range begun {
		alone, err := w.attempt(begun[i:i+1], w.runAll)
		if err != nil {
			alone = []error{err}
		}
		answer(begun[i:i+1], alone)
	}
}

func answer(operations []*operation, answers []error) {
	for i, o := range operations {
		o.done <- answers[i]
	}
}

// attempt runs writes in one transaction and gives the answer of each. An
// error means that nothing at all was committed.
func (w *writer) attempt(operations []*operation, run func(context.Context, []*operation) ([]error, error)) ([]error, error) {
	// The transaction belongs to no single caller, so no caller's context may
	// end it.
	ctx := context.Background()
	if _, err := w.handle.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	answers, err := run(ctx, operations)
	if err == nil {
		_, err = w.handle.exec(ctx, "COMMIT")
	}
	if err != nil {
		// SQLite may have rolled back by itself; then this fails and says nothing
		// new.
		_, _ = w.handle.exec(ctx, "ROLLBACK")
		return nil, err
	}
	return answers, nil
}

// runAll runs writes that nobody expects to be refused; the first refusal ends
// it. Savepoints would cost more than repeating the few batches that hold a
// refusal: SQLite copies every page that it changes inside one.
func (w *writer) runAll(ctx context.Context, operations []*operation) ([]error, error) {
	for _, o := range operations {
		if err := o.run(ctx, &tx{handle: w.handle, now: w.now()}); err != nil {
			return nil, err
		}
	}
	return make([]error, len(operations)), nil
}

// runEach runs each write in a savepoint of its own, so that a refusal harms
// only itself.
func (w *writer) runEach(ctx context.Context, operations []*operation) ([]error, error) {
	answers := make([]error, len(operations))
	for i, o := range operations {
		if _, err := w.handle.exec(ctx, "SAVEPOINT operation"); err != nil {
			return nil, err
		}
		answers[i] = o.run(ctx, &tx{handle: w.handle, now: w.now()})
		if broken(answers[i]) {
			return nil, answers[i]
		}
		if answers[i] != nil {
			if _, err := w.handle.exec(ctx, "ROLLBACK TO operation"); err != nil {
				return nil, err
			}
		}
		if _, err := w.handle.exec(ctx, "RELEASE operation"); err != nil {
			return nil, err
		}
	}
	return answers, nil
}
