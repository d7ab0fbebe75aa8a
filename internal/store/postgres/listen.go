package postgres

import (
	"context"

	"github.com/manifold-run/manifold/internal/store/sqlstore"
)

// Change describes what another process has committed.
type Change = sqlstore.Change

// Listen calls heard for each change that another process commits, until ctx ends; see
// notifyChannel.Listen.
func (s *Store) Listen(ctx context.Context, heard func(Change)) {
	s.db.post.Listen(ctx, s.db.pool.Config().ConnConfig, heard)
}
