package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/internal/store/postgres/proof"
	"github.com/manifold-run/manifold/internal/store/postgres/queue"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

var (
	_ orchestrator.Inbox         = (*Mail)(nil)
	_ orchestrator.WebhookOutbox = (*Mail)(nil)
)

// claimDeliveries claims what nobody else is claiming.
const claimDeliveries = `
WITH due AS (
  SELECT id, due_at AS was FROM outbox
  WHERE due_at <= $2 AND ($1 = '' OR id = $1)
  ORDER BY due_at, place LIMIT $4 FOR UPDATE SKIP LOCKED),
claimed AS (
  UPDATE outbox SET due_at = $3 FROM due WHERE outbox.id = due.id
  RETURNING outbox.id, url, body, attempts, created_at, due.was, place)
SELECT id, url, body, attempts, created_at FROM claimed ORDER BY was, place`

// Claim gives deliveries whose time has come to one caller. It commits.
func (s *Mail) Claim(ctx context.Context, c orchestrator.Claim) ([]orchestrator.WebhookDelivery, error) {
	return list(ctx, s.db, "claim deliveries", stored.ScanDelivery, claimDeliveries, c.ID, stored.Nanos(c.Now), stored.Nanos(c.Until), limitOf(c.Limit))
}

// Done removes a delivery. It commits.
func (s *Mail) Done(ctx context.Context, id string) error {
	_, err := s.exec(ctx, "end delivery "+id, proof.House, Change{}, `DELETE FROM outbox WHERE id = $1`, id)
	return err
}

// Retry makes a delivery due again at another time, with a job for it. It
// commits.
func (s *Mail) Retry(ctx context.Context, id string, at time.Time, attempts int) error {
	return s.transact(ctx, "put off delivery "+id, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `UPDATE outbox SET attempts = $3, due_at = $2 WHERE id = $1`, id, stored.Nanos(at), attempts)
		if err != nil || done.RowsAffected() == 0 {
			return err
		}
		return s.jobs.Add(ctx, tx, queue.Job{Kind: queue.Delivery, ID: id, At: at})
	})
}

// The states of an item of the inbox.
const (
	unfinished = 0
	finished   = 1
	// givenUp was ended without an answer.
	givenUp = 2
)

// insertReceived gives the ordinals of the items that were not there yet. Of
// equal ones in one list the first counts.
const insertReceived = `
WITH given AS (
  SELECT DISTINCT ON (channel COLLATE "C", id COLLATE "C") * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
    WITH ORDINALITY AS u (channel, id, reply, received_at, body, n) ORDER BY channel COLLATE "C", id COLLATE "C", n),
fresh AS (
  INSERT INTO inbox (channel, id, reply, finished, received_at, body)
  SELECT channel, id, reply, 0, received_at, body FROM given ORDER BY n ON CONFLICT DO NOTHING RETURNING channel, id)
SELECT given.n FROM given JOIN fresh USING (channel, id) ORDER BY given.n`

// Receive inserts the items that are not there yet, and gives those. It
// commits.
func (s *Mail) Receive(ctx context.Context, items []orchestrator.Received) ([]orchestrator.Received, error) {
	type item = orchestrator.Received
	var numbers []int64
	err := s.transact(ctx, "receive", func(tx pgx.Tx) (err error) {
		numbers, err = collect(ctx, tx, stored.Number, insertReceived, column(items, func(i item) string { return i.Channel }),
			column(items, func(i item) string { return i.ID }), column(items, func(i item) string { return i.Reply }),
			column(items, func(i item) int64 { return stored.Nanos(i.At) }), column(items, func(i item) string { return string(i.Body) }))
		return err
	})
	if err != nil {
		return nil, err
	}
	var fresh []orchestrator.Received
	for _, n := range numbers {
		fresh = append(fresh, items[n-1])
	}
	return fresh, nil
}

const selectInbox = `SELECT channel, id, reply, received_at, body FROM inbox WHERE channel = $1 AND finished = $2 ORDER BY place`

// Unfinished gives a channel's items that were not answered yet.
func (s *Mail) Unfinished(ctx context.Context, channel string) ([]orchestrator.Received, error) {
	return list(ctx, s.db, "list the inbox of "+channel, stored.ScanReceived, selectInbox, channel, unfinished)
}

// GivenUp gives a channel's items that were given up.
func (s *Mail) GivenUp(ctx context.Context, channel string) ([]orchestrator.Received, error) {
	return list(ctx, s.db, "list what was given up of "+channel, stored.ScanReceived, selectInbox, channel, givenUp)
}

// NoteReply keeps where an item that waits is being answered. It commits.
func (s *Mail) NoteReply(ctx context.Context, channel, id, reply string) (bool, error) {
	n, err := s.exec(ctx, "note a reply", proof.House, Change{}, `UPDATE inbox SET reply = $3 WHERE channel = $1 AND id = $2 AND finished = 0`, channel, id, reply)
	return n > 0, err
}

const endReceived = `UPDATE inbox SET finished = $3, reply = $4, body = '' WHERE channel = $1 AND id = $2`

// Finish drops the body of an item and keeps its id. It commits.
func (s *Mail) Finish(ctx context.Context, channel, id string) error {
	_, err := s.exec(ctx, "finish an item", proof.House, Change{}, endReceived, channel, id, finished, "")
	return err
}

// GiveUp ends an item that cannot be answered, and keeps why. It commits.
func (s *Mail) GiveUp(ctx context.Context, channel, id, problem string) error {
	_, err := s.exec(ctx, "give an item up", proof.House, Change{}, endReceived, channel, id, givenUp, problem)
	return err
}

// ForgetReceived removes what was ended before a time, and all before another.
// It commits.
func (s *Mail) ForgetReceived(ctx context.Context, ended, all time.Time) error {
	return translate("forget what was received", s.seals.Transact(ctx, s.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM inbox WHERE finished <> 0 AND received_at < $1 OR received_at < $2`, stored.Nanos(ended), stored.Nanos(all))
		return err
	}))
}
