package orchestrator

import (
	"context"
	"sync"
	"time"
)

const (
	// holdFor is how long a lease lasts without a renewal; askAgain is the pause between attempts
	// to acquire a lease that another server holds.
	holdFor  = 10 * time.Second
	askAgain = 250 * time.Millisecond
)

// AcquireLease blocks until it holds the lease, ctx ends, or done reports true, in which case
// acquired is false. The lease is renewed until release is called. The caller must call release.
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
				_ = leases.Release(ctx, name) // otherwise it expires
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

// renew renews a lease until the returned function is called, which releases it.
func renew(ctx context.Context, leases LeaseStore, name string) (release func()) {
	work, stop := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		ticker := time.NewTicker(holdFor / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				_, _ = leases.Acquire(work, name, holdFor) // repeated at the next tick
			case <-work.Done():
				return
			}
		}
	})
	return func() {
		stop()
		renewing.Wait()
		_ = leases.Release(context.WithoutCancel(ctx), name) // otherwise it expires
	}
}
