package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const putSnapshot = `
INSERT INTO flowise_snapshot (instance, kind, body, refreshed_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (instance, kind) DO UPDATE SET body = excluded.body, refreshed_at = excluded.refreshed_at`

// PutSnapshot stores an instance's data of one kind: nodes, templates or credentials.
func (s *Store) PutSnapshot(ctx context.Context, instance, kind string, body []byte) error {
	if _, err := s.db.ExecContext(ctx, putSnapshot, instance, kind, body, s.cfg.Now().UnixNano()); err != nil {
		return fmt.Errorf("keep the %s of %s: %w", kind, instance, err)
	}
	return nil
}

const getSnapshot = `SELECT body, refreshed_at FROM flowise_snapshot WHERE instance = $1 AND kind = $2`

// Snapshot returns the stored data and its time, or nil.
func (s *Store) Snapshot(ctx context.Context, instance, kind string) ([]byte, time.Time, error) {
	var body []byte
	var refreshed int64
	err := s.db.QueryRowContext(ctx, getSnapshot, instance, kind).Scan(&body, &refreshed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read the %s of %s: %w", kind, instance, err)
	}
	return body, at(refreshed), nil
}

const snapshotTime = `SELECT refreshed_at FROM flowise_snapshot WHERE instance = $1 AND kind = $2`

// SnapshotTime returns the time of the stored data without reading it, or the zero time.
func (s *Store) SnapshotTime(ctx context.Context, instance, kind string) (time.Time, error) {
	var refreshed int64
	err := s.db.QueryRowContext(ctx, snapshotTime, instance, kind).Scan(&refreshed)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, fmt.Errorf("look for the %s of %s: %w", kind, instance, err)
	}
	return at(refreshed), nil
}

// Repair is one check of a node definition with its result.
type Repair struct{ Instance, RunID, Node, Action, Reason string }

const addRepair = `INSERT INTO flowise_repair (instance, run_id, node, action, reason, at) VALUES ($1, $2, $3, $4, $5, $6)`

const countRepairs = `SELECT COUNT(*) FROM flowise_repair WHERE instance = $1 AND run_id = $2`

// AddRepair records a repair.
func (s *Store) AddRepair(ctx context.Context, r Repair) error {
	if _, err := s.db.ExecContext(ctx, addRepair, r.Instance, r.RunID, r.Node, r.Action, r.Reason, s.cfg.Now().UnixNano()); err != nil {
		return fmt.Errorf("note the repair of %s: %w", r.Node, err)
	}
	return nil
}

// Repairs returns the number of repairs in a run.
func (s *Store) Repairs(ctx context.Context, instance, runID string) (int, error) {
	var n int
	if err := s.db.QueryRowContext(ctx, countRepairs, instance, runID).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the repairs of %s: %w", runID, err)
	}
	return n, nil
}
