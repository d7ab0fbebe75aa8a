package sqlstore

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/seal"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

var (
	_ orchestrator.Previews = (*SessionStore)(nil)
	_ orchestrator.Secrets  = (*SessionStore)(nil)
)

const upsertPreview = `
INSERT INTO preview (owner, plan_hash, expires_at, body) VALUES ($1, $2, $3, $4)
ON CONFLICT (owner, plan_hash) DO UPDATE SET expires_at = excluded.expires_at, body = excluded.body`

// SavePreview inserts or replaces a previewed plan. It commits.
func (s *SessionStore) SavePreview(ctx context.Context, p orchestrator.Preview) error {
	body, err := stored.Encode(p)
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, "save preview "+p.PlanHash, seal.GlobalScope, Change{}, upsertPreview, p.Owner, p.PlanHash, stored.Nanos(p.ExpiresAt), body)
	return err
}

// Preview returns the owner's preview of a plan, or an error of code not_found if there is none
// or it has expired.
func (s *SessionStore) Preview(ctx context.Context, owner, planHash string, now time.Time) (orchestrator.Preview, error) {
	absent := contracts.Errorf(contracts.CodeNotFound, "there is no preview of plan %s, or it has expired", planHash)
	return readRow(ctx, s.core, "read preview "+planHash, absent, func(row stored.Row) (orchestrator.Preview, error) {
		body, err := stored.Text(row)
		if err != nil {
			return orchestrator.Preview{}, err
		}
		return stored.Decode[orchestrator.Preview](body)
	}, `SELECT body FROM preview WHERE owner = $1 AND plan_hash = $2 AND expires_at > $3`, owner, planHash, stored.Nanos(now))
}

// DropPreviews deletes the previews that expired before a time. It commits.
func (s *SessionStore) DropPreviews(ctx context.Context, before time.Time) error {
	return s.transact(ctx, "drop previews", func(ctx context.Context, x Tx) error {
		_, err := x.Exec(ctx, `DELETE FROM preview WHERE expires_at <= $1`, stored.Nanos(before))
		return err
	})
}

// SecretOnce stores proposal unless the secret exists, and returns the stored value. It commits.
func (s *SessionStore) SecretOnce(ctx context.Context, name string, proposal []byte) ([]byte, error) {
	doing := "store secret " + name
	if _, err := s.exec(ctx, doing, seal.GlobalScope, Change{}, `INSERT INTO secret (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`, name, stored.BytesOf(proposal)); err != nil {
		return nil, err
	}
	return readRow(ctx, s.core, doing, nil, bytes, `SELECT value FROM secret WHERE name = $1`, name)
}
