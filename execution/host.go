package execution

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/model"
)

var _ host = (*owner)(nil)

func (o *owner) now() time.Time { return o.r.cfg.Now() }

// take applies an event to the run; it is pending until the next commit.
func (o *owner) take(e model.Event) {
	before := o.run.Len()
	if err := o.run.Apply(o.now(), e, &o.pending.changes); err != nil {
		o.broken(err)
		return
	}
	o.adopt(o.run.Nodes()[before:])
}

// lock takes the keys in the store, at once and outside of any commit.
func (o *owner) lock(nodeID string, keys []string) (LockHolder, bool, error) {
	ctx, cancel := context.WithTimeout(o.ctx, 10*time.Second)
	defer cancel()
	holder, held, err := o.r.store.AcquireLocks(ctx, o.lease, nodeID, keys)
	if contracts.CodeOf(err) == contracts.CodeLeaseLost {
		o.loseLease()
	}
	return holder, held, err
}

func (o *owner) outside() surroundings { return o.r.outside(o.ctx, o.pending.changes.Blobs) }
