package sqlite

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

var (
	_ orchestrator.Previews = (*Talk)(nil)
	_ orchestrator.Secrets  = (*Talk)(nil)
)

const upsertPreview = `
INSERT INTO preview (owner, plan_hash, expires_at, body) VALUES (?, ?, ?, ?)
ON CONFLICT (owner, plan_hash) DO UPDATE SET expires_at = excluded.expires_at, body = excluded.body`

// SavePreview keeps a plan that was shown.
func (s *Talk) SavePreview(ctx context.Context, p orchestrator.Preview) error {
	body, err := stored.Encode(p)
	if err != nil {
		return err
	}
	return s.write(ctx, "save preview "+p.PlanHash, func(ctx context.Context, x *tx) error {
		_, err := x.exec(ctx, upsertPreview, p.Owner, p.PlanHash, stored.Nanos(p.ExpiresAt), body)
		return err
	})
}

// Preview gives the owner's preview that has not expired.
func (s *Talk) Preview(ctx context.Context, owner, planHash string, now time.Time) (orchestrator.Preview, error) {
	var p orchestrator.Preview
	err := s.view(ctx, "read preview "+planHash, func(ctx context.Context, h *handle) error {
		body, err := stored.Text(h.row(ctx, `SELECT body FROM preview WHERE owner = ? AND plan_hash = ? AND expires_at > ?`, owner, planHash, stored.Nanos(now)))
		if err != nil {
			return missing(err, contracts.Errorf(contracts.CodeNotFound, "there is no preview of plan %s, or it has expired", planHash))
		}
		p, err = stored.Decode[orchestrator.Preview](body)
		return err
	})
	return p, err
}

// DropPreviews deletes the previews that expired by then.
func (s *Talk) DropPreviews(ctx context.Context, before time.Time) error {
	return s.write(ctx, "drop previews", func(ctx context.Context, x *tx) error {
		_, err := x.exec(ctx, `DELETE FROM preview WHERE expires_at <= ?`, stored.Nanos(before))
		return err
	})
}

// SecretOnce stores the first secret of a name, and gives the one that stands.
func (s *Talk) SecretOnce(ctx context.Context, name string, proposal []byte) ([]byte, error) {
	var value []byte
	err := s.write(ctx, "store secret "+name, func(ctx context.Context, x *tx) error {
		if _, err := x.exec(ctx, `INSERT INTO secret (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING`, name, stored.BytesOf(proposal)); err != nil {
			return err
		}
		return x.row(ctx, `SELECT value FROM secret WHERE name = ?`, name).Scan(&value)
	})
	return value, err
}
