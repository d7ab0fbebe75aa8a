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

// Commit sends the last statements of a transaction, seals all its changes and commits. It takes
// one round trip, or two if sealing is on, because the hashes are computed here and the changes
// must be read first. expected are the scopes that probably changed. A changed scope that is
// missing costs one more round trip; one too many costs next to nothing.
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
		if done.String() == "ROLLBACK" { // after an error that was ignored
			return pgx.ErrTxCommitRollback
		}
		return nil
	})
	return tx.SendBatch(ctx, b).Close()
}

// Transact executes a transaction on a pooled connection, seals its changes and commits.
func (s *Seals) Transact(ctx context.Context, pool *pgxpool.Pool, do func(pgx.Tx) error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // closes a connection that is inside a transaction
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

// RollBack rolls back the transaction of a connection. If that fails, it closes the connection.
func RollBack(ctx context.Context, conn *pgx.Conn) {
	if conn.IsClosed() {
		return
	}
	if _, err := conn.Exec(ctx, `ROLLBACK`); err != nil {
		_ = conn.Close(ctx) // nothing is committed
	}
}
