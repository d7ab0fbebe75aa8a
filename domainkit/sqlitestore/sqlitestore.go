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
)

// Store is a domainkit.Store in a file.
type Store struct {
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
	return &Store{db, present}, nil
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
// need not wait for their leases: it finds out what became of them at once.
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

// Ping tells whether the file can be read; it fits a health check.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	if err := s.db.QueryRowContext(ctx, "SELECT 1 FROM sqlite_master LIMIT 1").Scan(&one); err != nil {
		return fmt.Errorf("read the store of keys: %w", err)
	}
	return nil
}

const claimRecord = `
INSERT INTO idempotency_key (scope, key, fingerprint, state, token, operation, lease_until, expires_at, result)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope, key) DO UPDATE SET
	fingerprint = excluded.fingerprint, state = excluded.state, token = excluded.token,
	operation = excluded.operation, lease_until = excluded.lease_until,
	expires_at = excluded.expires_at, result = excluded.result
WHERE idempotency_key.expires_at <= ?`

// Claim implements domainkit.Store.
func (s *Store) Claim(ctx context.Context, r domainkit.Record, now time.Time) (domainkit.Record, bool, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return domainkit.Record{}, false, fmt.Errorf("claim %s: %w", r.ID.Key, err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	done, err := tx.ExecContext(ctx, claimRecord, r.ID.Scope, r.ID.Key, r.Fingerprint, r.State, r.Token,
		r.Operation, r.LeaseUntil.UnixNano(), r.ExpiresAt.UnixNano(), r.Result, now.UnixNano())
	if err != nil {
		return domainkit.Record{}, false, fmt.Errorf("claim %s: %w", r.ID.Key, err)
	}
	claimed, err := done.RowsAffected()
	if err != nil {
		return domainkit.Record{}, false, fmt.Errorf("claim %s: %w", r.ID.Key, err)
	}
	standing := r
	if claimed == 0 {
		if standing, err = read(tx.QueryRowContext(ctx, findRecord, r.ID.Scope, r.ID.Key, now.UnixNano())); err != nil {
			return domainkit.Record{}, false, fmt.Errorf("claim %s: %w", r.ID.Key, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return domainkit.Record{}, false, fmt.Errorf("claim %s: %w", r.ID.Key, err)
	}
	return standing, claimed == 1, nil
}

const findRecord = `
SELECT scope, key, fingerprint, state, token, operation, lease_until, expires_at, result
FROM idempotency_key WHERE scope = ? AND key = ? AND expires_at > ?`

// Find implements domainkit.Store.
func (s *Store) Find(ctx context.Context, id domainkit.KeyID, now time.Time) (domainkit.Record, bool, error) {
	r, err := read(s.db.QueryRowContext(ctx, findRecord, id.Scope, id.Key, now.UnixNano()))
	if errors.Is(err, sql.ErrNoRows) {
		return domainkit.Record{}, false, nil
	}
	if err != nil {
		return domainkit.Record{}, false, fmt.Errorf("find %s: %w", id.Key, err)
	}
	return r, true, nil
}

func read(row *sql.Row) (domainkit.Record, error) {
	var r domainkit.Record
	var lease, expires int64
	err := row.Scan(&r.ID.Scope, &r.ID.Key, &r.Fingerprint, &r.State, &r.Token, &r.Operation, &lease, &expires, &r.Result)
	r.LeaseUntil, r.ExpiresAt = time.Unix(0, lease).UTC(), time.Unix(0, expires).UTC()
	return r, err
}

const stealRecord = `
UPDATE idempotency_key
SET fingerprint = ?, state = ?, token = ?, operation = ?, lease_until = ?, expires_at = ?, result = NULL
WHERE scope = ? AND key = ? AND token = ?
	AND (state = 'doubtful' OR state = 'running' AND lease_until <= ?)`

// Steal implements domainkit.Store.
func (s *Store) Steal(ctx context.Context, r domainkit.Record, from string, now time.Time) (bool, error) {
	done, err := s.db.ExecContext(ctx, stealRecord, r.Fingerprint, r.State, r.Token, r.Operation,
		r.LeaseUntil.UnixNano(), r.ExpiresAt.UnixNano(), r.ID.Scope, r.ID.Key, from, now.UnixNano())
	if err != nil {
		return false, fmt.Errorf("steal %s: %w", r.ID.Key, err)
	}
	stolen, err := done.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("steal %s: %w", r.ID.Key, err)
	}
	return stolen == 1, nil
}

const settleRecord = `
UPDATE idempotency_key SET state = ?, result = ?, expires_at = ?
WHERE scope = ? AND key = ? AND token = ? AND state = 'running'`

const releaseRecord = `
DELETE FROM idempotency_key WHERE scope = ? AND key = ? AND token = ? AND state = 'running'`

// Settle implements domainkit.Store.
func (s *Store) Settle(ctx context.Context, id domainkit.KeyID, token string, end domainkit.Settlement) error {
	var done sql.Result
	var err error
	if end.Released {
		done, err = s.db.ExecContext(ctx, releaseRecord, id.Scope, id.Key, token)
	} else {
		done, err = s.db.ExecContext(ctx, settleRecord, end.State, end.Result, end.ExpiresAt.UnixNano(), id.Scope, id.Key, token)
	}
	if err != nil {
		return fmt.Errorf("settle %s: %w", id.Key, err)
	}
	settled, err := done.RowsAffected()
	if err != nil {
		return fmt.Errorf("settle %s: %w", id.Key, err)
	}
	if settled == 0 {
		return fmt.Errorf("settle %s: %w", id.Key, domainkit.ErrLeaseLost)
	}
	return nil
}

const sweepRecords = `DELETE FROM idempotency_key WHERE expires_at <= ?`

// Sweep implements domainkit.Store.
func (s *Store) Sweep(ctx context.Context, now time.Time) (int, error) {
	done, err := s.db.ExecContext(ctx, sweepRecords, now.UnixNano())
	if err != nil {
		return 0, fmt.Errorf("sweep: %w", err)
	}
	removed, err := done.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("sweep: %w", err)
	}
	return int(removed), nil
}
