package sqlite

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

var _ orchestrator.Inbox = (*Mail)(nil)

const insertReceived = `
INSERT INTO inbox (channel, id, reply, finished, received_at, body) VALUES (?, ?, ?, 0, ?, ?)
ON CONFLICT DO NOTHING`

// Receive inserts the items that are not there yet, and gives those.
func (s *Mail) Receive(ctx context.Context, items []orchestrator.Received) ([]orchestrator.Received, error) {
	var fresh []orchestrator.Received
	err := s.write(ctx, "receive", func(ctx context.Context, x *tx) error {
		fresh = nil
		for _, i := range items {
			n, err := x.exec(ctx, insertReceived, i.Channel, i.ID, i.Reply, stored.Nanos(i.At), string(i.Body))
			if err != nil {
				return err
			}
			if n > 0 {
				fresh = append(fresh, i)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return fresh, nil
}

// Unfinished gives a channel's items that were not answered yet.
func (s *Mail) Unfinished(ctx context.Context, channel string) ([]orchestrator.Received, error) {
	var items []orchestrator.Received
	err := s.view(ctx, "list the inbox of "+channel, func(ctx context.Context, h *handle) error {
		var err error
		items, err = collect(ctx, h, stored.ScanReceived,
			`SELECT channel, id, reply, received_at, body FROM inbox WHERE channel = ? AND finished = 0 ORDER BY place`, channel)
		return err
	})
	return items, err
}

// NoteReply keeps where an item that waits is being answered.
func (s *Mail) NoteReply(ctx context.Context, channel, id, reply string) (waits bool, err error) {
	err = s.write(ctx, "note a reply", func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, `UPDATE inbox SET reply = ? WHERE channel = ? AND id = ? AND finished = 0`, reply, channel, id)
		waits = n > 0
		return err
	})
	return waits && err == nil, err
}

// Finish drops the body of an item and keeps its id.
func (s *Mail) Finish(ctx context.Context, channel, id string) error {
	return s.write(ctx, "finish an item", func(ctx context.Context, x *tx) error {
		_, err := x.exec(ctx, `UPDATE inbox SET finished = 1, reply = '', body = '' WHERE channel = ? AND id = ?`, channel, id)
		return err
	})
}

// givenUp is the state of an item that was ended without an answer.
const givenUp = 2

// GiveUp ends an item that cannot be answered, and keeps why.
func (s *Mail) GiveUp(ctx context.Context, channel, id, problem string) error {
	return s.write(ctx, "give an item up", func(ctx context.Context, x *tx) error {
		_, err := x.exec(ctx, `UPDATE inbox SET finished = ?, reply = ?, body = '' WHERE channel = ? AND id = ?`, givenUp, problem, channel, id)
		return err
	})
}

// GivenUp gives a channel's items that were given up.
func (s *Mail) GivenUp(ctx context.Context, channel string) ([]orchestrator.Received, error) {
	var items []orchestrator.Received
	err := s.view(ctx, "list what was given up of "+channel, func(ctx context.Context, h *handle) error {
		var err error
		items, err = collect(ctx, h, stored.ScanReceived,
			`SELECT channel, id, reply, received_at, body FROM inbox WHERE channel = ? AND finished = ? ORDER BY place`, channel, givenUp)
		return err
	})
	return items, err
}

// ForgetReceived removes what was ended before a time, and all before another.
func (s *Mail) ForgetReceived(ctx context.Context, ended, all time.Time) error {
	return s.write(ctx, "forget what was received", func(ctx context.Context, x *tx) error {
		_, err := x.exec(ctx, `DELETE FROM inbox WHERE finished <> 0 AND received_at < ? OR received_at < ?`, stored.Nanos(ended), stored.Nanos(all))
		return err
	})
}
