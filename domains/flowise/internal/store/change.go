package store

import (
	"context"
	"fmt"
	"time"
)

const listChanges = `
SELECT chatflow_id, number, label, name, kind, sha256, reason, run_id, created_at FROM flowise_version
WHERE instance = $1 AND created_at >= $2 AND ($3 = '' OR chatflow_id = $3) ORDER BY created_at DESC, number DESC LIMIT $4`

// Changes returns the versions of all flows of an instance, or of one, that were created since a
// time, newest first.
func (s *Store) Changes(ctx context.Context, instance, chatflowID string, since time.Time, limit int) ([]Version, error) {
	rows, err := s.db.QueryContext(ctx, listChanges, instance, since.UnixNano(), chatflowID, limit)
	if err != nil {
		return nil, fmt.Errorf("list the changes of %s: %w", instance, err)
	}
	out, err := versionsIn(rows, instance)
	if err != nil {
		return nil, fmt.Errorf("list the changes of %s: %w", instance, err)
	}
	return out, nil
}

const expected = `
SELECT COUNT(*) FROM flowise_operation
WHERE instance = $1 AND chatflow_id = $2 AND (after_sha256 = $3 OR before_sha256 = $3) AND expires_at > $4`

// Expected reports whether a stored operation of this domain has the graph as its state before or
// after.
func (s *Store) Expected(ctx context.Context, instance, chatflowID, sha256 string) (bool, error) {
	var n int
	if err := s.db.QueryRowContext(ctx, expected, instance, chatflowID, sha256, s.cfg.Now().UnixNano()).Scan(&n); err != nil {
		return false, fmt.Errorf("look for writes of %s: %w", chatflowID, err)
	}
	return n > 0, nil
}
