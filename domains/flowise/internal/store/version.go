package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Version is one stored state of a flow.
type Version struct {
	Instance, ChatflowID string
	// Number counts from 1 per flow; Label is v1, v2, … or a person's label.
	Number     int
	Label      string
	Name, Kind string
	SHA256     string
	Reason     string
	RunID      string
	CreatedAt  time.Time
}

const lastVersion = `
SELECT number, label, name, kind, sha256, reason, run_id, created_at FROM flowise_version
WHERE instance = $1 AND chatflow_id = $2 ORDER BY number DESC LIMIT 1`

const addBody = `INSERT INTO flowise_body (sha256, flow_data) VALUES ($1, $2) ON CONFLICT DO NOTHING`

const addVersion = `
INSERT INTO flowise_version (instance, chatflow_id, number, label, labelled, name, kind, sha256, reason, run_id, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

const relabel = `UPDATE flowise_version SET label = $1, labelled = TRUE WHERE instance = $2 AND chatflow_id = $3 AND number = $4`

const dropVersions = `
DELETE FROM flowise_version WHERE instance = $1 AND chatflow_id = $2 AND NOT labelled AND number <= $3 RETURNING sha256`

const dropBody = `
DELETE FROM flowise_body WHERE sha256 = $1 AND NOT EXISTS (SELECT 1 FROM flowise_version WHERE sha256 = $1)`

// Record stores a state of a flow as its newest version, unless it equals the newest one. v.Label,
// if set, is its label; v.CreatedAt, if set, is its time.
func (s *Store) Record(ctx context.Context, v Version, flowData string) (Version, error) {
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, s.lockVersions); err != nil {
			return err
		}
		last, err := scanVersion(tx.QueryRowContext(ctx, lastVersion, v.Instance, v.ChatflowID), v)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err == nil && last.SHA256 == v.SHA256 && last.Name == v.Name {
			return s.keepLast(ctx, tx, last, &v)
		}
		labelled := v.Label != ""
		v.Number = last.Number + 1
		if v.CreatedAt.IsZero() {
			v.CreatedAt = s.cfg.Now().UTC()
		}
		if !labelled {
			v.Label = fmt.Sprintf("v%d", v.Number)
		}
		if _, err := tx.ExecContext(ctx, addBody, v.SHA256, []byte(flowData)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, addVersion, v.Instance, v.ChatflowID, v.Number, v.Label, labelled, v.Name, v.Kind,
			v.SHA256, v.Reason, v.RunID, v.CreatedAt.UnixNano()); err != nil {
			return err
		}
		return s.retain(ctx, tx, v)
	})
	if err != nil {
		return Version{}, fmt.Errorf("record a version of %s: %w", v.ChatflowID, err)
	}
	return v, nil
}

// keepLast returns the newest version instead of a new one, with a new label if given.
func (s *Store) keepLast(ctx context.Context, tx *sql.Tx, last Version, v *Version) error {
	label := v.Label
	*v = last
	if label == "" || label == last.Label {
		return nil
	}
	v.Label = label
	_, err := tx.ExecContext(ctx, relabel, label, v.Instance, v.ChatflowID, v.Number)
	return err
}

// retain deletes the oldest versions, and their bytes if no other version has them. It checks no
// other bytes.
func (s *Store) retain(ctx context.Context, tx *sql.Tx, v Version) error {
	if v.Number <= s.cfg.KeepVersions {
		return nil
	}
	dropped, err := hashes(tx.QueryContext(ctx, dropVersions, v.Instance, v.ChatflowID, v.Number-s.cfg.KeepVersions))
	if err != nil {
		return err
	}
	for _, sha256 := range dropped {
		if _, err := tx.ExecContext(ctx, dropBody, sha256); err != nil {
			return err
		}
	}
	return nil
}

// hashes reads all rows of one column, so that the transaction can run the next statement.
func hashes(rows *sql.Rows, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err reports failures
	var out []string
	for rows.Next() {
		var sha256 string
		if err := rows.Scan(&sha256); err != nil {
			return nil, err
		}
		out = append(out, sha256)
	}
	return out, rows.Err()
}

type row interface{ Scan(into ...any) error }

func scanVersion(r row, of Version) (Version, error) {
	v := Version{Instance: of.Instance, ChatflowID: of.ChatflowID}
	var created int64
	err := r.Scan(&v.Number, &v.Label, &v.Name, &v.Kind, &v.SHA256, &v.Reason, &v.RunID, &created)
	v.CreatedAt = at(created)
	return v, err
}

const listVersions = `
SELECT number, label, name, kind, sha256, reason, run_id, created_at FROM flowise_version
WHERE instance = $1 AND chatflow_id = $2 ORDER BY number DESC LIMIT $3`

const countVersions = `SELECT COUNT(*) FROM flowise_version WHERE instance = $1 AND chatflow_id = $2`

// Versions returns the newest versions of a flow, newest first, and their total number.
func (s *Store) Versions(ctx context.Context, instance, chatflowID string, limit int) ([]Version, int, error) {
	var total int
	if err := s.db.QueryRowContext(ctx, countVersions, instance, chatflowID).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count versions of %s: %w", chatflowID, err)
	}
	rows, err := s.db.QueryContext(ctx, listVersions, instance, chatflowID, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("list versions of %s: %w", chatflowID, err)
	}
	defer func() { _ = rows.Close() }() // Err reports failures
	var out []Version
	for rows.Next() {
		v, err := scanVersion(rows, Version{Instance: instance, ChatflowID: chatflowID})
		if err != nil {
			return nil, 0, fmt.Errorf("list versions of %s: %w", chatflowID, err)
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, fmt.Errorf("list versions of %s: %w", chatflowID, err)
	}
	return out, total, nil
}

const listFlows = `
SELECT chatflow_id, number, label, name, kind, sha256, reason, run_id, created_at FROM flowise_version v
WHERE instance = $1 AND number = (SELECT MAX(number) FROM flowise_version WHERE instance = v.instance AND chatflow_id = v.chatflow_id)
ORDER BY created_at DESC LIMIT 1000`

// Flows returns the newest version of each flow of an instance, last stored first, at most 1,000.
func (s *Store) Flows(ctx context.Context, instance string) ([]Version, error) {
	rows, err := s.db.QueryContext(ctx, listFlows, instance)
	if err != nil {
		return nil, fmt.Errorf("list the flows of %s: %w", instance, err)
	}
	out, err := versionsIn(rows, instance)
	if err != nil {
		return nil, fmt.Errorf("list the flows of %s: %w", instance, err)
	}
	return out, nil
}

// versionsIn reads versions of several flows, without their graphs.
func versionsIn(rows *sql.Rows, instance string) ([]Version, error) {
	defer func() { _ = rows.Close() }() // Err reports failures
	var out []Version
	for rows.Next() {
		v := Version{Instance: instance}
		var created int64
		if err := rows.Scan(&v.ChatflowID, &v.Number, &v.Label, &v.Name, &v.Kind, &v.SHA256, &v.Reason, &v.RunID, &created); err != nil {
			return nil, err
		}
		v.CreatedAt = at(created)
		out = append(out, v)
	}
	return out, rows.Err()
}

const findVersion = `
SELECT number, label, name, kind, sha256, reason, run_id, created_at FROM flowise_version
WHERE instance = $1 AND chatflow_id = $2 AND (lower(label) = lower($3) OR 'v' || number = lower($3) OR CAST(number AS TEXT) = $3)
ORDER BY label = $3 DESC, number DESC LIMIT 1`

const readBody = `SELECT flow_data FROM flowise_body WHERE sha256 = $1`

// Version returns a version by label or number, with its bytes.
func (s *Store) Version(ctx context.Context, instance, chatflowID, label string) (Version, string, error) {
	v, err := scanVersion(s.db.QueryRowContext(ctx, findVersion, instance, chatflowID, label), Version{Instance: instance, ChatflowID: chatflowID})
	if errors.Is(err, sql.ErrNoRows) {
		return Version{}, "", contracts.Errorf(contracts.CodeNotFound, "flow %s has no version %q", chatflowID, label)
	}
	if err != nil {
		return Version{}, "", fmt.Errorf("find version %s of %s: %w", label, chatflowID, err)
	}
	var body string
	if err := s.db.QueryRowContext(ctx, readBody, v.SHA256).Scan(&body); err != nil {
		return Version{}, "", fmt.Errorf("read version %s of %s: %w", label, chatflowID, err)
	}
	return v, body, nil
}
