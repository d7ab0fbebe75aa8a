package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Operation describes a write. It is stored before the write is sent, so that the outcome can be
// determined from the flow.
type Operation struct {
	Instance, Capability, Key string
	ChatflowID                string
	// BeforeSHA256 and AfterSHA256 are the hashes of the graph before and after; "" means no flow.
	BeforeSHA256, AfterSHA256 string
	BeforeName, AfterName     string
	// PreviousVersion is the version that undoes the write, or 0.
	PreviousVersion int
}

const beginOperation = `
INSERT INTO flowise_operation (instance, capability, key, chatflow_id, before_sha256, after_sha256, before_name, after_name, previous_version, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (instance, capability, key) DO UPDATE SET
	chatflow_id = excluded.chatflow_id, before_sha256 = excluded.before_sha256, after_sha256 = excluded.after_sha256,
	before_name = excluded.before_name, after_name = excluded.after_name,
	previous_version = excluded.previous_version, expires_at = excluded.expires_at`

const sweepOperations = `DELETE FROM flowise_operation WHERE expires_at <= $1`

// Begin stores an operation and replaces one with the same key.
func (s *Store) Begin(ctx context.Context, op Operation) error {
	now := s.cfg.Now()
	if _, err := s.db.ExecContext(ctx, sweepOperations, now.UnixNano()); err != nil {
		return fmt.Errorf("begin %s: %w", op.Key, err)
	}
	if _, err := s.db.ExecContext(ctx, beginOperation, op.Instance, op.Capability, op.Key, op.ChatflowID, op.BeforeSHA256, op.AfterSHA256,
		op.BeforeName, op.AfterName, op.PreviousVersion, now.Add(s.cfg.OperationTTL).UnixNano()); err != nil {
		return fmt.Errorf("begin %s: %w", op.Key, err)
	}
	return nil
}

const forgetOperation = `DELETE FROM flowise_operation WHERE instance = $1 AND capability = $2 AND key = $3`

// Forget removes an operation that certainly had no effect, as if it had not begun.
func (s *Store) Forget(ctx context.Context, instance, capability, key string) error {
	if _, err := s.db.ExecContext(ctx, forgetOperation, instance, capability, key); err != nil {
		return fmt.Errorf("forget %s: %w", key, err)
	}
	return nil
}

const findOperation = `
SELECT instance, chatflow_id, before_sha256, after_sha256, before_name, after_name, previous_version
FROM flowise_operation WHERE capability = $1 AND key = $2 AND expires_at > $3`

// Operation returns the operation of a key, on any server; a key is used once.
func (s *Store) Operation(ctx context.Context, capability, key string) (Operation, bool, error) {
	op := Operation{Capability: capability, Key: key}
	err := s.db.QueryRowContext(ctx, findOperation, capability, key, s.cfg.Now().UnixNano()).Scan(
		&op.Instance, &op.ChatflowID, &op.BeforeSHA256, &op.AfterSHA256, &op.BeforeName, &op.AfterName, &op.PreviousVersion)
	if errors.Is(err, sql.ErrNoRows) {
		return Operation{}, false, nil
	}
	if err != nil {
		return Operation{}, false, fmt.Errorf("find %s: %w", key, err)
	}
	return op, true, nil
}
