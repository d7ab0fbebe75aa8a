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
	Receive(ctx context.Context, items []Received) (fresh []Received, err error)

	// Unfinished gives a channel's items that were not answered yet, in the order
	// in which they came.
	Unfinished(ctx context.Context, channel string) ([]Received, error)

	// NoteReply keeps where the answer to an item is being shown. A missing item
	// is no error.
	NoteReply(ctx context.Context, channel, id, reply string) error

	// Finish drops the body of an item that was answered; its id stays. A missing
	// item is no error.
	Finish(ctx context.Context, channel, id string) error

	// ForgetReceived removes finished items that came before a time.
	ForgetReceived(ctx context.Context, before time.Time) error
}

// Received is one item of an inbox.
type Received struct {
	Channel string
	ID      string
	// Body is the item as it came, JSON.
	Body json.RawMessage
	// Reply is the channel's own note of where it answers.
	Reply string
	At    time.Time
}
