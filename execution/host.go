package execution

import (
	"context"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

var _ runOwner = (*owner)(nil)

func (o *owner) now() time.Time { return o.r.cfg.Now() }

// take applies an event to the run; the change is pending until the next commit.
func (o *owner) take(e runstate.Event) {
	before := o.run.Len()
	if err := o.run.Apply(o.now(), e, &o.pending.changes); err != nil {
		o.abandon(err)
		return
	}
	o.adopt(o.run.Nodes()[before:])
}

// lock takes the keys in the store at once, outside of any commit.
func (o *owner) lock(nodeID string, keys []string) (LockHolder, bool, error) {
	ctx, cancel := context.WithTimeout(o.ctx, 10*time.Second)
	defer cancel()
	holder, held, err := o.r.store.AcquireLocks(ctx, o.lease, nodeID, keys)
	if contracts.CodeOf(err) == contracts.CodeLeaseLost {
		o.loseLease()
	}
	return holder, held, err
}

func (o *owner) env() environment { return o.r.env(o.ctx, o.pending.changes.Blobs) }

// stopRun stores a cancel request, as Runner.Cancel does, and ends the nodes that have no effect in
// flight, including the one whose interrupt was answered. The request is committed first, so it
// survives a crash.
func (o *owner) stopRun(by string) {
	ask := func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), 10*time.Second)
		defer cancel()
		return o.r.store.RequestCancel(ctx, o.run.Run.ID, by)
	}
	err := ask()
	for tries := 0; contracts.CodeOf(err) == contracts.CodeUnavailable && o.pause(tries); tries++ {
		err = ask()
	}
	if err != nil {
		o.logger().WarnContext(o.ctx, "run is not stopped", slog.Any("error", err))
		o.loseLease()
		return
	}
	if !o.run.Cancelling() {
		o.take(runstate.CancelRequested{At: new(o.now()), By: by})
	}
	o.cancelNodes()
}
