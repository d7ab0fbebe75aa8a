package postgres

import (
	"context"
	"time"
)

const lead = `
INSERT INTO leader (name, owner, lease_until) VALUES ($1, $2, ` + now + ` + $3)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until
WHERE leader.owner = excluded.owner OR leader.lease_until <= ` + now

// Acquire takes or extends the lease of a name for ttl and reports whether this process holds it.
// It commits.
func (s *Store) Acquire(ctx context.Context, name string, ttl time.Duration) (bool, error) {
	done, err := s.db.pool.Exec(ctx, lead, name, s.db.post.Origin, ttl.Nanoseconds())
	return done.RowsAffected() > 0, translate("lead", err)
}

// Release gives the lease up, so that another process can take it at once. It commits.
func (s *Store) Release(ctx context.Context, name string) error {
	_, err := s.db.pool.Exec(ctx, `DELETE FROM leader WHERE name = $1 AND owner = $2`, name, s.db.post.Origin)
	return translate("yield", err)
}
