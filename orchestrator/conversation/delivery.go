package conversation

import (
	"context"
	"log/slog"

	"github.com/manifold-run/manifold/orchestrator/access"
)

// Exchange begins the answer to a resolved input whose sender counts repeats. The caller reports to
// end whether the complete answer was written.
func (c *Conversation) Exchange(ctx context.Context, who access.Principal, in Input) (end func(delivered bool)) {
	noted := c.threads.Exchange(ctx, who, in.thread(), in.resolved.session.ID)
	return func(delivered bool) {
		if err := noted(delivered); err != nil {
			c.cfg.Logger.WarnContext(ctx, "a repeat will not know that its first try was answered", slog.Any("error", err))
		}
	}
}
