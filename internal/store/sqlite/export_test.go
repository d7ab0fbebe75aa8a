package sqlite

import (
	"context"
	"fmt"

	"github.com/manifold-run/manifold/internal/store/stored"
)

// LimitPages lets the disk be full at a number of pages more than there are.
func (s *Store) LimitPages(ctx context.Context, more int) error {
	return s.write(ctx, "limit the pages", func(ctx context.Context, x *tx) error {
		var pages int
		if err := x.row(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
			return err
		}
		var limit int
		return x.row(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages+more)).Scan(&limit)
	})
}

// During calls a function inside a write.
func (s *Store) During(ctx context.Context, do func()) error {
	return s.write(ctx, "hold up the others", func(context.Context, *tx) error {
		do()
		return nil
	})
}

// Version is what PRAGMA user_version says.
func (s *Store) Version(ctx context.Context) (version int, err error) {
	err = s.view(ctx, "read the version", func(ctx context.Context, h *handle) error {
		return h.row(ctx, "PRAGMA user_version").Scan(&version)
	})
	return version, err
}

// Queued is how many writes wait for the writer.
func (s *Store) Queued() int {
	return s.writer.Len()
}

// Durability is the writer's journal mode and synchronous setting.
func (s *Store) Durability(ctx context.Context) (journal string, synchronous int, err error) {
	err = s.write(ctx, "read the settings", func(ctx context.Context, x *tx) error {
		if err := x.row(ctx, "PRAGMA journal_mode").Scan(&journal); err != nil {
			return err
		}
		return x.row(ctx, "PRAGMA synchronous").Scan(&synchronous)
	})
	return journal, synchronous, err
}

// Columns are all columns of all tables.
func (s *Store) Columns(ctx context.Context) (columns []string, err error) {
	err = s.view(ctx, "read the columns", func(ctx context.Context, h *handle) error {
		columns, err = collect(ctx, h, stored.Text, `SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'`)
		return err
	})
	return columns, err
}

// DenyWrites lets the writer's connection fail to write; AllowWrites ends that.
func (s *Store) DenyWrites(ctx context.Context) error {
	_, err := s.writer.handle.exec(ctx, "PRAGMA query_only = 1")
	return err
}

// AllowWrites is the opposite of DenyWrites.
func (s *Store) AllowWrites() error {
	_, err := s.writer.handle.exec(context.Background(), "PRAGMA query_only = 0")
	return err
}
