// Package store keeps what this domain must remember beyond a process, in a
// SQLite file or in PostgreSQL: which bytes passed validation in which run,
// every version of a flow that was seen, what writes were about to do,
// patterns, and definitions of nodes that are newer than the shipped ones.
//
// Both databases run the same statements, save for those that stand in
// sqlite.go and postgres.go. It keeps no secrets and no idempotency keys; those
// have a store of their own.
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

// Config specifies where the store is and how long things are kept.
type Config struct {
	// Source is a file, or the address of a PostgreSQL database
	// (postgres://…); "" keeps everything in memory.
	Source string
	// GuardTTL is how long a validation counts [8 days: a gate may wait 7].
	GuardTTL time.Duration
	// OperationTTL is how long it is known what a write was about to do [30 days].
	OperationTTL time.Duration
	// KeepVersions is how many versions of a flow are kept [200]; labelled ones
	// are kept beyond it.
	KeepVersions int
	Now          func() time.Time
}

// Store is one database. It is safe for concurrent use, also by several
// processes.
type Store struct {
	db  *sql.DB
	cfg Config
	// lockVersions lets one transaction at a time look for the next number of
	// a version, until it ends.
	lockVersions string
	closers      []func() error
}

// Open opens the database, makes the file if there is none, and makes or
// updates the tables. Close it when the domain has stopped.
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

// Close gives the database back.
func (s *Store) Close() error {
	var errs []error
	for _, closer := range s.closers {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// Durable reports whether the store outlives the process.
func (s *Store) Durable() bool { return s.cfg.Source != "" }

// Ping reports whether the tables can be read; it fits a health check.
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
