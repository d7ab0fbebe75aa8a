package sqlite

import (
	"context"
	"fmt"

	"github.com/manifold-run/manifold/internal/store/sqlstore"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// LimitPages makes the disk full after some more pages.
func (s *Store) LimitPages(ctx context.Context, more int) error {
	return s.Transact(ctx, "limit the pages", func(ctx context.Context, _ sqlstore.Tx) error {
		var pages int
		if err := s.file.writer.value(ctx, &pages, "PRAGMA page_count"); err != nil {
			return err
		}
		var limit int
		return s.file.writer.value(ctx, &limit, fmt.Sprintf("PRAGMA max_page_count = %d", pages+more))
	})
}

// During calls a function inside a write.
func (s *Store) During(ctx context.Context, do func()) error {
	return s.Transact(ctx, "hold up the others", func(context.Context, sqlstore.Tx) error {
		do()
		return nil
	})
}

// Version returns PRAGMA user_version.
func (s *Store) Version(ctx context.Context) (version int, err error) {
	err = s.file.snapshot(ctx, func(h *handle) error { return h.value(ctx, &version, "PRAGMA user_version") })
	return version, err
}

// Durability returns the writer's journal mode and synchronous setting.
func (s *Store) Durability(ctx context.Context) (journal string, synchronous int, err error) {
	err = s.Transact(ctx, "read the settings", func(ctx context.Context, _ sqlstore.Tx) error {
		if err := s.file.writer.value(ctx, &journal, "PRAGMA journal_mode"); err != nil {
			return err
		}
		return s.file.writer.value(ctx, &synchronous, "PRAGMA synchronous")
	})
	return journal, synchronous, err
}

// Columns returns all columns of all tables.
func (s *Store) Columns(ctx context.Context) (columns []string, err error) {
	err = s.file.snapshot(ctx, func(h *handle) error {
		return h.Query(ctx, func(row stored.Row) error {
			column, err := stored.Text(row)
			columns = append(columns, column)
			return err
		}, `SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'`)
	})
	return columns, err
}

// DenyWrites makes writes of the writer's connection fail, until AllowWrites.
func (s *Store) DenyWrites(ctx context.Context) error {
	_, err := s.file.writer.Exec(ctx, "PRAGMA query_only = 1")
	return err
}

// AllowWrites ends DenyWrites.
func (s *Store) AllowWrites() error {
	_, err := s.file.writer.Exec(context.Background(), "PRAGMA query_only = 0")
	return err
}
