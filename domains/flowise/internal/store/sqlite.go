package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
)

//go:embed sqlite/migrations/*.sql
var sqliteMigrations embed.FS

// openSQLite opens a file, or an in-memory database.
func (s *Store) openSQLite(ctx context.Context) error {
	db, err := sqlitestore.OpenFile(ctx, s.cfg.Source)
	if err != nil {
		return err
	}
	s.db, s.closers, s.lockVersions = db, []func() error{db.Close}, "SELECT 1"
	if err := s.migrateSQLite(ctx); err != nil {
		return errors.Join(fmt.Errorf("open %s: %w", s.cfg.Source, err), s.Close())
	}
	return nil
}

// migrateSQLite brings the tables to the version of this release in one transaction. It refuses a
// file of a newer release.
func (s *Store) migrateSQLite(ctx context.Context) error {
	steps, err := fs.Glob(sqliteMigrations, "sqlite/migrations/*.sql")
	if err != nil {
		return err
	}
	return s.inTx(ctx, func(tx *sql.Tx) error {
		var have int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
			return err
		}
		if have > len(steps) {
			return contracts.Errorf(contracts.CodeUnsupported,
				"the tables have version %d, which a newer release made; this one knows %d", have, len(steps))
		}
		for _, step := range steps[have:] {
			script, err := fs.ReadFile(sqliteMigrations, step)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, string(script)); err != nil {
				return fmt.Errorf("%s: %w", step, err)
			}
		}
		_, err := tx.ExecContext(ctx, "PRAGMA user_version = "+strconv.Itoa(len(steps)))
		return err
	})
}
