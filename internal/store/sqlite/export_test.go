package sqlite

import (
	"context"
	"fmt"
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

// Version is what PRAGMA user_version says.
func (s *Store) Version(ctx context.Context) (version int, err error) {
	err = s.view(ctx, "read the version", func(ctx context.Context, h *handle) error {
		return h.row(ctx, "PRAGMA user_version").Scan(&version)
	})
	return version, err
}

// Queued is how many writes wait for the writer.
func (s *Store) Queued() int {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return len(s.writer.queue)
}
