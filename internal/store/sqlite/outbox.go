package sqlite

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

var _ orchestrator.WebhookOutbox = (*Mail)(nil)

const insertDelivery = `
INSERT INTO outbox (id, session_id, url, body, attempts, due_at, created_at) VALUES (?, ?, ?, ?, 0, ?, ?)
ON CONFLICT DO NOTHING`

// notify queues the notice of an interrupt if its session wants one.
func (x *tx) notify(ctx context.Context, i contracts.Interrupt) error {
	urls, err := collect(ctx, x.handle, stored.Text, `SELECT webhook_url FROM session WHERE id = ? AND webhook_url <> ''`, i.SessionID)
	if err != nil || len(urls) == 0 {
		return err
	}
	notices, err := orchestrator.NoticesOf(i, urls[0])
	for _, d := range notices {
		if err == nil {
			_, err = x.exec(ctx, insertDelivery, d.ID, i.SessionID, d.URL, string(d.Body), stored.Nanos(d.CreatedAt), stored.Nanos(d.CreatedAt))
		}
	}
	return err
}

const selectDueDeliveries = `
SELECT id, url, body, attempts, created_at FROM outbox WHERE due_at <= ? AND (? = '' OR id = ?) ORDER BY due_at, place LIMIT +?`

// Claim gives deliveries whose time has come to one caller.
func (s *Mail) Claim(ctx context.Context, c orchestrator.Claim) ([]orchestrator.WebhookDelivery, error) {
	var due []orchestrator.WebhookDelivery
	err := s.write(ctx, "claim deliveries", func(ctx context.Context, x *tx) error {
		var err error
		if due, err = collect(ctx, x.handle, stored.ScanDelivery, selectDueDeliveries, stored.Nanos(c.Now), c.ID, c.ID, limitOf(c.Limit)); err != nil {
			return err
		}
		for _, d := range due {
			if _, err := x.exec(ctx, `UPDATE outbox SET due_at = ? WHERE id = ?`, stored.Nanos(c.Until), d.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return due, err
}

// Done removes a delivery.
func (s *Mail) Done(ctx context.Context, id string) error {
	return s.write(ctx, "end delivery "+id, func(ctx context.Context, x *tx) error {
		_, err := x.exec(ctx, `DELETE FROM outbox WHERE id = ?`, id)
		return err
	})
}

// Retry makes a delivery due again at another time.
func (s *Mail) Retry(ctx context.Context, id string, at time.Time, attempts int) error {
	return s.write(ctx, "put off delivery "+id, func(ctx context.Context, x *tx) error {
		_, err := x.exec(ctx, `UPDATE outbox SET attempts = ?, due_at = ? WHERE id = ?`, attempts, stored.Nanos(at), id)
		return err
	})
}
