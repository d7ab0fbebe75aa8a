// Package proof detects writes to a PostgreSQL database by anyone but the servers, by seals of
// its rows with keys that are not in the database.
package proof

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/manifold-run/manifold/internal/store/sqlstore"
)

// Proofs stores the seals and the audit log.
type Proofs = sqlstore.AuditStore

// CheckRows compares the rows with their seals, and contents with their hashes, in one snapshot.
// It returns the number of seals.
func (s *Seals) CheckRows(ctx context.Context, pool *pgxpool.Pool, found func(scope, message string)) (seals int, err error) {
	state := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, pool, state, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT sha256 FROM blob WHERE encode(sha256(body), 'hex') <> sha256`)
		if err != nil {
			return err
		}
		var hash string
		if _, err := pgx.ForEachRow(rows, []any{&hash}, func() error {
			found("content:"+hash, "the content "+hash+" was changed after it was written")
			return nil
		}); err != nil {
			return err
		}
		seals, err = s.compare(ctx, tx, func(scope string) {
			found(scope, "its rows are not those that were written: one was changed, taken away or added")
		})
		return err
	})
	return seals, err
}
