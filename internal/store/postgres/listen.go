package postgres

import (
	"context"

	store "github.com/manifold-run/manifold/internal/store/sql"
)

// Change is what another process has committed.
type Change = store.Change

// Listen calls heard for each change that another process commits, until ctx
// ends; see post.
func (s *Store) Listen(ctx context.Context, heard func(Change)) {
	s.db.post.Listen(ctx, s.db.pool.Config().ConnConfig, heard)
}
