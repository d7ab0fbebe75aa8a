package retrieve

import (
	"context"
	"fmt"
	"sync"
)

// LatestWorker is a background worker that keeps only the latest request: a newer one
// cancels the one before. The zero value with Do is ready. It is safe for concurrent use.
type LatestWorker[T any] struct {
	// Do runs a task. It must return when ctx is cancelled: a newer task is pending, or the worker
	// stops.
	Do func(ctx context.Context, what T)

	mu         sync.Mutex // guards the fields below
	stop       context.CancelFunc
	done       chan struct{}
	wanted     *T
	cancelTask context.CancelFunc // cancels the running task
	wake       chan struct{}
}

// Start starts the worker. A second call does nothing.
func (w *LatestWorker[T]) Start(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		return
	}
	// The worker outlives the context of Start; Stop ends it.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) //nolint:gosec // Stop calls it
	w.stop, w.done, w.wake = stop, make(chan struct{}), make(chan struct{}, 1)
	go w.work(ctx, w.done, w.wake)
}

// Stop stops the worker and waits for it. A second call does nothing.
func (w *LatestWorker[T]) Stop(ctx context.Context) error {
	w.mu.Lock()
	stop, done := w.stop, w.done
	w.stop = nil
	w.mu.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for work in the background to end: %w", ctx.Err())
	}
}

// Request replaces the pending or running task by a new one.
func (w *LatestWorker[T]) Request(what T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop == nil {
		return
	}
	w.wanted = &what
	if w.cancelTask != nil {
		w.cancelTask()
	}
	select {
	case w.wake <- struct{}{}:
	default: // already signalled
	}
}

func (w *LatestWorker[T]) work(ctx context.Context, done chan<- struct{}, wake <-chan struct{}) {
	defer close(done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		sub, what := w.take(ctx)
		if what != nil {
			w.Do(sub, *what)
		}
		w.release()
	}
}

// take returns the pending task, and a context that is cancelled by a newer task.
func (w *LatestWorker[T]) take(ctx context.Context) (context.Context, *T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	what := w.wanted
	w.wanted = nil
	ctx, w.cancelTask = context.WithCancel(ctx) //nolint:gosec // rest calls it
	return ctx, what
}

// release releases the context of the finished task.
func (w *LatestWorker[T]) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancelTask()
	w.cancelTask = nil
}
