package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/seal"
)

// sealer keeps the seals of a database. Triggers tell it of every change. They
// are temporary, on the one connection that writes: no statement can forget
// them, and the file knows nothing of them. Only the writer uses it.
type sealer struct {
	*seal.Sealer

	// number is what its triggers call it by, 0 while it watches nothing.
	number int64
}

// newSealer gives nil for no key.
func newSealer(key []byte) *sealer {
	if s := seal.New(key); s != nil {
		return &sealer{Sealer: s}
	}
	return nil
}

// sealers are those of the open stores, by the number that their triggers name.
var (
	sealers    sync.Map
	lastSealer atomic.Int64
)

// registered makes the function of the triggers known to connections that are
// opened later.
var registered = sync.OnceValue(func() error {
	return sqlite.RegisterFunction("manifold_sealed", &sqlite.FunctionImpl{NArgs: -1, Scalar: noteSealed})
})

// noteSealed is called by the triggers with sealer, table, sign, scope and
// columns.
func noteSealed(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	if len(args) < 4 {
		return nil, errNotOurs()
	}
	number, isNumber := args[0].(int64)
	table, isTable := args[1].(string)
	sign, isSign := args[2].(int64)
	scope, isScope := args[3].(string)
	found, open := sealers.Load(number)
	s, isSealer := found.(*sealer)
	if !isNumber || !isTable || !isSign || !isScope || !open || !isSealer {
		return nil, errNotOurs()
	}
	values := make([]any, len(args)-4)
	for i, v := range args[4:] {
		values[i] = v
	}
	if sign < 0 {
		s.Removed(table, scope, values)
	} else {
		s.Added(table, scope, values)
	}
	return int64(0), nil
}

func errNotOurs() error { return errors.New("manifold_sealed is for the triggers of an open store") }

// watch makes the triggers of the connection that writes; forget ends it.
func (s *sealer) watch(ctx context.Context, h *handle) error {
	s.number = lastSealer.Add(1)
	sealers.Store(s.number, s)
	for _, t := range seal.Tables() {
		note := func(sign int, row string) string {
			return fmt.Sprintf("SELECT manifold_sealed(%d, '%s', %d, %s, %s.%s);", s.number, t.Name, sign,
				strings.ReplaceAll(t.Scope, "@", row), row, strings.Join(t.Columns, ", "+row+"."))
		}
		for what, body := range map[string]string{
			"INSERT": note(1, "NEW"), "DELETE": note(-1, "OLD"),
			"UPDATE OF " + strings.Join(t.Columns, ", "): note(-1, "OLD") + note(1, "NEW"),
		} {
			verb, _, _ := strings.Cut(what, " ")
			_, err := h.conn.ExecContext(ctx, fmt.Sprintf("CREATE TEMP TRIGGER sealed_%s_%s AFTER %s ON main.%s BEGIN %s END", t.Name, verb, what, t.Name, body))
			if err != nil {
				s.forget()
				return fmt.Errorf("watch the table %s: %w", t.Name, err)
			}
		}
	}
	return nil
}

func (s *sealer) forget() {
	if s != nil {
		sealers.Delete(s.number)
	}
}

const (
	selectSeal = `SELECT version, sum FROM seal WHERE scope = ?`
	upsertSeal = `
INSERT INTO seal (scope, version, sum) VALUES (?, ?, ?)
ON CONFLICT (scope) DO UPDATE SET version = excluded.version, sum = excluded.sum`
)

// store writes the seals of what has changed, into the transaction that changed
// it.
func (s *sealer) store(ctx context.Context, h *handle, changed map[string]seal.Sum) error {
	for scope, by := range changed {
		var version int64
		var stored []byte
		if err := h.row(ctx, selectSeal, scope).Scan(&version, &stored); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if _, err := h.exec(ctx, upsertSeal, scope, version+1, s.Next(scope, version, stored, by)); err != nil {
			return err
		}
	}
	return nil
}

// sums gives the sum of the rows of every scope as they stand.
func (s *sealer) sums(ctx context.Context, h *handle) (map[string]seal.Sum, error) {
	found := map[string]seal.Sum{}
	for _, t := range seal.Tables() {
		if err := s.sumTable(ctx, h, t, found); err != nil {
			return nil, fmt.Errorf("read the table %s: %w", t.Name, err)
		}
	}
	return found, nil
}

func (s *sealer) sumTable(ctx context.Context, h *handle, t seal.Table, into map[string]seal.Sum) error {
	query := fmt.Sprintf("SELECT %s, %s FROM %s", strings.ReplaceAll(t.Scope, "@", t.Name), strings.Join(t.Columns, ", "), t.Name) //nolint:gosec // constants of ours
	rows, err := h.conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	values, dest := make([]any, len(t.Columns)), make([]any, len(t.Columns)+1)
	var scope string
	dest[0] = &scope
	for i := range values {
		dest[i+1] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		into[scope] = into[scope].Plus(s.Of(t.Name, scope, values))
	}
	return rows.Err()
}

// sealed is a stored seal.
type sealed struct {
	scope   string
	version int64
	sum     []byte
}

func scanSealed(row scanner) (sealed, error) {
	var s sealed
	err := row.Scan(&s.scope, &s.version, &s.sum)
	return s, err
}

// differing lists the scopes whose rows are not those that were sealed.
func (s *sealer) differing(ctx context.Context, h *handle) ([]string, error) {
	sums, err := s.sums(ctx, h)
	if err != nil {
		return nil, err
	}
	stored, err := collect(ctx, h, scanSealed, `SELECT scope, version, sum FROM seal ORDER BY scope`)
	if err != nil {
		return nil, err
	}
	var differ []string
	for _, seal := range stored {
		if !s.Fits(seal.scope, seal.version, seal.sum, sums[seal.scope]) {
			differ = append(differ, seal.scope)
		}
		delete(sums, seal.scope)
	}
	for scope, sum := range sums {
		if sum != (seal.Sum{}) {
			differ = append(differ, scope)
		}
	}
	return differ, nil
}

// unfitting says that the seals were made with a key that is not the present one.
func unfitting(have, want string) error {
	return contracts.Errorf(contracts.CodeConflict,
		"the database was sealed with the key %s, and the key %s is given: give the one it was sealed with, or both to change it", have, want)
}
