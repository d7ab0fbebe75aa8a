// Package groupcommit gathers the writes of many callers for one goroutine,
// which commits as many as wait in one transaction and then answers each. It
// never waits for a batch to fill: alone, a write is as fast as without it.
package groupcommit

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/manifold-run/manifold/contracts"
)

const (
	// maxBatch bounds the writes of one transaction, so that the first of them
	// need not wait long for its commit.
	maxBatch = 512
	// maxQueue bounds the writes that wait for the next transaction.
	maxQueue = 16384
)

// Queue is the writes that wait, and the goroutine that commits them. It is
// safe for concurrent use.
type Queue[T any] struct {
	commit func([]*Write[T])
	// wake holds a token while something is queued.
	wake chan struct{}
	// closed is closed when no write is accepted any more, ended when the last
	// one was answered.
	closed, ended chan struct{}

	mu      sync.Mutex // guards the fields below
	queue   []*Write[T]
	closing bool
}

// Write is one write that waits for its turn.
type Write[T any] struct {
	// What is to be written. A batch may have to be repeated with care, so that it
	// can be done again.
	What  T
	Doing string

	ctx context.Context //nolint:containedctx // asked once, just before the write begins
	// begun is set by whoever comes first: the writer that begins, or the caller
	// that gives up.
	begun atomic.Bool
	done  chan error
}

// Answer tells the caller the result of the write; commit calls it once for each.
func (w *Write[T]) Answer(err error) { w.done <- err }

// Start begins to hand batches, none of them empty, to commit, one after the
// other, until Close.
func Start[T any](commit func([]*Write[T])) *Queue[T] {
	q := &Queue[T]{commit: commit, wake: make(chan struct{}, 1), closed: make(chan struct{}), ended: make(chan struct{})}
	go q.loop()
	return q
}

// Close refuses new writes, waits for those that are queued, and reports whether
// it was open.
func (q *Queue[T]) Close() bool {
	q.mu.Lock()
	first := !q.closing
	q.closing = true
	if first {
		close(q.closed)
	}
	q.mu.Unlock()
	q.poke()
	<-q.ended
	return first
}

// Closed is closed when no write is accepted any more.
func (q *Queue[T]) Closed() <-chan struct{} { return q.closed }

// Len is how many writes wait.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queue)
}

// Do waits until a write was committed or refused. One whose context ends
// before it began is not done.
func (q *Queue[T]) Do(ctx context.Context, doing string, what T) error {
	w := &Write[T]{What: what, Doing: doing, ctx: ctx, done: make(chan error, 1)}
	if err := q.push(w); err != nil {
		return err
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
	}
	if w.begun.CompareAndSwap(false, true) {
		return ctx.Err()
	}
	// It has begun: only its own answer reports whether it happened.
	return <-w.done
}

func (q *Queue[T]) push(w *Write[T]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closing {
		return ErrClosed(w.Doing)
	}
	if len(q.queue) >= maxQueue {
		return contracts.Errorf(contracts.CodeUnavailable, "%s: too many writes are waiting", w.Doing)
	}
	q.queue = append(q.queue, w)
	q.poke()
	return nil
}

func (q *Queue[T]) poke() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// loop commits what is queued until the queue is closed and empty.
func (q *Queue[T]) loop() {
	defer close(q.ended)
	for {
		batch, last := q.take()
		switch {
		case len(batch) > 0:
			if begun := begin(batch); len(begun) > 0 {
				q.commit(begun)
			}
		case last:
			return
		default:
			<-q.wake
		}
	}
}

func (q *Queue[T]) take() (batch []*Write[T], last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.queue), maxBatch)
	batch, q.queue = q.queue[:n:n], q.queue[n:]
	if len(q.queue) == 0 {
		q.queue = nil
	}
	return batch, q.closing
}

// begin leaves out the writes that nobody waits for any more.
func begin[T any](batch []*Write[T]) []*Write[T] {
	begun := batch[:0]
	for _, w := range batch {
		switch {
		case !w.begun.CompareAndSwap(false, true): // its caller has left
		case w.ctx.Err() != nil:
			w.Answer(w.ctx.Err())
		default:
			begun = append(begun, w)
		}
	}
	return begun
}

// ErrClosed refuses what comes after the end of a store.
func ErrClosed(doing string) error {
	return contracts.Errorf(contracts.CodeUnavailable, "%s: the store is closed", doing)
}
