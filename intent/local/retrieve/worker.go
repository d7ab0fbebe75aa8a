package retrieve

import (
	"context"
	"fmt"
	"sync"
)

// LatestWorker is a background worker that keeps only the latest request: a newer one
// cancels the one before. The zero value with Do is ready. It is safe for concurrent use.
type LatestWorker[T any] struct {
	// Do does what is wanted, and should stop when ctx does: something else is wanted
	// then, or nothing any more.
	Do func(ctx context.Context, what T)

	mu     sync.Mutex // guards the fields below
	stop   context.CancelFunc
	done   chan struct{}
	wanted *T
	giveUp context.CancelFunc // of what is being done
	wake   chan struct{}
}

// Start begins to do whatever is wanted next. A second call does nothing.
func (w *LatestWorker[T]) Start(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		return
	}
	// It lives longer than the start; Stop ends it.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) //nolint:gosec // Stop calls it
	w.stop, w.done, w.wake = stop, make(chan struct{}), make(chan struct{}, 1)
	go w.work(ctx, w.done, w.wake)
}

// Stop ends the work and waits for it. A second call does nothing.
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

// Request replaces whatever is pending or running by a new task.
func (w *LatestWorker[T]) Request(what T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop == nil {
		return
	}
	w.wanted = &what
	if w.giveUp != nil {
		w.giveUp()
	}
	select {
	case w.wake <- struct{}{}:
	default: // it is awake already
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
		w.rest()
	}
}

// take gives what is wanted, and a context that ends when something else is.
func (w *LatestWorker[T]) take(ctx context.Context) (context.Context, *T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	what := w.wanted
	w.wanted = nil
	ctx, w.giveUp = context.WithCancel(ctx) //nolint:gosec // rest calls it
	return ctx, what
}

// rest gives up the context of what was done.
func (w *LatestWorker[T]) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.giveUp()
	w.giveUp = nil
}
