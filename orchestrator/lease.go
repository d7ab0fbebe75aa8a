package orchestrator

import (
	"context"
	"sync"
	"time"
)

const (
	// holdFor is how long a lease lasts that its server does not renew, askAgain the
	// pause before one that another server has is asked for again.
	holdFor  = 10 * time.Second
	askAgain = 250 * time.Millisecond
)

// AcquireLease blocks until it holds the lease, ctx ends, or done reports true, in which case
// acquired is false. The lease is renewed until release is called, which must be called.
func AcquireLease(ctx context.Context, leases LeaseStore, name string, done func() bool) (release func(), acquired bool, err error) {
	if leases == nil {
		return func() {}, !done(), nil
	}
	for {
		acquired, err := leases.Acquire(ctx, name, holdFor)
		if err != nil {
			return func() {}, false, err
		}
		if done() {
			if acquired {
				_ = leases.Release(ctx, name) // it ends by itself too
			}
			return func() {}, false, nil
		}
		if acquired {
			return renew(ctx, leases, name), true, nil
		}
		select {
		case <-time.After(askAgain):
		case <-ctx.Done():
			return func() {}, false, ctx.Err()
		}
	}
}

// renew keeps a lease until the returned function is called, which releases it.
func renew(ctx context.Context, leases LeaseStore, name string) (release func()) {
	work, stop := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		ticker := time.NewTicker(holdFor / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				_, _ = leases.Acquire(work, name, holdFor) // tried again in a moment
			case <-work.Done():
				return
			}
		}
	})
	return func() {
		stop()
		renewing.Wait()
		_ = leases.Release(context.WithoutCancel(ctx), name) // it ends by itself too
	}
}
