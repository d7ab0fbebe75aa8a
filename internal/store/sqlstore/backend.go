package sqlstore

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/internal/store/stored"
)

// Querier runs statements on a connection. Their texts are those of Dialect.
type Querier interface {
	// Query calls each for every row.
	Query(ctx context.Context, each func(stored.Row) error, text string, args ...any) error
	// Exec changes rows and tells how many.
	Exec(ctx context.Context, text string, args ...any) (int64, error)
	// Send runs statements and writes rows, in one round trip.
	Send(ctx context.Context, statements []Statement, rows ...Rows) error
}

// Tx is a transaction.
type Tx interface {
	Querier
	// Lock takes locks for the rest of the transaction, in this order.
	Lock(ctx context.Context, locks ...Lock) error
	// Now is the clock of the store.
	Now(ctx context.Context) (time.Time, error)
	// Notify tells other processes of a change once it is committed.
	Notify(ctx context.Context, c Change) error
	// WakeRuns has somebody look at those of the runs that nobody holds.
	WakeRuns(ctx context.Context, runs ...string) error
	// EnqueueJobs has somebody do what jobs ask for.
	EnqueueJobs(ctx context.Context, jobs ...Job) error
}

// Lock is what a transaction may hold beside rows; a database with one writer
// needs none.
type Lock string

// The locks, in the order in which they are taken.
const (
	// LockWaiters guards held locks of resources, and who waits for them.
	LockWaiters Lock = "locks"
	// LockBlobs is held by whoever collects contents, ShareBlobs by whoever names
	// some, so that none of them is collected meanwhile.
	LockBlobs  Lock = "blobs"
	ShareBlobs Lock = "blobs shared"
	// LockActs guards the end of the chain of acts.
	LockActs Lock = "acts"
	// LockDomains guards domains and the manifests that they name.
	LockDomains Lock = "domains"
	// LockKeys guards the first API key.
	LockKeys Lock = "keys"
	// LockLog guards the end of the log.
	LockLog Lock = "log"
)

// Change is what a process tells others that it has committed: a session and
// the run of it if it is one, or Domains. Without any of them everything may
// have changed.
type Change struct {
	SessionID string `json:"s,omitempty"`
	RunID     string `json:"r,omitempty"`
	Domains   bool   `json:"d,omitempty"`
}

// Job wakes somebody for a run, or for a delivery, at a time; zero means at
// once.
type Job struct {
	Delivery bool
	ID       string
	At       time.Time
}

// Statement is one of a batch.
type Statement struct {
	Text string
	Args []any
	// Each is called for every row, if it is not nil.
	Each func(stored.Row) error
	// Done is told how many rows were changed, if it is not nil.
	Done func(int64)
	// Scope is the seal that it is likely to change, "" for none.
	Scope string
}

// Part is a part of a transaction that decides by what it reads.
type Part struct {
	// Locks are taken, and Reads are answered, before Decide, in one round trip.
	Locks []Lock
	Reads []Statement
	// Now is set to the clock of the store unless it is nil.
	Now *time.Time
	// Decide gives what is to be stored; nil for nothing.
	Decide func(context.Context, Tx) (*Effects, error)
}

// Effects are what a part stores, in this order.
type Effects struct {
	Statements    []Statement
	Rows          []Rows
	Events        []stored.EventPack // appended to their sessions, which number them
	Notifications Notifications
}

// Notifications are what a part adds for other servers.
type Notifications interface {
	// Jobs are what it makes due, Changes what others are told.
	Jobs() []Job
	Changes() []Change
	// Scopes are the seals that are likely to change.
	Scopes() []string
}

// Backend is a database.
type Backend interface {
	// Read gives a connection for one query.
	Read(ctx context.Context, read func(Querier) error) error
	// Snapshot answers queries from one state of the database, in one round trip.
	Snapshot(ctx context.Context, queries ...Statement) error
	// Write does one transaction of the writer, which alone calls it.
	Write(ctx context.Context, parts []Part) error
	// Fault gives an error of the database a code of contracts.
	Fault(doing string, err error) error
	// Retryable reports whether a fault is a deadlock or a failed serialization, after which
	// the transaction is tried again.
	Retryable(err error) bool
	// RetryIndividually reports whether a fault was caused by one of the changes of a Write, so
	// that each should be tried alone.
	RetryIndividually(err error) bool
	// CheckRows compares what is stored with the seals, and contents with their
	// hashes, and counts the seals.
	CheckRows(ctx context.Context, found func(scope, message string)) (int, error)
}

// Pool is what a Backend has besides if several connections may write at once.
type Pool interface {
	// Transact does a transaction on a connection of its own.
	Transact(ctx context.Context, do func(Tx) error) error
	// Do runs one statement that commits by itself and changes nothing that is
	// sealed.
	Do(ctx context.Context, do func(Querier) error) error
}
