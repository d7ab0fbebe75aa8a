package orchestrator

import (
	"context"
	"encoding/json"
	"time"
)

// Inbox stores the messages of a channel that delivers at least once, such as a messenger. A
// message is stored before it is acknowledged and until it is answered, so that a crash loses none
// and a repeated delivery is recognised.
type Inbox interface {
	// Receive inserts the items that are new to the channel, and returns those.
	Receive(ctx context.Context, items []InboxMessage) (fresh []InboxMessage, err error)

	// Unfinished returns the channel's unanswered items in the order in which they arrived.
	Unfinished(ctx context.Context, channel string) ([]InboxMessage, error)

	// NoteReply stores where the answer to an item is displayed. It reports whether the item is
	// still unanswered: another process may have ended it. It reports false for a missing item.
	NoteReply(ctx context.Context, channel, id, reply string) (waits bool, err error)

	// Finish marks an item as answered and deletes its body; the id is kept. A missing item is no
	// error.
	Finish(ctx context.Context, channel, id string) error

	// GiveUp ends an item that cannot be answered, and stores the reason. A missing item is no
	// error.
	GiveUp(ctx context.Context, channel, id, problem string) error

	// GivenUp returns the channel's items that were given up, without their bodies. Reply is the
	// problem.
	GivenUp(ctx context.Context, channel string) ([]InboxMessage, error)

	// ForgetReceived deletes the items that were ended and arrived before ended, and every item
	// that arrived before all, since its channel may no longer exist.
	ForgetReceived(ctx context.Context, ended, all time.Time) error
}

// InboxMessage is one item of an inbox.
type InboxMessage struct {
	Channel string
	ID      string
	// Body is the item as received, in JSON.
	Body json.RawMessage
	// Reply is the channel's own record of where it answers.
	Reply string
	At    time.Time
}
