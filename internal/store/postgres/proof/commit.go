package proof

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// sender is a connection or a transaction.
type sender interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Commit sends the last statements of a transaction, seals what all of it has
// changed, and commits. It takes one round trip, and two if anything is sealed:
// the hashes are made here, so the database is asked what has changed. Expected
// are the scopes that are likely to have changed: one that is not among them
// costs another round trip, one too many next to nothing.
func (s *Seals) Commit(ctx context.Context, tx sender, b *pgx.Batch, expected []string) error {
	if s != nil {
		noted := s.read(b, expected)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		b = &pgx.Batch{}
		if err := noted.queue(ctx, tx, b); err != nil {
			return err
		}
	}
	b.Queue(`COMMIT`).Exec(func(done pgconn.CommandTag) error {
		if done.String() == "ROLLBACK" { // after a fault that nobody looked at
			return pgx.ErrTxCommitRollback
		}
		return nil
	})
	return tx.SendBatch(ctx, b).Close()
}

// Transact does a transaction on a connection of a pool, and seals what it has
// changed. It commits.
func (s *Seals) Transact(ctx context.Context, pool *pgxpool.Pool, do func(pgx.Tx) error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // which drops a connection that is in the midst of something
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	if err = do(tx); err == nil {
		err = s.Commit(ctx, tx, &pgx.Batch{}, nil)
	}
	if err != nil {
		RollBack(ctx, conn.Conn())
	}
	return err
}

// RollBack ends the transaction of a connection, or the connection with whatever
// it is in the midst of.
func RollBack(ctx context.Context, conn *pgx.Conn) {
	if conn.IsClosed() {
		return
	}
	if _, err := conn.Exec(ctx, `ROLLBACK`); err != nil {
		_ = conn.Close(ctx) // nothing of it is committed
	}
}
