package sqlite

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator/access"
)

var _ access.KeyStore = (*Directory)(nil)

const selectKey = `SELECT hash, revoked_at, body FROM api_key `

// insertKey inserts a key where a condition holds, and tells whether it did.
func insertKey(ctx context.Context, s *Directory, key access.Key, where string) (bool, error) {
	body, err := stored.Encode(key)
	if err != nil {
		return false, err
	}
	var revoked int64
	if key.RevokedAt != nil {
		revoked = stored.Nanos(*key.RevokedAt)
	}
	var inserted bool
	err = s.write(ctx, "insert key "+key.ID, func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, `INSERT INTO api_key (id, hash, created_at, revoked_at, body) SELECT ?, ?, ?, ?, ? WHERE `+where+` ON CONFLICT DO NOTHING`,
			key.ID, key.Hash, stored.Nanos(key.CreatedAt), revoked, body)
		if inserted = n > 0; err == nil && !inserted {
			return contracts.Errorf(contracts.CodeConflict, "no key was added")
		}
		return err
	})
	if contracts.CodeOf(err) == contracts.CodeConflict {
		return false, nil
	}
	return inserted && err == nil, err
}

// InsertKey adds a key.
func (s *Directory) InsertKey(ctx context.Context, key access.Key) error {
	inserted, err := insertKey(ctx, s, key, `true`)
	if err == nil && !inserted {
		return contracts.Errorf(contracts.CodeConflict, "there is a key %q already", key.ID)
	}
	return err
}

// InsertFirstKey adds a key while there is none.
func (s *Directory) InsertFirstKey(ctx context.Context, key access.Key) (bool, error) {
	return insertKey(ctx, s, key, `NOT EXISTS (SELECT 1 FROM api_key)`)
}

// Key gives one key.
func (s *Directory) Key(ctx context.Context, id string) (access.Key, error) {
	var key access.Key
	err := s.view(ctx, "read key "+id, func(ctx context.Context, h *handle) error {
		var err error
		key, err = stored.ScanKey(h.row(ctx, selectKey+`WHERE id = ?`, id))
		return missing(err, noKey(id))
	})
	return key, err
}

// Keys lists keys, oldest first.
func (s *Directory) Keys(ctx context.Context, p contracts.Page) (contracts.List[access.Key], error) {
	var q query
	if err := q.Beyond(p.Cursor, `created_at, id`, `>`); err != nil {
		return contracts.List[access.Key]{}, err
	}
	text, args := q.text(selectKey, `ORDER BY created_at, id`, p.Limit)
	var keys []access.Key
	err := s.view(ctx, "list keys", func(ctx context.Context, h *handle) error {
		var err error
		keys, err = collect(ctx, h, stored.ScanKey, text, args...)
		return err
	})
	return contracts.Cut(keys, p.Limit, func(k access.Key) string { return stored.Mark(k.CreatedAt, k.ID) }), err
}

// RevokeKey ends a key; the first time is kept.
func (s *Directory) RevokeKey(ctx context.Context, id string, at time.Time) error {
	return s.write(ctx, "revoke key "+id, func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, `UPDATE api_key SET revoked_at = iif(revoked_at = 0, ?, revoked_at) WHERE id = ?`, stored.Nanos(at), id)
		if err == nil && n == 0 {
			return noKey(id)
		}
		return err
	})
}

func noKey(id string) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no key %q", id)
}
