// Package shelf keeps what was learned of catalogs, for all servers.
package shelf

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Shelf is safe for concurrent use.
type Shelf struct {
	pool *pgxpool.Pool
	// translate makes a fault of the database one of the core's.
	translate func(doing string, err error) error
}

// New makes the shelf of a database that has its table.
func New(pool *pgxpool.Pool, translate func(doing string, err error) error) *Shelf {
	return &Shelf{pool, translate}
}

// Learned gives what was kept under an id; nil if nothing was, or no more.
func (s *Shelf) Learned(ctx context.Context, id string) ([]byte, error) {
	var body []byte
	err := s.pool.QueryRow(ctx, `SELECT body FROM learned WHERE id = $1`, id).Scan(&body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return body, s.translate("read what was learned", err)
}

const (
	keep = `
INSERT INTO learned (id, body, kept_at) VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint)
ON CONFLICT (id) DO UPDATE SET body = excluded.body, kept_at = excluded.kept_at`

	forget = `DELETE FROM learned WHERE id NOT IN (SELECT id FROM learned ORDER BY kept_at DESC, id LIMIT $1)`
)

// KeepLearned keeps it, in the place of what was there, and all but the newest of it
// are forgotten. It commits.
func (s *Shelf) KeepLearned(ctx context.Context, id string, body []byte, newest int) error {
	var b pgx.Batch
	b.Queue(keep, id, body)
	b.Queue(forget, newest)
	return s.translate("keep what was learned", s.pool.SendBatch(ctx, &b).Close())
}
