package orchestrator

import (
	"context"
	"encoding/json"
	"time"
)

// Inbox keeps what came in through a channel that delivers at least once, such
// as a messenger: each item is there from before it is acknowledged until it
// was answered, so that a crash loses none and a repeat is recognised.
type Inbox interface {
	// Receive inserts the items that the channel has not brought before, and
	// gives those.
	Receive(ctx context.Context, items []InboxMessage) (fresh []InboxMessage, err error)

	// Unfinished returns a channel's items that were not answered yet, in the order
	// in which they came.
	Unfinished(ctx context.Context, channel string) ([]InboxMessage, error)

	// NoteReply keeps where the answer to an item is being shown, and reports whether
	// the item waits for it still: it may have been ended elsewhere. A missing item
	// does not wait.
	NoteReply(ctx context.Context, channel, id, reply string) (waits bool, err error)

	// Finish drops the body of an item that was answered; its id stays. A missing
	// item is no error.
	Finish(ctx context.Context, channel, id string) error

	// GiveUp ends an item that cannot be answered, and keeps why. A missing item is
	// no error.
	GiveUp(ctx context.Context, channel, id, problem string) error

	// GivenUp gives a channel's items that were given up, with the problem as their
	// Reply and without their bodies.
	GivenUp(ctx context.Context, channel string) ([]InboxMessage, error)

	// ForgetReceived removes the items that were ended and came before a time, and
	// all that came before another: nobody reads a channel that is gone.
	ForgetReceived(ctx context.Context, ended, all time.Time) error
}

// InboxMessage is one item of an inbox.
type InboxMessage struct {
	Channel string
	ID      string
	// Body is the item as it came, JSON.
	Body json.RawMessage
	// Reply is the channel's own note of where it answers.
	Reply string
	At    time.Time
}
