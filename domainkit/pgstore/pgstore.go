// Package pgstore stores the idempotency keys of a domain in PostgreSQL. They survive a restart,
// and several processes can share them.
package pgstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/keystore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is a domainkit.Store in PostgreSQL.
type Store struct {
	*keystore.Store

	pool *pgxpool.Pool
}

var _ domainkit.Store = (*Store)(nil)

// IsURL reports whether an address is the URL of a PostgreSQL database and not a file.
func IsURL(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// Open connects to the database and creates or updates the table, in the first schema of the
// address's search_path. Close the store after the domain has stopped.
func Open(ctx context.Context, address string) (*Store, error) {
	pool, err := Connect(ctx, address, "idempotency keys", migrations)
	if err != nil {
		return nil, err
	}
	return &Store{keystore.New(database{pool}), pool}, nil
}

// Connect connects to a database for a domain's own tables and migrates them, see Migrate. The
// steps are in the folder "migrations" of steps.
func Connect(ctx context.Context, address, component string, steps fs.FS) (*pgxpool.Pool, error) {
	folder, err := fs.Sub(steps, "migrations")
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.New(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("open the database for %s: %w", component, err)
	}
	if err := Migrate(ctx, pool, component, folder); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// Close closes the connections.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// Ping checks that the table can be read, for a health check.
func (s *Store) Ping(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, `SELECT 1 FROM idempotency_key LIMIT 1`); err != nil {
		return fmt.Errorf("read the store of keys: %w", err)
	}
	return nil
}

// database implements keystore.Database.
type database struct{ pool *pgxpool.Pool }

func (d database) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	done, err := d.pool.Exec(ctx, text, args...)
	return done.RowsAffected(), err
}

func (d database) Row(ctx context.Context, into []any, text string, args ...any) (bool, error) {
	err := d.pool.QueryRow(ctx, text, args...).Scan(into...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
