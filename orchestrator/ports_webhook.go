package orchestrator

import (
	"context"
	"encoding/json"
	"time"
)

// WebhookOutbox holds the notifications that wait to be sent. Rows are
// written in the transaction that opens the interrupt, so that a crash loses
// none; the sender in internal/webhook drains it. Delivery is at least once.
type WebhookOutbox interface {
	// Claim gives deliveries whose time has come, oldest first, and makes them due
	// again when the claim ends: who claims them sends them, or dies, and nobody
	// else gets them until then.
	Claim(ctx context.Context, c DeliveryClaim) ([]WebhookDelivery, error)

	// Done removes a delivery that arrived or was given up. A missing one is
	// no error.
	Done(ctx context.Context, id string) error

	// Retry makes a delivery due again at another time, after so many attempts that
	// failed. A missing one is no error.
	Retry(ctx context.Context, id string, at time.Time, attempts int) error
}

// DeliveryClaim asks for deliveries that are due at Now, until another time.
type DeliveryClaim struct {
	// ID is the only one that is wanted; "" means any.
	ID         string
	Now, Until time.Time
	// Limit is how many are wanted at most; 0 means all.
	Limit int
}

// WebhookDelivery is one notification for one URL.
type WebhookDelivery struct {
	// ID is unique and stays the same over all attempts; receivers drop what
	// they have seen.
	ID  string
	URL string
	// Body is the JSON to send, complete.
	Body json.RawMessage
	// Attempts counts the attempts that failed.
	Attempts  int
	CreatedAt time.Time
}
