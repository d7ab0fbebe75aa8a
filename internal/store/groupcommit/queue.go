// Package groupcommit batches the writes of many callers. One goroutine commits all waiting
// writes in one transaction and then answers each caller. It never waits for a batch to fill: a
// single write is as fast as without batching.
package groupcommit

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/manifold-run/manifold/contracts"
)

const (
	// maxBatch is the maximum number of writes in one transaction. It limits how long the first
	// write waits for its commit.
	maxBatch = 512
	// maxQueue is the maximum number of waiting writes. Further writes fail as unavailable.
	maxQueue = 16384
)

// Queue holds the waiting writes and runs the goroutine that commits them. It is safe for
// concurrent use.
type Queue[T any] struct {
	commit func([]*Write[T])
	// wake holds a token while the queue is not empty.
	wake chan struct{}
	// closed is closed when no more writes are accepted, ended when the last write was answered.
	closed, ended chan struct{}

	mu      sync.Mutex // guards the fields below
	queue   []*Write[T]
	closing bool
}

// Write is one queued write.
type Write[T any] struct {
	// What is the content of the write. A batch may be retried write by write, so it must be
	// repeatable. Doing describes the write in errors.
	What  T
	Doing string

	ctx context.Context //nolint:containedctx // asked once, just before the write begins
	// begun is set by the first of two: the writer that begins, or the caller that gives up.
	begun atomic.Bool
	done  chan error
}

// Answer returns the result of the write to its caller. commit must call it exactly once per
// write.
func (w *Write[T]) Answer(err error) { w.done <- err }

// Start returns a queue that passes non-empty batches to commit, one at a time, until Close.
func Start[T any](commit func([]*Write[T])) *Queue[T] {
	q := &Queue[T]{commit: commit, wake: make(chan struct{}, 1), closed: make(chan struct{}), ended: make(chan struct{})}
	go q.loop()
	return q
}

// Close rejects new writes, waits until queued writes are answered, and reports whether the queue
// was open.
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

// Closed returns a channel that is closed when no more writes are accepted.
func (q *Queue[T]) Closed() <-chan struct{} { return q.closed }

// Len returns the number of waiting writes.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queue)
}

// Do queues a write and waits until it was committed or rejected. If ctx ends before the write
// begins, the write is dropped. Once it has begun, Do waits for its result whatever happens to
// ctx.
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
	// The write has begun: only its answer tells whether it was committed.
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

// loop commits queued writes until the queue is closed and empty.
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

// begin drops the writes whose callers have given up and marks the others as begun.
func begin[T any](batch []*Write[T]) []*Write[T] {
	begun := batch[:0]
	for _, w := range batch {
		switch {
		case !w.begun.CompareAndSwap(false, true): // its caller has given up
		case w.ctx.Err() != nil:
			w.Answer(w.ctx.Err())
		default:
			begun = append(begun, w)
		}
	}
	return begun
}

// ErrClosed returns the error for writes to a closed store.
func ErrClosed(doing string) error {
	return contracts.Errorf(contracts.CodeUnavailable, "%s: the store is closed", doing)
}
