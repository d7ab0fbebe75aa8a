// Package store keeps what this domain must remember beyond a process, in one
// SQLite file: which bytes passed validation in which run, every version of a
// flow that was seen, what writes were about to do, patterns, and definitions
// of nodes that are newer than the shipped ones.
//
// It keeps no secrets and no idempotency keys; those have a store of their own.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Config says where the store is and how long things are kept.
type Config struct {
	// Path is the file; "" keeps everything in memory.
	Path string
	// GuardTTL is how long a validation counts [8 days: a gate may wait 7].
	GuardTTL time.Duration
	// OperationTTL is how long it is known what a write was about to do [30 days].
	OperationTTL time.Duration
	// KeepVersions is how many versions of a flow are kept [200]; labelled ones
	// are kept beyond it.
	KeepVersions int
	Now          func() time.Time
}

// Store is one file. It is safe for concurrent use, also by several processes.
type Store struct {
	db  *sql.DB
	cfg Config
}

// Times are nanoseconds since 1970, so that they compare as they are.
const schema = `
CREATE TABLE IF NOT EXISTS guard (
	run_id TEXT NOT NULL, sha256 TEXT NOT NULL, expires_at INTEGER NOT NULL, used_by TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (run_id, sha256)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS guard_expiry ON guard (expires_at);
CREATE TABLE IF NOT EXISTS body (sha256 TEXT PRIMARY KEY, flow_data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS version (
	instance TEXT NOT NULL, chatflow_id TEXT NOT NULL, number INTEGER NOT NULL, label TEXT NOT NULL, labelled INTEGER NOT NULL,
	name TEXT NOT NULL, kind TEXT NOT NULL, sha256 TEXT NOT NULL, reason TEXT NOT NULL, run_id TEXT NOT NULL, created_at INTEGER NOT NULL,
	PRIMARY KEY (instance, chatflow_id, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS version_body ON version (sha256);
CREATE TABLE IF NOT EXISTS operation (
	instance TEXT NOT NULL, capability TEXT NOT NULL, key TEXT NOT NULL, chatflow_id TEXT NOT NULL,
	before_sha256 TEXT NOT NULL, after_sha256 TEXT NOT NULL, before_name TEXT NOT NULL, after_name TEXT NOT NULL,
	previous_version INTEGER NOT NULL, expires_at INTEGER NOT NULL,
	PRIMARY KEY (instance, capability, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS operation_expiry ON operation (expires_at);
CREATE TABLE IF NOT EXISTS pattern (
	id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, description TEXT NOT NULL, category TEXT NOT NULL, kind TEXT NOT NULL,
	node_types TEXT NOT NULL, fingerprint TEXT NOT NULL, flow_data TEXT NOT NULL, sha256 TEXT NOT NULL, saved_by TEXT NOT NULL UNIQUE,
	uses INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, last_used_at INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS snapshot (
	instance TEXT NOT NULL, kind TEXT NOT NULL, body BLOB NOT NULL, refreshed_at INTEGER NOT NULL,
	PRIMARY KEY (instance, kind)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS repair (
	instance TEXT NOT NULL, run_id TEXT NOT NULL, node TEXT NOT NULL, action TEXT NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS repair_run ON repair (run_id);
`

// Open opens the file, and makes it if there is none. Close it when the domain
// has stopped.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg.GuardTTL = cmp.Or(cfg.GuardTTL, 8*24*time.Hour)
	cfg.OperationTTL = cmp.Or(cfg.OperationTTL, 30*24*time.Hour)
	cfg.KeepVersions = cmp.Or(cfg.KeepVersions, 200)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	options := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)"}, "_txlock": {"immediate"}}
	source := "file:" + (&url.URL{Path: cfg.Path}).EscapedPath() + "?" + options.Encode()
	if cfg.Path == "" {
		source = ":memory:"
	}
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", cfg.Path, err)
	}
	// One connection: SQLite has one writer, and a memory is one connection's own.
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", cfg.Path, err), db.Close())
	}
	return &Store{db: db, cfg: cfg}, nil
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// Durable tells whether the store outlives the process.
func (s *Store) Durable() bool { return s.cfg.Path != "" }

// Ping tells whether the file can be read; it fits a health check.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	if err := s.db.QueryRowContext(ctx, "SELECT 1 FROM sqlite_master LIMIT 1").Scan(&one); err != nil {
		return fmt.Errorf("read the store: %w", err)
	}
	return nil
}

// inTx runs fn in one transaction.
func (s *Store) inTx(ctx context.Context, fn func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func at(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds).UTC()
}
