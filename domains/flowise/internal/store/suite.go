package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

const putSuite = `
INSERT INTO flowise_suite (instance, chatflow_id, body, updated_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (instance, chatflow_id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at`

const getSuite = `SELECT body FROM flowise_suite WHERE instance = $1 AND chatflow_id = $2`

// Suite returns the tests stored for a flow, or nil.
func (s *Store) Suite(ctx context.Context, instance, chatflowID string) ([]byte, error) {
	return readSuite(s.db.QueryRowContext(ctx, getSuite, instance, chatflowID), chatflowID)
}

func readSuite(r row, chatflowID string) ([]byte, error) {
	var body []byte
	if err := r.Scan(&body); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read the tests of %s: %w", chatflowID, err)
	}
	return body, nil
}

// ChangeSuite changes the tests of a flow in one transaction. change gets the stored tests, or nil,
// and returns the new ones.
func (s *Store) ChangeSuite(ctx context.Context, instance, chatflowID string, change func(body []byte) ([]byte, error)) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		// Without the lock, two concurrent transactions that add a test each could lose one.
		if _, err := tx.ExecContext(ctx, s.lockVersions); err != nil {
			return err
		}
		before, err := readSuite(tx.QueryRowContext(ctx, getSuite, instance, chatflowID), chatflowID)
		if err != nil {
			return err
		}
		after, err := change(before)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, putSuite, instance, chatflowID, after, s.cfg.Now().UnixNano()); err != nil {
			return fmt.Errorf("keep the tests of %s: %w", chatflowID, err)
		}
		return nil
	})
}
