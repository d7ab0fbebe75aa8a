// Package keystore implements domainkit.Store with the SQL statements that SQLite and PostgreSQL
// share. It does not open a database.
package keystore

import (
	"context"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/domainkit"
)

// Database executes statements with placeholders "$1", "$2", …; each statement commits on its own.
type Database interface {
	// Exec executes a statement and returns the number of affected rows.
	Exec(ctx context.Context, text string, args ...any) (int64, error)
	// Row scans one row and reports whether there is one.
	Row(ctx context.Context, into []any, text string, args ...any) (bool, error)
}

// Store is a domainkit.Store in a database with the table idempotency_key. Times are stored as
// nanoseconds since 1970, so that they can be compared as integers.
type Store struct{ db Database }

var _ domainkit.Store = (*Store)(nil)

// New returns a store that uses db.
func New(db Database) *Store { return &Store{db} }

const claimRecord = `
INSERT INTO idempotency_key (scope, key, fingerprint, state, token, operation, lease_until, expires_at, result)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (scope, key) DO UPDATE SET
	fingerprint = excluded.fingerprint, state = excluded.state, token = excluded.token,
	operation = excluded.operation, lease_until = excluded.lease_until,
	expires_at = excluded.expires_at, result = excluded.result
WHERE idempotency_key.expires_at <= $10`

// Claim implements domainkit.Store. If the existing record is released between the two statements,
// the claim is tried again.
func (s *Store) Claim(ctx context.Context, r domainkit.Record, now time.Time) (domainkit.Record, bool, error) {
	for {
		n, err := s.db.Exec(ctx, claimRecord, r.ID.Scope, r.ID.Key, r.Fingerprint, r.State, r.Token,
			r.Operation, r.LeaseUntil.UnixNano(), r.ExpiresAt.UnixNano(), r.Result, now.UnixNano())
		if err != nil {
			return domainkit.Record{}, false, fmt.Errorf("claim %s: %w", r.ID.Key, err)
		}
		if n == 1 {
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
	into := []any{&r.ID.Scope, &r.ID.Key, &r.Fingerprint, &r.State, &r.Token, &r.Operation, &lease, &expires, &r.Result}
	found, err := s.db.Row(ctx, into, findRecord, id.Scope, id.Key, now.UnixNano())
	if err != nil {
		return domainkit.Record{}, false, fmt.Errorf("find %s: %w", id.Key, err)
	}
	if !found {
		return domainkit.Record{}, false, nil
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
	n, err := s.db.Exec(ctx, stealRecord, r.Fingerprint, r.State, r.Token, r.Operation,
		r.LeaseUntil.UnixNano(), r.ExpiresAt.UnixNano(), r.ID.Scope, r.ID.Key, from, now.UnixNano())
	if err != nil {
		return false, fmt.Errorf("steal %s: %w", r.ID.Key, err)
	}
	return n == 1, nil
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
	n, err := s.db.Exec(ctx, statement, args...)
	if err == nil && n == 0 {
		err = domainkit.ErrLeaseLost
	}
	if err != nil {
		return fmt.Errorf("settle %s: %w", id.Key, err)
	}
	return nil
}

const sweepRecords = `DELETE FROM idempotency_key WHERE expires_at <= $1`

// Sweep implements domainkit.Store.
func (s *Store) Sweep(ctx context.Context, now time.Time) (int, error) {
	n, err := s.db.Exec(ctx, sweepRecords, now.UnixNano())
	if err != nil {
		return 0, fmt.Errorf("sweep: %w", err)
	}
	return int(n), nil
}
