package sqlstore

import (
	"context"
)

// ModelCacheStore caches trained matcher models.
type ModelCacheStore struct{ *core }

// Load returns the model with an id, or nil if it is not cached.
func (s *ModelCacheStore) Load(ctx context.Context, id string) ([]byte, error) {
	return readRow(ctx, s.core, "read a trained model", nil, bytes, `SELECT body FROM learned WHERE id = $1`, id)
}

// Store stores or replaces a model and removes all but the newest ones. It commits.
func (s *ModelCacheStore) Store(ctx context.Context, id string, body []byte, newest int) error {
	return s.execUnsealed(ctx, "store a trained model", func(ctx context.Context, q Querier) error {
		return q.Send(ctx, []Statement{
			{Text: `INSERT INTO learned (id, body, kept_at) VALUES ($1, $2, {now})
				ON CONFLICT (id) DO UPDATE SET body = excluded.body, kept_at = excluded.kept_at`, Args: []any{id, body}},
			{Text: `DELETE FROM learned WHERE id NOT IN (SELECT id FROM learned ORDER BY kept_at DESC, id LIMIT 0 + $1)`, Args: []any{newest}},
		})
	})
}
