package sqlstore

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/internal/store/stored"
)

// Querier runs statements on a connection. Their texts are rendered by the Dialect.
type Querier interface {
	// Query calls each for every row. An error of each ends the query.
	Query(ctx context.Context, each func(stored.Row) error, text string, args ...any) error
	// Exec executes a statement and returns the number of changed rows.
	Exec(ctx context.Context, text string, args ...any) (int64, error)
	// Send executes statements and writes rows, in one round trip if the database supports it.
	Send(ctx context.Context, statements []Statement, rows ...Rows) error
}

// Tx is a transaction.
type Tx interface {
	Querier
	// Lock takes locks until the end of the transaction, in this order.
	Lock(ctx context.Context, locks ...Lock) error
	// Now returns the clock of the store.
	Now(ctx context.Context) (time.Time, error)
	// Notify notifies other processes of a change after the commit.
	Notify(ctx context.Context, c Change) error
	// WakeRuns enqueues jobs for those of the runs that have no owner.
	WakeRuns(ctx context.Context, runs ...string) error
	// EnqueueJobs inserts jobs, which become visible after the commit.
	EnqueueJobs(ctx context.Context, jobs ...Job) error
}

// Lock is a lock besides those on rows. A database with a single writer needs none.
type Lock string

// The locks, in locking order.
const (
	// LockWaiters guards resource locks and their queues of waiters.
	LockWaiters Lock = "locks"
	// LockBlobs is held to delete blobs, ShareBlobs to add references to blobs, so that no
	// referenced blob is deleted.
	LockBlobs  Lock = "blobs"
	ShareBlobs Lock = "blobs shared"
	// LockActs guards the end of the chain of administrative actions.
	LockActs Lock = "acts"
	// LockDomains guards domains and their manifests.
	LockDomains Lock = "domains"
	// LockKeys guards the first API key.
	LockKeys Lock = "keys"
	// LockLog guards the end of the audit log.
	LockLog Lock = "log"
)

// Change describes a commit for other processes: a session, with its run if it is about one, or
// Domains. An empty Change means that everything may have changed.
type Change struct {
	SessionID string `json:"s,omitempty"`
	RunID     string `json:"r,omitempty"`
	Domains   bool   `json:"d,omitempty"`
}

// Job is a wake-up for a run or a delivery at a time. A zero time means at once.
type Job struct {
	Delivery bool
	ID       string
	At       time.Time
}

// Statement is one statement of a batch.
type Statement struct {
	Text string
	Args []any
	// Each, if not nil, is called for every row.
	Each func(stored.Row) error
	// Done, if not nil, is called with the number of changed rows.
	Done func(int64)
	// Scope is the scope that it probably changes, or "".
	Scope string
}

// Part is a part of a transaction whose writes depend on what it reads.
type Part struct {
	// Locks are taken and Reads executed before Decide, in one round trip.
	Locks []Lock
	Reads []Statement
	// Now, if not nil, is set to the clock of the store.
	Now *time.Time
	// Decide returns what to store, or nil for nothing.
	Decide func(context.Context, Tx) (*Effects, error)
}

// Effects is what a part stores, in this order.
type Effects struct {
	Statements    []Statement
	Rows          []Rows
	Events        []stored.EventPack // appended to their sessions and numbered by the store
	Notifications Notifications
}

// Notifications are what a part adds for other servers and for the seals.
type Notifications interface {
	// Jobs returns the jobs to enqueue, Changes the notifications to send.
	Jobs() []Job
	Changes() []Change
	// Scopes returns the scopes that the part probably changes.
	Scopes() []string
}

// Backend is a database. Its methods other than Write are safe for concurrent use.
type Backend interface {
	// Read calls read with a connection for one query.
	Read(ctx context.Context, read func(Querier) error) error
	// Snapshot executes queries on one snapshot of the database, in one round trip.
	Snapshot(ctx context.Context, queries ...Statement) error
	// Write executes one transaction. Only the writer goroutine calls it.
	Write(ctx context.Context, parts []Part) error
	// Fault returns an error of the database with a code of contracts.
	Fault(doing string, err error) error
	// Retryable reports whether an error is a deadlock or a serialization failure, after which
	// the transaction is retried.
	Retryable(err error) bool
	// RetryIndividually reports whether an error may be caused by a single change of a Write, so
	// that each should be retried alone.
	RetryIndividually(err error) bool
	// CheckRows compares the rows with their seals and contents with their hashes. It calls found
	// for each difference and returns the number of seals.
	CheckRows(ctx context.Context, found func(scope, message string)) (int, error)
}

// Pool is implemented by a Backend on which several connections may write concurrently.
type Pool interface {
	// Transact executes a transaction on a connection of its own and commits it.
	Transact(ctx context.Context, do func(Tx) error) error
	// Do executes one statement that commits by itself and changes nothing that is sealed.
	Do(ctx context.Context, do func(Querier) error) error
}
