package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// now is the server's clock in SQL, in nanoseconds since 1970.
const now = `(extract(epoch FROM clock_timestamp()) * 1000000000)::bigint`

// querier is a pool, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// execer is one that can change rows.
type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// collect reads all rows of a query.
func collect[T any](ctx context.Context, q querier, scan func(stored.Row) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return read(rows, scan)
}

// read reads all rows and closes them.
func read[T any](rows pgx.Rows, scan func(stored.Row) (T, error)) ([]T, error) {
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

// list does one query of the pool and reads all rows.
func list[T any](ctx context.Context, d *db, doing string, scan func(stored.Row) (T, error), query string, args ...any) ([]T, error) {
	all, err := collect(ctx, d.pool, scan, query, args...)
	return all, translate(doing, err)
}

// one does one query of the pool and reads one row; without one it gives the
// better error.
func one[T any](ctx context.Context, d *db, doing string, missing error, scan func(stored.Row) (T, error), query string, args ...any) (T, error) {
	v, err := scan(d.pool.QueryRow(ctx, query, args...))
	return v, translate(doing, instead(err, missing))
}

// instead gives the better error when a row was not there.
func instead(err, better error) error {
	if isMissing(err) {
		return better
	}
	return err
}

func isMissing(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// transact does a short transaction of its own, again where two have been in
// each other's way. An act that the caller has named is recorded with it. It
// commits.
func (d *db) transact(ctx context.Context, doing string, do func(pgx.Tx) error) error {
	act, named := execution.ActOf(ctx)
	if named {
		only := do
		do = func(tx pgx.Tx) error {
			if err := only(tx); err != nil {
				return err
			}
			return recordAct(ctx, tx, act)
		}
	}
	for try := 1; ; try++ {
		err := d.seals.Transact(ctx, d.pool, do)
		if named && err == nil {
			execution.Recorded(ctx)
		}
		if !passing(err) || try == maxTries {
			return translate(doing, err)
		}
	}
}

// maxTries is how often a transaction is tried that meets others.
const maxTries = 4

// query is the conditions of a listing.
type query struct{ stored.Query }

// text gives the query of a page.
func (q *query) text(selects, order string, limit int) (text string, args []any) {
	var most *int
	if limit > 0 {
		limit++
		most = &limit
	}
	text, args = q.Text(selects, order+` LIMIT ?`, most)
	return numbered(text), args
}

// numbered writes each "?" as the number of its argument.
func numbered(text string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(text, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		text = after
	}
}

// limitOf is a LIMIT; NULL is none.
func limitOf(limit int) *int {
	if limit <= 0 {
		return nil
	}
	return &limit
}
