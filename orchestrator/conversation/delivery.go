package conversation

import (
	"context"
	"log/slog"
	"sync"

	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// waiting has the contexts of first requests whose senders wait for the answer,
// by session.
type waiting struct{ contexts sync.Map }

// has tells whether somebody is still waiting for the answer.
func (w *waiting) has(sessionID string) bool {
	ctx, there := w.contexts.Load(sessionID)
	if !there {
		return false
	}
	alive, ok := ctx.(context.Context)
	return ok && alive.Err() == nil
}

// Exchange begins the answer to a placed input whose sender counts repeats. Its
// end says whether the whole answer was written.
func (c *Conversation) Exchange(ctx context.Context, who access.Principal, in Input) (end func(delivered bool)) {
	id := in.at.session.ID
	if in.thread().Request == "" || !who.Shared() {
		return func(bool) {}
	}
	waiting := &c.places.waiting.contexts
	waiting.Store(id, ctx)
	return func(delivered bool) {
		waiting.CompareAndDelete(id, ctx)
		if !delivered {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		_, err := c.dir.Change(ctx, id, func(s *orchestrator.Session) bool {
			s.Delivered = true
			return true
		})
		if err != nil {
			c.cfg.Logger.WarnContext(ctx, "a repeat will not know that its first try was answered", slog.Any("error", err))
		}
	}
}
