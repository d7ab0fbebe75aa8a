// Package sqlitestore keeps the idempotency keys of a domain in a SQLite file,
// so that a key outlives the process. Several processes on one machine may
// share the file. It needs no cgo; only domains that import it link SQLite.
package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"modernc.org/sqlite" // the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/keystore"
)

// Store is a domainkit.Store in a file.
type Store struct {
	*keystore.Store

	db      *sql.DB
	present *presence
}

var _ domainkit.Store = (*Store)(nil)

// Times are nanoseconds since 1970, so that they compare as they are.
const createTable = `
CREATE TABLE IF NOT EXISTS idempotency_key (
	scope       TEXT NOT NULL,
	key         TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	state       TEXT NOT NULL,
	token       TEXT NOT NULL,
	operation   TEXT NOT NULL,
	lease_until INTEGER NOT NULL,
	expires_at  INTEGER NOT NULL,
	result      BLOB,
	PRIMARY KEY (scope, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idempotency_key_expiry ON idempotency_key (expires_at);
`

// Open opens the file, and makes it if there is none. Close it when the domain
// has stopped.
func Open(ctx context.Context, path string) (*Store, error) {
	db, err := OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, createTable); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	present, err := enter(path, func() error { return orphan(ctx, db) })
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Store{keystore.New(database{db}), db, present}, nil
}

// patience is how long a file is waited for that others open or write.
const patience = 5 * time.Second

// OpenFile opens a SQLite file, or makes it, as domains keep what they must not lose: a
// commit is on the disk when it returns, a transaction locks all of the file from its
// beginning on, and there is one connection. Other processes may have the file open. An
// empty path is a memory of its own.
func OpenFile(ctx context.Context, path string) (*sql.DB, error) {
	options := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)",
	}, "_txlock": {"immediate"}}
	source := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + options.Encode()
	if path == "" {
		source = ":memory:"
	}
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	// One writer at a time is all that SQLite can do; a queue in the process is
	// fairer than a race for the file lock.
	db.SetMaxOpenConns(1)
	if err := reach(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return db, nil
}

// reach connects. SQLite waits for nobody while it turns a file to WAL: of two processes
// that open a new file at once one is told that it is busy.
func reach(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := db.PingContext(ctx)
		if fault := (*sqlite.Error)(nil); err == nil || !errors.As(err, &fault) || fault.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// orphan lets go of the executions of processes that have died, so that a repeat
// need not wait for their leases: it finds out the outcome of them at once.
func orphan(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `UPDATE idempotency_key SET state = ? WHERE state = ?`, domainkit.KeyDoubtful, domainkit.KeyRunning); err != nil {
		return fmt.Errorf("let go of executions that died: %w", err)
	}
	return nil
}

// OpenOptional is Open, except that without a path there is no store: a service
// then keeps its keys in memory. The closer is there either way.
func OpenOptional(ctx context.Context, path string) (domainkit.Store, func() error, error) {
	if path == "" {
		return nil, func() error { return nil }, nil
	}
	store, err := Open(ctx, path)
	if err != nil {
		return nil, nil, fmt.Errorf("idempotency keys: %w", err)
	}
	return store, store.Close, nil
}

// Close closes the file.
func (s *Store) Close() error { return errors.Join(s.db.Close(), s.present.leave()) }

// Ping reports whether the file can be read; it fits a health check.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	if err := s.db.QueryRowContext(ctx, "SELECT 1 FROM sqlite_master LIMIT 1").Scan(&one); err != nil {
		return fmt.Errorf("read the store of keys: %w", err)
	}
	return nil
}

// database implements keystore.Database.
type database struct{ db *sql.DB }

func (d database) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	done, err := d.db.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

func (d database) Row(ctx context.Context, into []any, text string, args ...any) (bool, error) {
	err := d.db.QueryRowContext(ctx, text, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
