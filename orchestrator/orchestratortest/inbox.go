package orchestratortest

import (
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/orchestrator"
)

// item is a row of the inbox.
type item struct {
	orchestrator.InboxMessage

	finished, givenUp bool
}

// Receive inserts the new items, and returns those.
func (s *Store) Receive(_ context.Context, items []orchestrator.InboxMessage) ([]orchestrator.InboxMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var fresh []orchestrator.InboxMessage
	for _, i := range items {
		if s.received(i.Channel, i.ID) == nil {
			s.inbox = append(s.inbox, &item{InboxMessage: i})
			fresh = append(fresh, i)
		}
	}
	return clone(fresh)
}

// received returns an item; the caller must hold mu.
func (s *Store) received(channel, id string) *item {
	for _, i := range s.inbox {
		if i.Channel == channel && i.ID == id {
			return i
		}
	}
	return nil
}

// Unfinished returns a channel's unanswered items.
func (s *Store) Unfinished(_ context.Context, channel string) ([]orchestrator.InboxMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []orchestrator.InboxMessage
	for _, i := range s.inbox {
		if i.Channel == channel && !i.finished {
			out = append(out, i.InboxMessage)
		}
	}
	return clone(out)
}

// NoteReply stores where an unanswered item is being answered.
func (s *Store) NoteReply(_ context.Context, channel, id, reply string) (waits bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.received(channel, id)
	if waits = i != nil && !i.finished; waits {
		i.Reply = reply
	}
	return waits, nil
}

// Finish deletes the body of an item and keeps its id.
func (s *Store) Finish(_ context.Context, channel, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.received(channel, id); i != nil {
		i.finished, i.Body, i.Reply = true, nil, ""
	}
	return nil
}

// GiveUp ends an item that cannot be answered.
func (s *Store) GiveUp(_ context.Context, channel, id, problem string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.received(channel, id); i != nil {
		i.finished, i.givenUp, i.Body, i.Reply = true, true, nil, problem
	}
	return nil
}

// GivenUp returns a channel's items that were given up.
func (s *Store) GivenUp(_ context.Context, channel string) ([]orchestrator.InboxMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []orchestrator.InboxMessage
	for _, i := range s.inbox {
		if i.Channel == channel && i.givenUp {
			out = append(out, i.InboxMessage)
		}
	}
	return clone(out)
}

// ForgetReceived deletes what was ended before a time, and everything before another.
func (s *Store) ForgetReceived(_ context.Context, ended, all time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inbox = slices.DeleteFunc(s.inbox, func(i *item) bool { return i.finished && i.At.Before(ended) || i.At.Before(all) })
	return nil
}
