package store

import (
	"context"
	"fmt"
)

// Permission says whether bytes may be written.
type Permission string

// The permissions.
const (
	// Granted: these bytes were validated in this run and not written yet.
	Granted Permission = "granted"
	// NotValidated: nothing was validated in this run.
	NotValidated Permission = "not_validated"
	// OtherBytes: other bytes were validated in this run.
	OtherBytes Permission = "other_bytes"
	// Used: these bytes were written already; a validation allows one write.
	Used Permission = "used"
)

const authorizeBytes = `
INSERT INTO flowise_guard (run_id, sha256, expires_at) VALUES ($1, $2, $3)
ON CONFLICT (run_id, sha256) DO UPDATE SET expires_at = excluded.expires_at, used_by = ''`

const sweepGuard = `DELETE FROM flowise_guard WHERE expires_at <= $1`

// Authorize records that bytes with this hash were validated in a run.
func (s *Store) Authorize(ctx context.Context, runID, sha256 string) error {
	now := s.cfg.Now()
	if _, err := s.db.ExecContext(ctx, sweepGuard, now.UnixNano()); err != nil {
		return fmt.Errorf("authorize %s: %w", sha256, err)
	}
	if _, err := s.db.ExecContext(ctx, authorizeBytes, runID, sha256, now.Add(s.cfg.GuardTTL).UnixNano()); err != nil {
		return fmt.Errorf("authorize %s: %w", sha256, err)
	}
	return nil
}

const consumeBytes = `
UPDATE flowise_guard SET used_by = $1 WHERE run_id = $2 AND sha256 = $3 AND expires_at > $4 AND used_by IN ('', $1)`

const whatStands = `
SELECT COUNT(*), COUNT(CASE WHEN sha256 = $1 THEN 1 END), COUNT(CASE WHEN sha256 = $2 AND used_by = '' THEN 1 END)
FROM flowise_guard WHERE run_id = $3 AND expires_at > $4`

// Consume uses the permission to write these bytes. key is the write's idempotency key; a retry
// with the same key is granted again.
func (s *Store) Consume(ctx context.Context, runID, sha256, key string) (Permission, error) {
	now := s.cfg.Now().UnixNano()
	done, err := s.db.ExecContext(ctx, consumeBytes, key, runID, sha256, now)
	if err != nil {
		return "", fmt.Errorf("consume %s: %w", sha256, err)
	}
	taken, err := done.RowsAffected()
	if err != nil {
		return "", fmt.Errorf("consume %s: %w", sha256, err)
	}
	if taken == 1 {
		return Granted, nil
	}
	return s.Authorized(ctx, runID, sha256)
}

const restoreBytes = `UPDATE flowise_guard SET used_by = '' WHERE run_id = $1 AND sha256 = $2 AND used_by = $3`

// Restore restores a permission after a write that certainly had no effect.
func (s *Store) Restore(ctx context.Context, runID, sha256, key string) error {
	if _, err := s.db.ExecContext(ctx, restoreBytes, runID, sha256, key); err != nil {
		return fmt.Errorf("restore %s: %w", sha256, err)
	}
	return nil
}

// Authorized returns what Consume would return for a new key, without using the permission.
func (s *Store) Authorized(ctx context.Context, runID, sha256 string) (Permission, error) {
	var all, same, free int
	if err := s.db.QueryRowContext(ctx, whatStands, sha256, sha256, runID, s.cfg.Now().UnixNano()).Scan(&all, &same, &free); err != nil {
		return "", fmt.Errorf("look at the guard of %s: %w", sha256, err)
	}
	return permission(all, same, free), nil
}

func permission(all, same, free int) Permission {
	switch {
	case free > 0:
		return Granted
	case same > 0:
		return Used
	case all > 0:
		return OtherBytes
	default:
		return NotValidated
	}
}
