package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/seal"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// sealer maintains the seals of a database. The pre-update hook of the writing connection reports
// every row before it changes, so that no statement can bypass it and the file contains no trace
// of it. Only the writer uses it.
type sealer struct {
	*seal.Sealer

	// watched are the sealed tables by name.
	watched map[string]*watched
	// known caches the stored seals of recently changed scopes; nobody else writes them. changed
	// are the seals of the current transaction.
	known, changed map[string]known
	// err is the first error of reading a row. It makes the transaction fail.
	err error
}

// known is a seal without the blinding hash.
type known struct {
	version int64
	rows    seal.Sum
}

// maxKnown is the maximum number of cached seals, about 1 MB.
const maxKnown = 8192

// watched is a sealed table: the indexes of its sealed columns in a row, and buffers for a row
// before and after a change.
type watched struct {
	seal.Table

	at       []int
	row      []any
	old, new []any
}

// newSealer returns nil if there is no key.
func newSealer(key []byte) *sealer {
	if s := seal.New(key); s != nil {
		return &sealer{Sealer: s, watched: map[string]*watched{}, known: map[string]known{}, changed: map[string]known{}}
	}
	return nil
}

// watch registers the hook on the writing connection; forget removes it.
func (s *sealer) watch(ctx context.Context, h *handle) error {
	for _, t := range seal.Tables() {
		var columns []string
		err := h.Query(ctx, func(row stored.Row) error {
			name, err := stored.Text(row)
			columns = append(columns, name)
			return err
		}, `SELECT name FROM pragma_table_info($1) ORDER BY cid`, t.Name)
		if err != nil {
			return err
		}
		w := &watched{Table: t, old: make([]any, len(t.Columns)), new: make([]any, len(t.Columns))}
		for _, c := range t.Columns {
			w.at = append(w.at, slices.Index(columns, c))
		}
		if slices.Min(w.at) < 0 {
			return fmt.Errorf("the table %s has not the columns %s", t.Name, strings.Join(t.Columns, ", "))
		}
		w.row = make([]any, slices.Max(w.at)+1)
		s.watched[t.Name] = w
	}
	return hook(h, s.note)
}

func (s *sealer) forget(h *handle) error {
	if s == nil {
		return nil
	}
	return hook(h, nil)
}

func hook(h *handle, note sqlite.PreUpdateHookFn) error {
	return h.conn.Raw(func(conn any) error {
		hooks, ok := conn.(sqlite.HookRegisterer)
		if !ok {
			return errors.New("the driver has no hook for rows that change")
		}
		hooks.RegisterPreUpdateHook(note)
		return nil
	})
}

// note is the pre-update hook.
func (s *sealer) note(change sqlite.SQLitePreUpdateData) {
	w, sealed := s.watched[change.TableName]
	if !sealed || s.err != nil {
		return
	}
	removed, added := change.Op != sqlite3.SQLITE_INSERT, change.Op != sqlite3.SQLITE_DELETE
	if removed {
		s.err = w.read(change.Old, w.old)
	}
	if added && s.err == nil {
		s.err = w.read(change.New, w.new)
	}
	if s.err != nil || removed && added && same(w.old, w.new) {
		return
	}
	if removed {
		s.Removed(w.Name, w.Scope(w.old), w.old)
	}
	if added {
		s.Added(w.Name, w.Scope(w.new), w.new)
	}
}

// read copies the sealed columns of a row to into.
func (w *watched) read(row func(...any) error, into []any) error {
	if err := row(w.row...); err != nil {
		return fmt.Errorf("seal a row of %s: %w", w.Name, err)
	}
	for i, at := range w.at {
		into[i] = w.row[at]
	}
	return nil
}

// same reports whether no sealed column of a row changes.
func same(old, new []any) bool {
	return slices.EqualFunc(old, new, func(a, b any) bool {
		x, isBytes := a.([]byte)
		y, are := b.([]byte)
		if isBytes || are {
			return isBytes == are && bytes.Equal(x, y)
		}
		return a == b
	})
}

// begin discards the changes of the previous transaction.
func (s *sealer) begin() {
	s.Begin()
	s.err = nil
	clear(s.changed)
}

