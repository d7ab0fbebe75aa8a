package proof

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/internal/store/seal"
)

// Tables returns the sealed tables, including the columns that only PostgreSQL has.
func Tables() []seal.Table {
	all := seal.Tables()
	for i, t := range all {
		switch t.Name {
		case "interrupt":
			all[i].Columns = append(t.Columns, "created_at")
		case "turn":
			all[i].Columns = append(t.Columns, "run_id")
		}
	}
	return all
}

// Harmless maps each unsealed column to the effect of changing it: those of every store, and
// those that only PostgreSQL has. No view, gate, answer or decision reads them. Tables of the job
// queue are not listed, because a job is only a wake-up.
func Harmless() map[string]string {
	const (
		led    = "another server leads, or none until the next one asks"
		served = "a server whose connection breaks at a commit takes it for lost, or done"
		shared = "a limit lets more or less through, until the servers have said again that they live"
	)
	all := seal.Harmless()
	maps.Copy(all, map[string]string{
		"leader.name": led, "leader.owner": led, "leader.lease_until": led,
		"writer.origin": served, "writer.attempt": served, "writer.seen_at": served,
		"server.origin": shared, "server.alive_until": shared,
		"place.key": shared, "place.number": shared, "place.owner": shared, "place.claimed_until": shared,
		"manifold_migration.component": "the tables are made once more, and that fails",
		"manifold_migration.version":   "the tables are made once more, and that fails; or a start is refused",
		"seal_key.watched":             "the triggers are made once more, or not by the next release: its rows are noticed then",
	})
	return all
}

// watcher generates the SQL that watches the tables. tables is by name. bytes are the bytea
// columns, as "table.column".
type watcher struct {
	tables map[string]seal.Table
	bytes  map[string]bool
}

// scope returns the SQL expression for the scope of a row.
func (watcher) scope(t *seal.Table, row string) string {
	run, ofRun := t.Key(seal.RunScope)
	session, ofSession := t.Key(seal.SessionScope)
	switch {
	case ofRun && ofSession:
		return fmt.Sprintf(`CASE WHEN %[1]s.%[2]s <> '' THEN 'run:' || %[1]s.%[2]s ELSE 'session:' || %[1]s.%[3]s END`, row, run, session)
	case ofRun:
		return fmt.Sprintf(`'run:' || %s.%s`, row, run)
	case ofSession:
		return fmt.Sprintf(`'session:' || %s.%s`, row, session)
	default:
		return `'house'`
	}
}

// digest returns the SQL expression for the hash of a row, which covers each column with its
// length.
func (w watcher) digest(t *seal.Table, row string) string {
	parts := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		text := row + "." + c + "::text"
		if w.bytes[t.Name+"."+c] {
			text = "encode(" + row + "." + c + ", 'hex')"
		}
		parts[i] = "length(" + text + ") || ':' || " + text
	}
	return "encode(sha256(convert_to(" + strings.Join(parts, " || ") + ", 'UTF8')), 'hex')"
}

// trigger returns the statements that create the function and the triggers of a table.
func (w watcher) trigger(t *seal.Table) string {
	// The JSON is concatenated because json_build_object takes three times as long as the digest
	// itself.
	note := func(removed bool, rows string) string {
		return fmt.Sprintf(`SELECT string_agg('{"table":"%s","removed":%t,"scope":' || to_json(%s::text)::text || ',"digest":"' || %s || E'"}\n', '') FROM %s r`,
			t.Name, removed, w.scope(t, "r"), w.digest(t, "r"), rows)
	}
	return fmt.Sprintf(`
CREATE OR REPLACE FUNCTION seal_%[1]s() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE removed text; added text;
BEGIN
  IF TG_OP <> 'INSERT' THEN removed := (%[2]s); END IF;
  IF TG_OP <> 'DELETE' THEN added := (%[3]s); END IF;
  IF removed IS NOT NULL OR added IS NOT NULL THEN
    PERFORM set_config('manifold.changed', %[4]s || coalesce(removed, '') || coalesce(added, ''), true);
  END IF;
  RETURN NULL;
END $body$;
CREATE OR REPLACE TRIGGER sealed_insert AFTER INSERT ON %[1]s REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION seal_%[1]s();
CREATE OR REPLACE TRIGGER sealed_update AFTER UPDATE ON %[1]s REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION seal_%[1]s();
CREATE OR REPLACE TRIGGER sealed_delete AFTER DELETE ON %[1]s REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION seal_%[1]s();`,
		t.Name, note(true, "old_rows"), note(false, "new_rows"), noted)
}

// newWatcher reads which columns are of type bytea.
func newWatcher(ctx context.Context, tx pgx.Tx) (watcher, error) {
	w := watcher{tables: map[string]seal.Table{}, bytes: map[string]bool{}}
	for _, t := range Tables() {
		w.tables[t.Name] = t
	}
	rows, err := tx.Query(ctx, `
SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = current_schema() AND data_type = 'bytea'`)
	if err != nil {
		return w, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range names {
		w.bytes[name] = true
	}
	return w, err
}

// stands implements seal.Source on a transaction.
type stands struct {
	pgx.Tx
	watcher
}

// Seals implements seal.Source.
func (s stands) Seals(ctx context.Context, after string, limit int) ([]seal.Sealed, error) {
	rows, err := s.Query(ctx, `SELECT scope, version, sum FROM seal WHERE scope > $1 ORDER BY scope LIMIT $2`, after, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanSealed)
}

// Rows implements seal.Source. The value of a row is its digest.
func (s stands) Rows(ctx context.Context, t seal.Table, key string, span seal.Span, visit func(string, []any)) error {
	t = s.tables[t.Name]
	query, args := fmt.Sprintf("SELECT %s, %s FROM %s r WHERE true", s.scope(&t, "r"), s.digest(&t, "r"), t.Name), []any(nil)
	if span.After != nil {
		args = append(args, *span.After)
		query += fmt.Sprintf(" AND r.%s > $%d", key, len(args))
	}
	if span.UpTo != nil && key != "" {
		args = append(args, *span.UpTo)
		query += fmt.Sprintf(" AND r.%s <= $%d", key, len(args))
	}
	rows, err := s.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	var scope, digest string
	_, err = pgx.ForEachRow(rows, []any{&scope, &digest}, func() error {
		visit(scope, []any{digest})
		return nil
	})
	return err
}
