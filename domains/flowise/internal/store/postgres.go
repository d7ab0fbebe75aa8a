package store

import (
	"context"
	"embed"
	"io/fs"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/manifold-run/manifold/domainkit/pgstore"
)

//go:embed postgres/migrations/*.sql
var postgresMigrations embed.FS

// openPostgres connects to a database. At its isolation level a statement sees what others
// committed before it, so a lock protects the choice of the next version number.
func (s *Store) openPostgres(ctx context.Context) error {
	steps, err := fs.Sub(postgresMigrations, "postgres")
	if err != nil {
		return err
	}
	pool, err := pgstore.Connect(ctx, s.cfg.Source, "the Flowise domain", steps)
	if err != nil {
		return err
	}
	s.db = stdlib.OpenDBFromPool(pool)
	s.lockVersions = "LOCK TABLE flowise_version IN SHARE ROW EXCLUSIVE MODE"
	s.closers = []func() error{s.db.Close, func() error { pool.Close(); return nil }}
	return nil
}
