// Package proof shows that nobody else has written to a PostgreSQL database:
// seals of its rows and the log of their roots, with keys that are not in it.
package proof

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/manifold-run/manifold/orchestrator/audit"
)

var _ audit.Proofs = (*Proofs)(nil)

// Proofs is what shows that nobody else has written. It is safe for concurrent
// use.
type Proofs struct {
	pool  *pgxpool.Pool
	seals *Seals
	fault func(doing string, err error) error
}

// New reads and logs through a pool; seals is nil where nothing is sealed, fault
// gives errors their codes.
func New(pool *pgxpool.Pool, seals *Seals, fault func(doing string, err error) error) *Proofs {
	return &Proofs{pool: pool, seals: seals, fault: fault}
}

// list does one query and reads all rows.
func list[T any](ctx context.Context, s *Proofs, doing string, scan pgx.RowToFunc[T], query string, args ...any) ([]T, error) {
	rows, err := s.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, s.fault(doing, err)
	}
	all, err := pgx.CollectRows(rows, scan)
	return all, s.fault(doing, err)
}

// selectChains takes one step in the index of the ledgers for each.
const selectChains = `
WITH RECURSIVE chain (id) AS (
  (SELECT run_id FROM ledger WHERE run_id > $1 ORDER BY run_id LIMIT 1)
  UNION ALL
  SELECT (SELECT run_id FROM ledger WHERE run_id > chain.id ORDER BY run_id LIMIT 1) FROM chain WHERE chain.id IS NOT NULL)
SELECT id FROM chain WHERE id IS NOT NULL LIMIT $2`

// Chains lists the ledgers.
func (s *Proofs) Chains(ctx context.Context, after string, limit int) ([]string, error) {
	return list(ctx, s, "list ledgers", pgx.RowTo[string], selectChains, after, limit)
}

// CheckRows compares what is stored with the seals, and contents with their
// hashes. It reads everything, in one state of the database, and keeps little of
// it in memory.
func (s *Proofs) CheckRows(ctx context.Context, found func(scope, message string)) (seals int, err error) {
	state := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, s.pool, state, func(tx pgx.Tx) error {
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
		seals, err = s.seals.compare(ctx, tx, func(scope string) {
			found(scope, "its rows are not those that were written: one was changed, taken away or added")
		})
		return err
	})
	return seals, s.fault("compare rows with their seals", err)
}
