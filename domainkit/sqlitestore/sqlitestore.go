// Package sqlitestore stores the idempotency keys of a domain in a SQLite file. They survive a
// restart, and several processes on one machine can share the file. It needs no cgo; only domains
// that import it link SQLite.
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

// Store is a domainkit.Store in a SQLite file.
type Store struct {
	*keystore.Store

	db      *sql.DB
	present *presence
}

var _ domainkit.Store = (*Store)(nil)

// Times are nanoseconds since 1970, so that they can be compared as integers.
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

// Open opens the file, and creates it if needed. Close the store after the domain has stopped.
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

// patience is how long to wait for a file that is locked by another process.
const patience = 5 * time.Second

// OpenFile opens or creates a SQLite file for data that must not be lost: a commit is on disk when
// it returns, a transaction locks the whole file from its start, and there is one connection. Other
// processes may have the file open. An empty path opens a private in-memory database.
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
	// SQLite allows one writer at a time. A queue in the process is fairer than a race for the file
	// lock.
	db.SetMaxOpenConns(1)
	if err := reach(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return db, nil
}

// reach connects. SQLite does not wait while it switches a file to WAL: if two processes open a new
// file at once, one gets SQLITE_BUSY, so reach retries.
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

// orphan marks the executions of dead processes as doubtful. A retry then resolves their outcome at
// once instead of waiting for their leases.
func orphan(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `UPDATE idempotency_key SET state = ? WHERE state = ?`, domainkit.KeyDoubtful, domainkit.KeyRunning); err != nil {
		return fmt.Errorf("let go of executions that died: %w", err)
	}
	return nil
}

// OpenOptional is like Open, but returns a nil store for an empty path; domainkit then keeps the
// keys in memory. The closer is never nil on success.
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

// Ping checks that the file can be read, for a health check.
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
