package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Pattern is a stored flow as a base for others.
type Pattern struct {
	ID                          int64
	Name, Description, Category string
	Kind                        string
	NodeTypes                   []string
	// Fingerprint is the fingerprint of its node definitions when it was saved.
	Fingerprint string
	FlowData    string
	SHA256      string
	// SavedBy is the idempotency key of the write that saved it.
	SavedBy    string
	Uses       int
	CreatedAt  time.Time
	LastUsedAt time.Time
}

const patternColumns = `id, name, description, category, kind, node_types, fingerprint, flow_data, sha256, saved_by, uses, created_at, last_used_at`

const savePattern = `
INSERT INTO flowise_pattern (name, description, category, kind, node_types, fingerprint, flow_data, sha256, saved_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (saved_by) DO NOTHING`

// SavePattern stores a pattern and assigns its id. A retry with the same key returns the pattern
// that was saved first.
func (s *Store) SavePattern(ctx context.Context, p Pattern) (Pattern, error) {
	types, err := json.Marshal(p.NodeTypes)
	if err != nil {
		return Pattern{}, fmt.Errorf("save pattern %q: %w", p.Name, err)
	}
	if _, err := s.db.ExecContext(ctx, savePattern, p.Name, p.Description, p.Category, p.Kind, string(types), p.Fingerprint,
		[]byte(p.FlowData), p.SHA256, p.SavedBy, s.cfg.Now().UnixNano()); err != nil {
		return Pattern{}, fmt.Errorf("save pattern %q: %w", p.Name, err)
	}
	return s.patternWhere(ctx, "saved_by = $1", p.SavedBy)
}

// PatternSavedBy returns the pattern that a key saved.
func (s *Store) PatternSavedBy(ctx context.Context, key string) (Pattern, error) {
	return s.patternWhere(ctx, "saved_by = $1", key)
}

// Pattern returns a pattern by its id.
func (s *Store) Pattern(ctx context.Context, id int64) (Pattern, error) {
	return s.patternWhere(ctx, "id = $1", id)
}

func (s *Store) patternWhere(ctx context.Context, where string, arg any) (Pattern, error) {
	p, err := scanPattern(s.db.QueryRowContext(ctx, "SELECT "+patternColumns+" FROM flowise_pattern WHERE "+where, arg))
	if errors.Is(err, sql.ErrNoRows) {
		return Pattern{}, contracts.Errorf(contracts.CodeNotFound, "there is no pattern %v", arg)
	}
	if err != nil {
		return Pattern{}, fmt.Errorf("read pattern %v: %w", arg, err)
	}
	return p, nil
}

func scanPattern(r row) (Pattern, error) {
	var p Pattern
	var types string
	var created, used int64
	if err := r.Scan(&p.ID, &p.Name, &p.Description, &p.Category, &p.Kind, &types, &p.Fingerprint, &p.FlowData, &p.SHA256,
		&p.SavedBy, &p.Uses, &created, &used); err != nil {
		return Pattern{}, err
	}
	if err := json.Unmarshal([]byte(types), &p.NodeTypes); err != nil {
		return Pattern{}, fmt.Errorf("node types: %w", err)
	}
	p.CreatedAt, p.LastUsedAt = at(created), at(used)
	return p, nil
}

// Patterns returns all patterns, most used first.
func (s *Store) Patterns(ctx context.Context) ([]Pattern, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT "+patternColumns+" FROM flowise_pattern ORDER BY uses DESC, id DESC")
	if err != nil {
		return nil, fmt.Errorf("list patterns: %w", err)
	}
	defer func() { _ = rows.Close() }() // Err reports failures
	var out []Pattern
	for rows.Next() {
		p, err := scanPattern(rows)
		if err != nil {
			return nil, fmt.Errorf("list patterns: %w", err)
		}
		out = append(out, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list patterns: %w", err)
	}
	return out, nil
}

const usePattern = `UPDATE flowise_pattern SET uses = uses + 1, last_used_at = $1 WHERE id = $2`

// Used counts a use of a pattern.
func (s *Store) Used(ctx context.Context, id int64) error {
	if _, err := s.db.ExecContext(ctx, usePattern, s.cfg.Now().UnixNano(), id); err != nil {
		return fmt.Errorf("count a use of pattern %d: %w", id, err)
	}
	return nil
}

const deletePattern = `DELETE FROM flowise_pattern WHERE id = $1`

// DeletePattern removes a pattern and reports whether it existed.
func (s *Store) DeletePattern(ctx context.Context, id int64) (bool, error) {
	done, err := s.db.ExecContext(ctx, deletePattern, id)
	if err != nil {
		return false, fmt.Errorf("delete pattern %d: %w", id, err)
	}
	n, err := done.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("delete pattern %d: %w", id, err)
	}
	return n == 1, nil
}
