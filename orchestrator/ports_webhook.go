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
	// Due gives at most limit deliveries whose time has come, oldest first.
	Due(ctx context.Context, now time.Time, limit int) ([]WebhookDelivery, error)

	// Done removes a delivery that arrived or was given up. A missing one is
	// no error.
	Done(ctx context.Context, id string) error

	// Retry makes a delivery due again at a later time and counts the attempt.
	// A missing one is no error.
	Retry(ctx context.Context, id string, at time.Time) error
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
