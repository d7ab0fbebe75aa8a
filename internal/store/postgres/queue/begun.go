package queue

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// begun implements pgx.Tx for a transaction that the caller began and ends itself.
type begun struct {
	pgx.Tx // only the methods below may be called

	conn *pgx.Conn
}

var errNotOurs = errors.New("the transaction belongs to somebody else")

func (b begun) Begin(context.Context) (pgx.Tx, error) { return nil, errNotOurs }
func (b begun) Commit(context.Context) error          { return errNotOurs }
func (b begun) Rollback(context.Context) error        { return errNotOurs }
func (b begun) Conn() *pgx.Conn                       { return b.conn }

func (b begun) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return b.conn.Exec(ctx, sql, args...)
}

func (b begun) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return b.conn.Query(ctx, sql, args...)
}

func (b begun) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return b.conn.QueryRow(ctx, sql, args...)
}

func (b begun) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error) {
	return b.conn.CopyFrom(ctx, table, columns, rows)
}

func (b begun) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	return b.conn.SendBatch(ctx, batch)
}
