package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// Learned gives what was kept under an id of what was learned of a catalog; nil if
// nothing was, or no more.
func (s *Shelf) Learned(ctx context.Context, id string) ([]byte, error) {
	var body []byte
	err := s.view(ctx, "read what was learned", func(ctx context.Context, h *handle) error {
		err := h.row(ctx, `SELECT body FROM learned WHERE id = ?`, id).Scan(&body)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return body, err
}

// KeepLearned keeps it, in the place of what was there, and all but the newest of it
// are forgotten. It commits.
func (s *Shelf) KeepLearned(ctx context.Context, id string, body []byte, newest int) error {
	return s.write(ctx, "keep what was learned", func(ctx context.Context, x *tx) error {
		if _, err := x.exec(ctx, `INSERT INTO learned (id, body, kept_at) VALUES (?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET body = excluded.body, kept_at = excluded.kept_at`, id, body, x.now.UnixNano()); err != nil {
			return err
		}
		_, err := x.exec(ctx, `DELETE FROM learned WHERE id NOT IN (SELECT id FROM learned ORDER BY kept_at DESC, id LIMIT ?)`, newest)
		return err
	})
}
