package postgres

import (
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/manifold-run/manifold/internal/store/sqlstore"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// queue adds statements and rows to a batch.
func (d *db) queue(b *pgx.Batch, statements []sqlstore.Statement, rows []sqlstore.Rows) {
	for _, s := range statements {
		text := d.texts.of(s.Text)
		if text == "" {
			continue
		}
		queued := b.Queue(text, s.Args...)
		switch {
		case s.Each != nil:
			queued.Query(func(rows pgx.Rows) error { return eachRow(rows, s.Each) })
		case s.Done != nil:
			queued.Exec(func(done pgconn.CommandTag) error {
				s.Done(done.RowsAffected())
				return nil
			})
		}
	}
	for _, r := range rows {
		if len(r.Cells) > 0 {
			b.Queue(d.tables.of(r.Table), arrays(&r)...)
		}
	}
}

// tables caches the statements that write rows.
type tables struct{ texts sync.Map }

// of returns the statement that writes all rows of a table, given as one array per column.
func (t *tables) of(table *sqlstore.Table) string {
	if known, ok := t.texts.Load(table); ok {
		text, _ := known.(string)
		return text
	}
	text := writeText(table)
	t.texts.Store(table, text)
	return text
}

func writeText(t *sqlstore.Table) string {
	columns, _ := t.Rendered(dialect)
	var names, values, lists, sets, keys []string
	for i, c := range columns {
		value := "u." + c.Name
		if c.Kind == sqlstore.List {
			value = "ARRAY(SELECT jsonb_array_elements_text(" + value + "::jsonb))"
		}
		names, values = append(names, c.Name), append(values, value)
		lists = append(lists, "$"+strconv.Itoa(i+1)+"::"+arrayType(c.Kind))
		if i < t.Key {
			keys = append(keys, t.Name+"."+c.Name+" = "+value)
		} else {
			sets = append(sets, c.Name+" = "+value)
		}
	}
	from := " FROM unnest(" + strings.Join(lists, ", ") + ") WITH ORDINALITY AS u (" + strings.Join(names, ", ") + ", nth)"
	if t.Key > 0 {
		return "UPDATE " + t.Name + " SET " + strings.Join(sets, ", ") + from + " WHERE " + strings.Join(keys, " AND ")
	}
	return "INSERT INTO " + t.Name + " (" + strings.Join(names, ", ") + ") SELECT " + strings.Join(values, ", ") + from + " ORDER BY nth " + t.Conflict
}

func arrayType(k sqlstore.Kind) string {
	switch k {
	case sqlstore.Int:
		return "bigint[]"
	case sqlstore.Bool:
		return "boolean[]"
	case sqlstore.Bytes:
		return "bytea[]"
	default:
		return "text[]"
	}
}

// arrays returns rows as one array per column.
func arrays(r *sqlstore.Rows) []any {
	args := make([]any, len(r.Columns))
	for i, c := range r.Columns {
		switch c.Kind {
		case sqlstore.Int:
			args[i] = array[int64](r, i)
		case sqlstore.Bool:
			args[i] = array[bool](r, i)
		case sqlstore.Bytes:
			args[i] = array[[]byte](r, i)
		default:
			args[i] = array[string](r, i)
		}
	}
	return args
}

func array[T any](r *sqlstore.Rows, column int) []T {
	width := len(r.Columns)
	out := make([]T, 0, r.Len())
	for at := column; at < len(r.Cells); at += width {
		value, _ := r.Cells[at].(T)
		out = append(out, value)
	}
	return out
}

// insertEvents numbers the events of each session after its last one. $4 is the position of the
// last event of each row within this batch and session. $5 are the sessions and $6 the number of
// events of each.
const insertEvents = `
WITH numbered AS (
  INSERT INTO event_seq (session_id, seq) SELECT session_id, seq FROM unnest($5::text[], $6::bigint[]) AS s (session_id, seq) ORDER BY session_id COLLATE "C"
  ON CONFLICT (session_id) DO UPDATE SET seq = event_seq.seq + excluded.seq
  RETURNING session_id, seq)
INSERT INTO event (session_id, seq, run_id, body)
SELECT e.session_id, last.seq - s.count + e.place, e.run_id, e.body
FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS e (session_id, run_id, body, place)
JOIN unnest($5::text[], $6::bigint[]) AS s (session_id, count) ON s.session_id = e.session_id
JOIN numbered last ON last.session_id = e.session_id`

func queueEvents(b *pgx.Batch, events []stored.EventPack) {
	if len(events) == 0 {
		return
	}
	n := len(events)
	of, runs, bodies, places := make([]string, n), make([]string, n), make([]string, n), make([]int64, n)
	var sessions []string
	counts := map[string]int64{}
	for i, e := range events {
		if counts[e.SessionID] == 0 {
			sessions = append(sessions, e.SessionID)
		}
		counts[e.SessionID] += e.Count
		of[i], runs[i], bodies[i], places[i] = e.SessionID, e.RunID, e.Body, counts[e.SessionID]
	}
	each := make([]int64, len(sessions))
	for i, s := range sessions {
		each[i] = counts[s]
	}
	b.Queue(insertEvents, of, runs, bodies, places, sessions, each)
}
