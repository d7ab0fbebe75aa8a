// Package pgstore keeps the idempotency keys of a domain in PostgreSQL, so that
// they outlive the process and several processes can share them. It is linked
// only by those who want it.
package pgstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/manifold-run/manifold/domainkit"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is a domainkit.Store in a database.
type Store struct{ pool *pgxpool.Pool }

var _ domainkit.Store = (*Store)(nil)

// IsURL tells whether a text is the address of a database rather than a file.
func IsURL(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// Open connects to the database and makes or updates the tables. The tables
// stand in the first schema of the address's search_path. Close it when the
// domain has stopped.
func Open(ctx context.Context, address string) (*Store, error) {
	pool, err := Connect(ctx, address, "idempotency keys", migrations)
	if err != nil {
		return nil, err
	}
	return &Store{pool: pool}, nil
}

// Connect connects to a database for tables of a domain's own, and brings these
// to the version of this release. The steps stand in the folder migrations.
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

// Close gives the connections back.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// Ping tells whether the table can be read; it fits a health check.
func (s *Store) Ping(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, `SELECT 1 FROM idempotency_key LIMIT 1`); err != nil {
		return fmt.Errorf("read the store of keys: %w", err)
	}
	return nil
}

const claimRecord = `
INSERT INTO idempotency_key (scope, key, fingerprint, state, token, operation, lease_until, expires_at, result)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (scope, key) DO UPDATE SET
	fingerprint = excluded.fingerprint, state = excluded.state, token = excluded.token,
	operation = excluded.operation, lease_until = excluded.lease_until,
	expires_at = excluded.expires_at, result = excluded.result
WHERE idempotency_key.expires_at <= $10`

// Claim implements domainkit.Store. A record that stands may be released
// between the two statements; then the key is free, and is claimed.
func (s *Store) Claim(ctx context.Context, r domainkit.Record, now time.Time) (domainkit.Record, bool, error) {
	for {
		done, err := s.pool.Exec(ctx, claimRecord, r.ID.Scope, r.ID.Key, r.Fingerprint, r.State, r.Token,
			r.Operation, r.LeaseUntil.UnixNano(), r.ExpiresAt.UnixNano(), r.Result, now.UnixNano())
		if err != nil {
			return domainkit.Record{}, false, fmt.Errorf("claim %s: %w", r.ID.Key, err)
		}
		if done.RowsAffected() == 1 {
			return r, true, nil
		}
		standing, found, err := s.Find(ctx, r.ID, now)
		if err != nil || found {
			return standing, false, err
		}
	}
}

const findRecord = `
SELECT scope, key, fingerprint, state, token, operation, lease_until, expires_at, result
FROM idempotency_key WHERE scope = $1 AND key = $2 AND expires_at > $3`

// Find implements domainkit.Store.
func (s *Store) Find(ctx context.Context, id domainkit.KeyID, now time.Time) (domainkit.Record, bool, error) {
	var r domainkit.Record
	var lease, expires int64
	err := s.pool.QueryRow(ctx, findRecord, id.Scope, id.Key, now.UnixNano()).Scan(
		&r.ID.Scope, &r.ID.Key, &r.Fingerprint, &r.State, &r.Token, &r.Operation, &lease, &expires, &r.Result)
	if errors.Is(err, pgx.ErrNoRows) {
		return domainkit.Record{}, false, nil
	}
	if err != nil {
		return domainkit.Record{}, false, fmt.Errorf("find %s: %w", id.Key, err)
	}
	r.LeaseUntil, r.ExpiresAt = time.Unix(0, lease).UTC(), time.Unix(0, expires).UTC()
	return r, true, nil
}

const stealRecord = `
UPDATE idempotency_key
SET fingerprint = $1, state = $2, token = $3, operation = $4, lease_until = $5, expires_at = $6, result = NULL
WHERE scope = $7 AND key = $8 AND token = $9
	AND (state = 'doubtful' OR state = 'running' AND lease_until <= $10)`

// Steal implements domainkit.Store.
func (s *Store) Steal(ctx context.Context, r domainkit.Record, from string, now time.Time) (bool, error) {
	done, err := s.pool.Exec(ctx, stealRecord, r.Fingerprint, r.State, r.Token, r.Operation,
		r.LeaseUntil.UnixNano(), r.ExpiresAt.UnixNano(), r.ID.Scope, r.ID.Key, from, now.UnixNano())
	if err != nil {
		return false, fmt.Errorf("steal %s: %w", r.ID.Key, err)
	}
	return done.RowsAffected() == 1, nil
}

const settleRecord = `
UPDATE idempotency_key SET state = $1, result = $2, expires_at = $3
WHERE scope = $4 AND key = $5 AND token = $6 AND state = 'running'`

const releaseRecord = `
DELETE FROM idempotency_key WHERE scope = $1 AND key = $2 AND token = $3 AND state = 'running'`

// Settle implements domainkit.Store.
func (s *Store) Settle(ctx context.Context, id domainkit.KeyID, token string, end domainkit.Settlement) error {
	statement, args := settleRecord, []any{end.State, end.Result, end.ExpiresAt.UnixNano(), id.Scope, id.Key, token}
	if end.Released {
		statement, args = releaseRecord, []any{id.Scope, id.Key, token}
	}
	done, err := s.pool.Exec(ctx, statement, args...)
	if err != nil {
		return fmt.Errorf("settle %s: %w", id.Key, err)
	}
	if done.RowsAffected() == 0 {
		return fmt.Errorf("settle %s: %w", id.Key, domainkit.ErrLeaseLost)
	}
	return nil
}

const sweepRecords = `DELETE FROM idempotency_key WHERE expires_at <= $1`

// Sweep implements domainkit.Store.
func (s *Store) Sweep(ctx context.Context, now time.Time) (int, error) {
	done, err := s.pool.Exec(ctx, sweepRecords, now.UnixNano())
	if err != nil {
		return 0, fmt.Errorf("sweep: %w", err)
	}
	return int(done.RowsAffected()), nil
}
