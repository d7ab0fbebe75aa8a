package domainkit

import (
	"context"
	"errors"
	"time"
)

// Store keeps the idempotency keys of keyed writes. Several processes may
// share one. domainkit has a store in memory, domainkit/sqlitestore one in a
// file; domainkit/storetest checks any other.
type Store interface {
	// Claim inserts the record unless one stands under its ID that has not
	// expired at now. It returns the record that stands and whether it is the
	// given one.
	Claim(ctx context.Context, r Record, now time.Time) (standing Record, claimed bool, err error)
	// Find returns the record that stands under an ID and has not expired.
	Find(ctx context.Context, id KeyID, now time.Time) (r Record, found bool, err error)
	// Steal replaces the record whose token is from, if it is doubtful or
	// running with a lease that has ended at now. Of several callers one wins.
	Steal(ctx context.Context, r Record, from string, now time.Time) (stolen bool, err error)
	// Settle ends the execution that holds the token; ErrLeaseLost if another
	// one holds the record by now.
	Settle(ctx context.Context, id KeyID, token string, s Settlement) error
	// Sweep removes records that have expired at now and counts them.
	Sweep(ctx context.Context, now time.Time) (removed int, err error)
}

// ErrLeaseLost says that another execution holds the record.
var ErrLeaseLost = errors.New("the record is held by another execution")

// KeyID is a key in its scope, the capability.
type KeyID struct {
	Scope string
	Key   string
}

// KeyState describes how far the execution of a key has come.
type KeyState string

// The states of a key.
const (
	// KeyRunning means that an execution holds the lease.
	KeyRunning KeyState = "running"
	// KeyDoubtful means that an execution ended and no one knows whether it
	// took effect.
	KeyDoubtful KeyState = "doubtful"
	// KeyFinal means that the result answers every repeat.
	KeyFinal KeyState = "final"
)

// Record is what is known about one key.
type Record struct {
	ID KeyID
	// Fingerprint is the hash of capability, instance and parameters.
	Fingerprint string
	State       KeyState
	// Token names the execution that holds the record; it is unique.
	Token string
	// Operation is the id under which a 202 is asked for.
	Operation string
	// LeaseUntil is when a running execution is over for certain.
	LeaseUntil time.Time
	ExpiresAt  time.Time
	// Result is the ToolResult in JSON, when the state is final.
	Result []byte
}

// Settlement is the end of an execution. Released removes the record, so that
// the key can be used again; else State is final or doubtful.
type Settlement struct {
	Released  bool
	State     KeyState
	Result    []byte
	ExpiresAt time.Time
}
