package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/groupcommit"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// handle is one connection with its prepared statements. One goroutine uses it
// at a time.
type handle struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
}

func newHandle(ctx context.Context, db *sql.DB) (*handle, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &handle{conn: conn, statements: map[string]*sql.Stmt{}}, nil
}

func (h *handle) close() error {
	var errs []error
	for _, statement := range h.statements {
		errs = append(errs, statement.Close())
	}
	return errors.Join(append(errs, h.conn.Close())...)
}

// prepared gives the statement of a query; the queries are constants, so that
// their number is bounded.
func (h *handle) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if statement, ok := h.statements[query]; ok {
		return statement, nil
	}
	statement, err := h.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	h.statements[query] = statement
	return statement, nil
}

// exec changes rows and tells how many. A limit is written "LIMIT +?": without the
// sign SQLite plans the statement anew for each value.
func (h *handle) exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := refuseZeros(args); err != nil {
		return 0, err
	}
	statement, err := h.prepared(ctx, query) //nolint:sqlclosecheck // kept for the next time; close closes it
	if err != nil {
		return 0, err
	}
	result, err := statement.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// row reads at most one row.
func (h *handle) row(ctx context.Context, query string, args ...any) scanner {
	if err := refuseZeros(args); err != nil {
		return brokenRow{err}
	}
	statement, err := h.prepared(ctx, query) //nolint:sqlclosecheck // kept for the next time; close closes it
	if err != nil {
		return brokenRow{err}
	}
	return statement.QueryRowContext(ctx, args...)
}

// refuseZeros refuses texts with a zero byte, as PostgreSQL does: where SQLite
// shows a row, a text ends with it, so that what follows would be in no seal.
func refuseZeros(args []any) error {
	for _, arg := range args {
		if text, ok := arg.(string); ok && strings.IndexByte(text, 0) >= 0 {
			return contracts.Errorf(contracts.CodeInvalid, "a text has a zero byte")
		}
	}
	return nil
}

// scanner is a row to read.
type scanner = stored.Row

// brokenRow is a row that could not be asked for.
type brokenRow struct{ err error }

func (r brokenRow) Scan(...any) error { return r.err }

// collect reads all rows of a query.
func collect[T any](ctx context.Context, h *handle, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	statement, err := h.prepared(ctx, query) //nolint:sqlclosecheck // kept for the next time; close closes it
	if err != nil {
		return nil, err
	}
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// view does one read on a connection of its own.
func (s *file) view(ctx context.Context, doing string, read func(context.Context, *handle) error) error {
	var h *handle
	select {
	case h = <-s.readers:
	case <-ctx.Done():
		return translate(doing, ctx.Err())
	case <-s.writer.Closed():
		return groupcommit.ErrClosed(doing)
	}
	defer func() { s.readers <- h }()
	return translate(doing, read(ctx, h))
}

// snapshot does several reads that see one state of the database.
func (s *file) snapshot(ctx context.Context, doing string, read func(context.Context, *handle) error) error {
	return s.view(ctx, doing, func(ctx context.Context, h *handle) error {
		// The connection must be clean before and after, even if ctx has ended.
		lasting := context.WithoutCancel(ctx)
		if _, err := h.exec(lasting, "BEGIN DEFERRED"); err != nil {
			return err
		}
		err := read(ctx, h)
		if _, rollback := h.exec(lasting, "ROLLBACK"); rollback != nil {
			return errors.Join(err, fmt.Errorf("end a read: %w", rollback))
		}
		return err
	})
}
