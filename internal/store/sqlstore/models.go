package sqlstore

import (
	"context"
)

// ModelCacheStore is the cache of matcher models that were trained.
type ModelCacheStore struct{ *core }

// Load returns the model of an id; nil if there is none, or no more.
func (s *ModelCacheStore) Load(ctx context.Context, id string) ([]byte, error) {
	return readRow(ctx, s.core, "read a trained model", nil, bytes, `SELECT body FROM learned WHERE id = $1`, id)
}

// Store stores a model in the place of the one before, and all but the
// newest are removed. It commits.
func (s *ModelCacheStore) Store(ctx context.Context, id string, body []byte, newest int) error {
	return s.execUnsealed(ctx, "store a trained model", func(ctx context.Context, q Querier) error {
		return q.Send(ctx, []Statement{
			{Text: `INSERT INTO learned (id, body, kept_at) VALUES ($1, $2, {now})
				ON CONFLICT (id) DO UPDATE SET body = excluded.body, kept_at = excluded.kept_at`, Args: []any{id, body}},
			{Text: `DELETE FROM learned WHERE id NOT IN (SELECT id FROM learned ORDER BY kept_at DESC, id LIMIT 0 + $1)`, Args: []any{newest}},
		})
	})
}
