package attack_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/postgres"
	"github.com/manifold-run/manifold/internal/store/postgres/proof"
	"github.com/manifold-run/manifold/internal/store/seal"
	"github.com/manifold-run/manifold/internal/store/sqlite"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

// copies is a stored database that can be changed, and is itself again afterwards.
type copies interface {
	// change lets somebody change it, and then opens the store that has the keys,
	// whose error is what a start would say.
	change(t *testing.T, do func(*sql.DB) error, keys [][]byte) (stored, error)
	dialect() dialect
}

// stored is an open store.
type stored struct {
	runs   execution.Store
	talk   orchestrator.Sessions
	proofs audit.Proofs
	close  func()
}

// dialect is what is written differently: queries of names, the last two of the
// table named ~, and a literal of bytes.
type dialect struct {
	tables, columns, keys string
	bytes                 func([]byte) string
	harmless              map[string]string
}

// folder is a database in a file.
type folder []byte

func (f folder) change(t *testing.T, do func(*sql.DB) error, keys [][]byte) (stored, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifold.db")
	db := must(t, func() (*sql.DB, error) {
		if err := os.WriteFile(path, f, 0o600); err != nil {
			return nil, err
		}
		return sql.Open("sqlite", path)
	})
	if err := errors.Join(do(db), db.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(context.WithoutCancel(t.Context()), sqlite.Config{Path: path, SealKeys: keys})
	if err != nil {
		return stored{}, err
	}
	return stored{s.Runs, s.Sessions, s.Audit, func() { _ = s.Close() }}, nil
}

func (folder) dialect() dialect {
	return dialect{
		tables:   `SELECT name FROM sqlite_schema WHERE type = 'table'`,
		columns:  `SELECT name FROM pragma_table_info('~')`,
		keys:     `SELECT name FROM pragma_table_info('~') WHERE pk > 0`,
		bytes:    func(b []byte) string { return fmt.Sprintf("x'%x'", b) },
		harmless: seal.Harmless(),
	}
}

// server is a database on PostgreSQL, with a copy of each of its tables in
// another schema.
type server struct{ url, copy string }

// keptCopy keeps what is there; nobody uses the database any more.
func keptCopy(t *testing.T, url, other string) server {
	t.Helper()
	s := server{url, "copy_of_" + strings.ToLower(rand.Text())}
	db := must(t, func() (*sql.DB, error) { return sql.Open("pgx", url) })
	defer db.Close()
	ctx := context.WithoutCancel(t.Context())
	if _, err := db.ExecContext(ctx, "CREATE SCHEMA "+s.copy); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		db := must(t, func() (*sql.DB, error) { return sql.Open("pgx", other) })
		_, err := db.ExecContext(ctx, "DROP SCHEMA "+s.copy+" CASCADE")
		if err = errors.Join(err, db.Close()); err != nil {
			t.Error(err)
		}
	})
	for _, table := range must(t, func() ([]string, error) { return texts(ctx, db, s.dialect().tables) }) {
		if _, err := db.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s.%s AS TABLE %[2]s", s.copy, table)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// restore brings the database back to what was kept.
func (s server) restore(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	db := must(t, func() (*sql.DB, error) { return sql.Open("pgx", s.url) })
	defer db.Close()
	for _, table := range must(t, func() ([]string, error) { return texts(ctx, db, s.dialect().tables) }) {
		for _, statement := range []string{"DELETE FROM %[2]s", "INSERT INTO %[2]s OVERRIDING SYSTEM VALUE SELECT * FROM %[1]s.%[2]s"} {
			if _, err := db.ExecContext(ctx, fmt.Sprintf(statement, s.copy, table)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (s server) change(t *testing.T, do func(*sql.DB) error, keys [][]byte) (stored, error) {
	t.Helper()
	s.restore(t)
	ctx := context.WithoutCancel(t.Context())
	db := must(t, func() (*sql.DB, error) { return sql.Open("pgx", s.url) })
	if err := errors.Join(do(db), db.Close()); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(ctx, postgres.Config{URL: s.url, SealKeys: keys})
	if err != nil {
		return stored{}, err
	}
	return stored{store.Runs, store.Sessions, store.Audit, func() { _ = store.Close() }}, nil
}

// dialect leaves out the tables of the queue: a job in them is a wake-up, and
// nothing is lost or done by one that comes twice, late or never.
func (server) dialect() dialect {
	return dialect{
		tables:  `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_name NOT LIKE 'river%'`,
		columns: `SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '~' ORDER BY ordinal_position`,
		keys: `
SELECT column_name FROM information_schema.key_column_usage k JOIN information_schema.table_constraints c USING (constraint_name, constraint_schema)
WHERE c.constraint_schema = current_schema() AND c.constraint_type = 'PRIMARY KEY' AND c.table_name = '~' ORDER BY ordinal_position`,
		bytes:    func(b []byte) string { return fmt.Sprintf(`'\x%x'::bytea`, b) },
		harmless: proof.Harmless(),
	}
}
