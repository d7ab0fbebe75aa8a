package domainkit

import (
	"context"
	"errors"
	"time"
)

// Store stores the idempotency keys of keyed writes. It must be safe for concurrent use; several
// processes may share one. Package domainkit/sqlitestore keeps them in a file, domainkit/pgstore in
// PostgreSQL. Test other implementations with domainkit/storetest.
type Store interface {
	// Claim atomically inserts r unless an unexpired record exists under its ID. It returns the
	// stored record and whether that is r.
	Claim(ctx context.Context, r Record, now time.Time) (standing Record, claimed bool, err error)
	// Find returns the unexpired record of an ID.
	Find(ctx context.Context, id KeyID, now time.Time) (r Record, found bool, err error)
	// Steal replaces the record by r if its token is from and it is doubtful, or running with a
	// lease that has ended at now. Of several concurrent callers one succeeds.
	Steal(ctx context.Context, r Record, from string, now time.Time) (stolen bool, err error)
	// Settle ends the running execution that holds the token. It returns ErrLeaseLost if that
	// execution no longer holds the record.
	Settle(ctx context.Context, id KeyID, token string, s Settlement) error
	// Sweep removes the records that have expired at now and returns their number.
	Sweep(ctx context.Context, now time.Time) (removed int, err error)
}

// ErrLeaseLost is returned by Settle if another execution holds the record or it is gone.
var ErrLeaseLost = errors.New("the record is held by another execution")

// KeyID is an idempotency key within its scope, "domain.capability".
type KeyID struct {
	Scope string
	Key   string
}

// KeyState is the state of the execution of a key.
type KeyState string

// The states of a key.
const (
	// KeyRunning means that an execution holds the lease, or held it when its process died.
	KeyRunning KeyState = "running"
	// KeyDoubtful means that an execution ended with unknown outcome.
	KeyDoubtful KeyState = "doubtful"
	// KeyFinal means that the stored result answers every retry.
	KeyFinal KeyState = "final"
)

// Record is the stored state of one key.
type Record struct {
	ID KeyID
	// Fingerprint is the hash of capability, instance, parameters and answers of people.
	Fingerprint string
	State       KeyState
	// Token identifies the execution that holds the record. It is unique.
	Token string
	// Operation is the operation id that a 202 returns.
	Operation string
	// LeaseUntil is when a running execution has certainly ended.
	LeaseUntil time.Time
	ExpiresAt  time.Time
	// Result is the JSON of the ToolResult if State is KeyFinal.
	Result []byte
}

// Settlement is the end of an execution. If Released is set, the record is removed and the key can
// be used again; otherwise State is KeyFinal or KeyDoubtful.
type Settlement struct {
	Released  bool
	State     KeyState
	Result    []byte
	ExpiresAt time.Time
}
