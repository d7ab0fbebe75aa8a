package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/sqlstore"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// dialect is the SQLite dialect. The clock is an argument of each statement that uses it.
var dialect = sqlstore.Dialect{Name: "lite", Now: "@now", Any: "IN (SELECT value FROM json_each($))"}

// handle is one connection with its prepared statements. It is not safe for concurrent use.
type handle struct {
	conn       *sql.Conn
	now        func() time.Time
	statements map[string]statement
	tables     map[*sqlstore.Table]*table
	// scratch is a buffer for the arguments of one statement.
	scratch []any
}

// statement is a prepared statement. Stmt is nil if the text is empty on SQLite.
type statement struct {
	*sql.Stmt

	// clock means that the statement uses the time.
	clock bool
}

// table is a table with its SQLite columns, their indexes in the rows, and the statements by
// number of rows.
type table struct {
	columns []sqlstore.Column
	at      []int
	writes  map[int]string
	// replaces means that existing rows are updated.
	replaces bool
	// changed is a buffer for the arguments of an update, with the key at the end.
	changed []any
}

func newHandle(ctx context.Context, db *sql.DB, now func() time.Time) (*handle, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &handle{conn: conn, now: now, statements: map[string]statement{}, tables: map[*sqlstore.Table]*table{}}, nil
}

