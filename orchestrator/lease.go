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

// Hold waits for a lease and renews it until release is called, which must be. It
// gives up, with held false, as soon as given says that it is wanted no more.
func Hold(ctx context.Context, leases Leases, name string, given func() bool) (release func(), held bool, err error) {
	if leases == nil {
		return func() {}, !given(), nil
	}
	for {
		held, err := leases.Lead(ctx, name, holdFor)
		if err != nil {
			return func() {}, false, err
		}
		if given() {
			if held {
				_ = leases.Yield(ctx, name) // it ends by itself too
			}
			return func() {}, false, nil
		}
		if held {
			return renew(ctx, leases, name), true, nil
		}
		select {
		case <-time.After(askAgain):
		case <-ctx.Done():
			return func() {}, false, ctx.Err()
		}
	}
}

// renew keeps a lease until the function that it gives is called, which ends it.
func renew(ctx context.Context, leases Leases, name string) (release func()) {
	work, stop := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		ticker := time.NewTicker(holdFor / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				_, _ = leases.Lead(work, name, holdFor) // tried again in a moment
			case <-work.Done():
				return
			}
		}
	})
	return func() {
		stop()
		renewing.Wait()
		_ = leases.Yield(context.WithoutCancel(ctx), name) // it ends by itself too
	}
}
