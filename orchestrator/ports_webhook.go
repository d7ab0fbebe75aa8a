package orchestrator

import (
	"context"
	"encoding/json"
	"time"
)

// WebhookOutbox holds the notifications to be sent. Rows are written in the transaction that opens
// the interrupt, so that a crash loses none; the sender in internal/webhook drains it. Delivery is
// at least once.
type WebhookOutbox interface {
	// Claim returns due deliveries, oldest first, and makes them due again at c.Until. Until then
	// no other caller gets them; if the claimer dies, they are sent after that.
	Claim(ctx context.Context, c DeliveryClaim) ([]WebhookDelivery, error)

	// Done deletes a delivery that arrived or was given up. A missing one is no error.
	Done(ctx context.Context, id string) error

	// Retry makes a delivery due at another time and stores the number of failed attempts. A
	// missing one is no error.
	Retry(ctx context.Context, id string, at time.Time, attempts int) error
}

// DeliveryClaim claims deliveries that are due at Now, until Until.
type DeliveryClaim struct {
	// ID selects one delivery; "" selects any.
	ID         string
	Now, Until time.Time
	// Limit is the maximum number of deliveries; 0 means all.
	Limit int
}

// WebhookDelivery is one notification to one URL.
type WebhookDelivery struct {
	// ID is unique and the same for all attempts, so that receivers can drop duplicates.
	ID  string
	URL string
	// Body is the complete request body, in JSON.
	Body json.RawMessage
	// Attempts is the number of failed attempts.
	Attempts  int
	CreatedAt time.Time
}