func (h *handle) close() error {
	var errs []error
	for _, s := range h.statements {
		if s.Stmt != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(append(errs, h.conn.Close())...)
}

// prepared returns the prepared statement of a text. Texts are constants, so their number is
// bounded.
func (h *handle) prepared(ctx context.Context, text string) (statement, error) {
	if s, ok := h.statements[text]; ok {
		return s, nil
	}
	var s statement
	rendered := dialect.Render(text)
	if strings.TrimSpace(rendered) != "" {
		s.clock = strings.Contains(rendered, dialect.Now)
		var err error
		if s.Stmt, err = h.conn.PrepareContext(ctx, positional(rendered)); err != nil {
			return s, err
		}
	}
	h.statements[text] = s
	return s, nil
}

var parameter = regexp.MustCompile(`\$\d+|@now`)

// positional replaces the arguments by "?" if each occurs once and in order, because the driver
// looks up the name of each named argument.
func positional(text string) string {
	for i, p := range parameter.FindAllString(text, -1) {
		if p != "$"+strconv.Itoa(i+1) {
			return text
		}
	}
	return parameter.ReplaceAllString(text, "?")
}

// bind converts arguments to SQLite values: a list becomes JSON. It rejects strings with a zero
// byte, as PostgreSQL does. Such a string ends at the zero byte where SQLite passes rows to the
// hook, so that the rest would not be sealed.
func (h *handle) bind(s statement, args []any) ([]any, error) {
	h.scratch = append(h.scratch[:0], args...)
	for i, arg := range h.scratch {
		switch arg := arg.(type) {
		case string:
			if strings.IndexByte(arg, 0) >= 0 {
				return nil, contracts.Errorf(contracts.CodeInvalid, "a text has a zero byte")
			}
		case []string, []int, []int64:
			raw, err := json.Marshal(arg)
			if err != nil {
				return nil, fmt.Errorf("encode a list: %w", err)
			}
			h.scratch[i] = string(raw)
		}
	}
	if s.clock {
		h.scratch = append(h.scratch, sql.Named("now", stored.Nanos(h.now())))
	}
	return h.scratch, nil
}

// Exec implements sqlstore.Querier.
func (h *handle) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	s, err := h.prepared(ctx, text)
	if err != nil || s.Stmt == nil {
		return 0, err
	}
	if args, err = h.bind(s, args); err != nil {
		return 0, err
	}
	result, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Query implements sqlstore.Querier.
func (h *handle) Query(ctx context.Context, each func(stored.Row) error, text string, args ...any) error {
	s, err := h.prepared(ctx, text)
	if err != nil || s.Stmt == nil {
		return err
	}
	if args, err = h.bind(s, args); err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// value reads the single value of a single row.
func (h *handle) value(ctx context.Context, into any, text string, args ...any) error {
	return h.Query(ctx, func(row stored.Row) error { return row.Scan(into) }, text, args...)
}

// Lock implements sqlstore.Tx. It does nothing, because there is only one writer.
func (h *handle) Lock(context.Context, ...sqlstore.Lock) error { return nil }

// Now implements sqlstore.Tx.
func (h *handle) Now(context.Context) (time.Time, error) { return h.now(), nil }

// Notify implements sqlstore.Tx. It does nothing, because there are no other processes.
func (h *handle) Notify(context.Context, sqlstore.Change) error { return nil }

// WakeRuns implements sqlstore.Tx. It does nothing; sweeps of this process find the runs.
func (h *handle) WakeRuns(context.Context, ...string) error { return nil }

// EnqueueJobs implements sqlstore.Tx. It does nothing, like WakeRuns.
func (h *handle) EnqueueJobs(context.Context, ...sqlstore.Job) error { return nil }

// Send implements sqlstore.Querier.
func (h *handle) Send(ctx context.Context, statements []sqlstore.Statement, rows ...sqlstore.Rows) error {
	for _, s := range statements {
		if err := h.run(ctx, s); err != nil {
			return err
		}
	}
	for i := range rows {
		if err := h.writeRows(ctx, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (h *handle) run(ctx context.Context, s sqlstore.Statement) error {
	if s.Each != nil {
		return h.Query(ctx, s.Each, s.Text, s.Args...)
	}
	n, err := h.Exec(ctx, s.Text, s.Args...)
	if err == nil && s.Done != nil {
		s.Done(n)
	}
	return err
}

// rowsAtOnce is the number of rows that one statement inserts, if there are that many.
//
// SQLite keeps a statement journal for each multi-row statement that it may have to undo, and
// copies every touched page to it. OR FAIL avoids this; an error ends the transaction in any
// case. It cannot be combined with an upsert, so such rows are written one at a time.
const rowsAtOnce = 8

func (h *handle) writeRows(ctx context.Context, r *sqlstore.Rows) error {
	if len(r.Cells) == 0 {
		return nil
	}
	t := h.tables[r.Table]
	if t == nil {
		t = &table{writes: map[int]string{}}
		t.columns, t.at = r.Rendered(dialect)
		t.replaces = strings.Contains(r.Conflict, "DO UPDATE")
		h.tables[r.Table] = t
	}
	cells, width := t.cells(r), len(t.columns)
	for len(cells) > 0 {
		n := 1
		if r.Key == 0 && !t.replaces && len(cells) >= rowsAtOnce*width {
			n = rowsAtOnce
		}
		text, ok := t.writes[n]
		if !ok {
			text = writeText(r.Table, t.columns, n)
			t.writes[n] = text
		}
		args := cells[:n*width]
		if r.Key > 0 {
			t.changed = append(append(t.changed[:0], args[r.Key:]...), args[:r.Key]...)
			args = t.changed
		}
		if _, err := h.Exec(ctx, text, args...); err != nil {
			return err
		}
		cells = cells[n*width:]
	}
	return nil
}

// cells returns the cells of the columns that exist on SQLite.
func (t *table) cells(r *sqlstore.Rows) []any {
	if len(t.at) == len(r.Columns) {
		return r.Cells
	}
	var cells []any
	for row := range r.Len() {
		for _, i := range t.at {
			cells = append(cells, r.Cells[row*len(r.Columns)+i])
		}
	}
	return cells
}

// writeText returns the statement that writes a number of rows to a table.
func writeText(t *sqlstore.Table, columns []sqlstore.Column, rows int) string {
	var b strings.Builder
	argument := 0
	next := func() string {
		argument++
		return "$" + strconv.Itoa(argument)
	}
	if t.Key > 0 { // the key values come last
		sets := func(columns []sqlstore.Column, separator string) string {
			parts := make([]string, len(columns))
			for i, c := range columns {
				parts[i] = c.Name + " = " + next()
			}
			return strings.Join(parts, separator)
		}
		return "UPDATE " + t.Name + " SET " + sets(columns[t.Key:], ", ") + " WHERE " + sets(columns[:t.Key], " AND ")
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	b.WriteString("INSERT OR FAIL INTO " + t.Name + " (" + strings.Join(names, ", ") + ") VALUES ")
	for row := range rows {
		if row > 0 {
			b.WriteString(", ")
		}
		values := make([]string, len(columns))
		for i := range values {
			values[i] = next()
		}
		b.WriteString("(" + strings.Join(values, ", ") + ")")
	}
	b.WriteString(" " + t.Conflict)
	return b.String()
}
