// Package store is the domain's database, in SQLite or PostgreSQL: which bytes were validated in
// which run, every version of a flow that was seen, the operations of writes, patterns, and node
// definitions newer than the built-in ones.
//
// Both databases run the same statements, except for those in sqlite.go and postgres.go. The
// database has no secrets and no idempotency keys; the keys have a store of their own.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/domainkit/pgstore"
)

// Config configures the database and its retention.
type Config struct {
	// Source is a file, or the URL of a PostgreSQL database (postgres://…); "" keeps everything in
	// memory.
	Source string
	// GuardTTL is how long a validation is valid [8 days: a gate may wait 7].
	GuardTTL time.Duration
	// OperationTTL is how long operations are kept [30 days].
	OperationTTL time.Duration
	// KeepVersions is how many versions of a flow are kept [200]; labelled ones are kept in
	// addition.
	KeepVersions int
	Now          func() time.Time
}

// Store is an open database. It is safe for concurrent use, also by several processes.
type Store struct {
	db  *sql.DB
	cfg Config
	// lockVersions is a statement that locks the choice of the next version number until the end of
	// the transaction.
	lockVersions string
	closers      []func() error
}

// Open opens the database, creates the file if needed, and creates or updates the tables. Close it
// after the domain has stopped.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg.GuardTTL = cmp.Or(cfg.GuardTTL, 8*24*time.Hour)
	cfg.OperationTTL = cmp.Or(cfg.OperationTTL, 30*24*time.Hour)
	cfg.KeepVersions = cmp.Or(cfg.KeepVersions, 200)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Store{cfg: cfg}
	open := s.openSQLite
	if pgstore.IsURL(cfg.Source) {
		open = s.openPostgres
	}
	if err := open(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes the database.
func (s *Store) Close() error {
	var errs []error
	for _, closer := range s.closers {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// Durable reports whether the data survives a restart.
func (s *Store) Durable() bool { return s.cfg.Source != "" }

// Ping checks that the tables can be read, for a health check.
func (s *Store) Ping(ctx context.Context) error {
	if _, err := s.Repairs(ctx, "", ""); err != nil {
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
	defer func() { _ = tx.Rollback() }() // no effect after Commit
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
