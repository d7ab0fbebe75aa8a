package postgres

import (
	"context"
	"errors"

	"github.com/manifold-run/manifold/internal/store/sqlstore"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// FallSilent locks the row of a run in a transaction, stays idle until the server has ended it,
// and then tries to continue.
func (s *Store) FallSilent(ctx context.Context, runID string, entered chan<- struct{}) error {
	return translate("fall silent", s.db.Write(ctx, []sqlstore.Part{{
		Reads: []sqlstore.Statement{{Text: `SELECT id FROM run WHERE id = $1 FOR UPDATE`, Args: []any{runID}, Each: func(stored.Row) error { return nil }}},
		Decide: func(ctx context.Context, x sqlstore.Tx) (*sqlstore.Effects, error) {
			close(entered)
			t, ok := x.(*transaction)
			if !ok {
				return nil, errors.New("no transaction")
			}
			_, err := t.tx.Conn().WaitForNotification(ctx)
			return nil, err
		},
	}}))
}
