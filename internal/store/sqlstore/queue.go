package sqlstore

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/internal/store/seal"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

var (
	_ orchestrator.Inbox         = (*QueueStore)(nil)
	_ orchestrator.WebhookOutbox = (*QueueStore)(nil)
)

const (
	// claimDeliveries selects due deliveries. On PostgreSQL it also claims them, skipping locked
	// rows; on SQLite putOff does.
	claimDeliveries = `
{pg:WITH due AS (
  SELECT id, due_at AS was FROM outbox
  WHERE due_at <= $2 AND ($1 = '' OR id = $1)
  ORDER BY due_at, place LIMIT $4 FOR UPDATE SKIP LOCKED),
claimed AS (
  UPDATE outbox SET due_at = $3 FROM due WHERE outbox.id = due.id
  RETURNING outbox.id, url, body, attempts, created_at, due.was, place)
SELECT id, url, body, attempts, created_at FROM claimed ORDER BY was, place}{lite:
SELECT id, url, body, attempts, created_at FROM outbox WHERE due_at <= $2 AND ($1 = '' OR id = $1) ORDER BY due_at, place LIMIT 0 + $4}`

	putOff = `{lite:UPDATE outbox SET due_at = $1 WHERE id IN (SELECT value FROM json_each($2))}`
)

// Claim returns due deliveries and hides them from other callers until c.Until. It commits.
func (s *QueueStore) Claim(ctx context.Context, c orchestrator.DeliveryClaim) (due []orchestrator.WebhookDelivery, err error) {
	err = s.execUnsealed(ctx, "claim deliveries", func(ctx context.Context, q Querier) (err error) {
		until := stored.Nanos(c.Until)
		if due, err = queryAll(ctx, q, stored.ScanDelivery, claimDeliveries, c.ID, stored.Nanos(c.Now), until, stored.LimitOf(c.Limit)); err != nil {
			return err
		}
		_, err = q.Exec(ctx, putOff, until, column(due, func(d orchestrator.WebhookDelivery) string { return d.ID }))
		return err
	})
	return due, err
}

// Done removes a delivery. It commits.
func (s *QueueStore) Done(ctx context.Context, id string) error {
	_, err := s.exec(ctx, "end delivery "+id, seal.GlobalScope, Change{}, `DELETE FROM outbox WHERE id = $1`, id)
	return err
}

// Retry reschedules a delivery for another time and adds a job for it. It commits.
func (s *QueueStore) Retry(ctx context.Context, id string, at time.Time, attempts int) error {
	return s.transact(ctx, "put off delivery "+id, func(ctx context.Context, x Tx) error {
		n, err := x.Exec(ctx, `UPDATE outbox SET attempts = $3, due_at = $2 WHERE id = $1`, id, stored.Nanos(at), attempts)
		if err != nil || n == 0 {
			return err
		}
		return x.EnqueueJobs(ctx, Job{Delivery: true, ID: id, At: at})
	})
}

// The states of an inbox message.
const (
	unfinished = 0
	finished   = 1
	// givenUp is finished without a reply.
	givenUp = 2
)

const insertReceived = `
INSERT INTO inbox (channel, id, reply, finished, received_at, body) VALUES ($1, $2, $3, 0, $4, $5) ON CONFLICT DO NOTHING`

// Receive inserts the messages that are not stored yet and returns those. Of equal ones the first
// is kept. It commits.
func (s *QueueStore) Receive(ctx context.Context, items []orchestrator.InboxMessage) ([]orchestrator.InboxMessage, error) {
	var fresh []orchestrator.InboxMessage
	err := s.transact(ctx, "receive", func(ctx context.Context, x Tx) error {
		fresh = nil
		inserts := column(items, func(i orchestrator.InboxMessage) Statement {
			return Statement{Text: insertReceived, Args: []any{i.Channel, i.ID, i.Reply, stored.Nanos(i.At), string(i.Body)}, Done: func(n int64) {
				if n > 0 {
					fresh = append(fresh, i)
				}
			}}
		})
		return x.Send(ctx, inserts)
	})
	if err != nil {
		return nil, err
	}
	return fresh, nil
}

const selectInbox = `SELECT channel, id, reply, received_at, body FROM inbox WHERE channel = $1 AND finished = $2 ORDER BY place`

// Unfinished returns the unanswered messages of a channel.
func (s *QueueStore) Unfinished(ctx context.Context, channel string) ([]orchestrator.InboxMessage, error) {
	return readAll(ctx, s.core, "list the inbox of "+channel, stored.ScanReceived, selectInbox, channel, unfinished)
}

// GivenUp returns the messages of a channel that were given up.
func (s *QueueStore) GivenUp(ctx context.Context, channel string) ([]orchestrator.InboxMessage, error) {
	return readAll(ctx, s.core, "list what was given up of "+channel, stored.ScanReceived, selectInbox, channel, givenUp)
}

// NoteReply stores the reply reference of an unfinished message, and reports whether there is
// such a message. It commits.
func (s *QueueStore) NoteReply(ctx context.Context, channel, id, reply string) (bool, error) {
	n, err := s.exec(ctx, "note a reply", seal.GlobalScope, Change{}, `UPDATE inbox SET reply = $3 WHERE channel = $1 AND id = $2 AND finished = 0`, channel, id, reply)
	return n > 0, err
}

const endReceived = `UPDATE inbox SET finished = $3, reply = $4, body = '' WHERE channel = $1 AND id = $2`

// Finish marks a message as finished, deletes its body and keeps its id. It commits.
func (s *QueueStore) Finish(ctx context.Context, channel, id string) error {
	_, err := s.exec(ctx, "finish an item", seal.GlobalScope, Change{}, endReceived, channel, id, finished, "")
	return err
}

// GiveUp marks a message as given up and stores the reason. It commits.
func (s *QueueStore) GiveUp(ctx context.Context, channel, id, problem string) error {
	_, err := s.exec(ctx, "give an item up", seal.GlobalScope, Change{}, endReceived, channel, id, givenUp, problem)
	return err
}

// ForgetReceived deletes the finished messages received before one time, and all messages
// received before another. It commits.
func (s *QueueStore) ForgetReceived(ctx context.Context, ended, all time.Time) error {
	return s.transact(ctx, "forget what was received", func(ctx context.Context, x Tx) error {
		_, err := x.Exec(ctx, `DELETE FROM inbox WHERE finished <> 0 AND received_at < $1 OR received_at < $2`, stored.Nanos(ended), stored.Nanos(all))
		return err
	})
}