// committed caches the seals that the transaction has stored.
func (s *sealer) committed() {
	if len(s.known)+len(s.changed) > maxKnown {
		clear(s.known)
	}
	maps.Copy(s.known, s.changed)
}

const (
	selectSeal = `SELECT scope, version, sum FROM seal WHERE scope = $1`
	upsertSeal = `
INSERT INTO seal (scope, version, sum) VALUES ($1, $2, $3)
ON CONFLICT (scope) DO UPDATE SET version = excluded.version, sum = excluded.sum`
)

// store writes the new seals, one per changed scope, in the transaction that changed them.
func (s *sealer) store(ctx context.Context, h *handle) error {
	if s.err != nil {
		return s.err
	}
	for scope, by := range s.Done() {
		if by == (seal.Sum{}) {
			continue
		}
		last, ok := s.known[scope]
		if !ok {
			stored, err := sealsOf(ctx, h, selectSeal, scope)
			if err != nil {
				return err
			}
			if len(stored) > 0 {
				last = known{stored[0].Version, s.Rows(stored[0])}
			}
		}
		next := known{last.version + 1, last.rows.Plus(by)}
		if err := storeSeal(ctx, h, s.Seal(scope, next.version, next.rows)); err != nil {
			return err
		}
		s.changed[scope] = next
	}
	return nil
}

func storeSeal(ctx context.Context, h *handle, seal seal.Sealed) error {
	_, err := h.Exec(ctx, upsertSeal, seal.Scope, seal.Version, seal.Sum)
	return err
}

func sealsOf(ctx context.Context, h *handle, text string, args ...any) ([]seal.Sealed, error) {
	var seals []seal.Sealed
	err := h.Query(ctx, func(row stored.Row) error {
		var s seal.Sealed
		err := row.Scan(&s.Scope, &s.Version, &s.Sum)
		seals = append(seals, s)
		return err
	}, text, args...)
	return seals, err
}

// stands implements seal.Source on a connection.
type stands struct{ *handle }

// Seals implements seal.Source.
func (s stands) Seals(ctx context.Context, after string, limit int) ([]seal.Sealed, error) {
	return sealsOf(ctx, s.handle, `SELECT scope, version, sum FROM seal WHERE scope > $1 ORDER BY scope LIMIT 0 + $2`, after, limit)
}

// Rows implements seal.Source.
func (s stands) Rows(ctx context.Context, t seal.Table, key string, span seal.Span, visit func(string, []any)) error {
	query, args := "SELECT "+strings.Join(t.Columns, ", ")+" FROM "+t.Name+" WHERE true", []any(nil) //nolint:gosec // constants of ours
	if span.After != nil {
		query, args = query+" AND "+key+" > ?", append(args, *span.After)
	}
	if span.UpTo != nil && key != "" {
		query, args = query+" AND "+key+" <= ?", append(args, *span.UpTo)
	}
	rows, err := s.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	values, dest := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range values {
		dest[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		visit(t.Scope(values), values)
	}
	return rows.Err()
}

// unfitting returns the error for seals made with another key.
func unfitting(have, want string) error {
	return contracts.Errorf(contracts.CodeConflict,
		"the database was sealed with the key %s, and the key %s is given: give the one it was sealed with, or both to change it", have, want)
}

// CheckRows implements sqlstore.Backend.
func (s *file) CheckRows(ctx context.Context, found func(scope, message string)) (seals int, err error) {
	err = s.snapshot(ctx, func(h *handle) error {
		if err := checkContents(ctx, h, found); err != nil {
			return err
		}
		reader := newSealer(s.sealKey)
		if reader == nil {
			return nil
		}
		seals, err = reader.Compare(ctx, stands{h}, func(scope string) {
			found(scope, "its rows are not those that were written: one was changed, taken away or added")
		})
		return err
	})
	return seals, err
}

func checkContents(ctx context.Context, h *handle, found func(scope, message string)) error {
	return h.Query(ctx, func(row stored.Row) error {
		var name string
		var body []byte
		err := row.Scan(&name, &body)
		if sum := sha256.Sum256(body); err == nil && hex.EncodeToString(sum[:]) != name {
			found("content:"+name, fmt.Sprintf("the content %s was changed after it was written", name))
		}
		return err
	}, `SELECT sha256, body FROM blob`)
}
