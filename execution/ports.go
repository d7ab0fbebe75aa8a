package execution

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Store holds all durable state of the execution of runs. All methods are safe for concurrent use;
// each is one transaction. Errors carry the codes of contracts: not_found, conflict, lease_lost,
// unavailable.
type Store interface {
	Runs
	Leases
	Gates
	Outcomes
	Locks
	Journal
	Artifacts
}

// Quarantine holds back the runs of a restored database, because their stored state may be older
// than what was executed.
type Quarantine interface {
	// Hold holds back all open runs, except those that are to be cancelled, and drops the messages
	// that were not answered. It returns how many runs were not held before.
	Hold(ctx context.Context, at time.Time) (int, error)
	// Release releases a run; not_found if it is not held.
	Release(ctx context.Context, runID string) error
}

// Runs creates, reads and advances runs. The owner of a run uses it.
type Runs interface {
	// CreateRun inserts a run with its nodes, first events and plan entry. A run with an owner is
	// created with a lease that ends ttl from now; without an owner it is due at once.
	CreateRun(ctx context.Context, run Run, ttl time.Duration, first Transition) error
	// LoadRun returns the whole stored state of a run; not_found if there is none.
	LoadRun(ctx context.Context, runID string) (Snapshot, error)
	// Commit stores one transition under its lease, all or nothing. After unavailable the result is
	// unknown.
	Commit(ctx context.Context, t Transition) (Committed, error)
	// ReadSignals returns every interrupt of the run, whatever its status, and its intents that are
	// not consumed.
	ReadSignals(ctx context.Context, runID string) (Signals, error)
	// RequestCancel is idempotent: the first request is kept. It increments wake_seq. It returns
	// conflict for a terminal run.
	RequestCancel(ctx context.Context, runID, by string) error
}

// Leases decides which replica may advance a run; heartbeat and sweeper use it. All times are on the
// store's clock.
type Leases interface {
	// AcquireRun takes a run whose lease has ended and whose format is known. It returns the new
	// lease, or conflict if another owner holds the run.
	AcquireRun(ctx context.Context, runID, owner string, ttl time.Duration) (Lease, error)
	// RenewLeases extends the leases that (owner, epoch) still holds, expired or not, and returns
	// the wake_seq of each. A run that is missing in the result is lost.
	RenewLeases(ctx context.Context, owner string, held []Lease, ttl time.Duration) (map[string]int64, error)
	// ReleaseRun gives up the lease without parking, so that another replica takes the run at once;
	// for shutdown.
	ReleaseRun(ctx context.Context, l Lease) error
	// DueRuns lists runs that have no owner and can be advanced, oldest first: the lease has
	// expired and (wake_seq > handled_seq, or wake_at passed, or not parked).
	DueRuns(ctx context.Context, formats []int, limit int) ([]string, error)
	// NextWake returns the earliest wake_at of a parked run, zero if there is none.
	NextWake(ctx context.Context) (time.Time, error)
}

// Gates stores the interrupts of runs and sessions. The code that decides them uses it.
type Gates interface {
	// InterruptAt returns one interrupt with its version and the store's time.
	InterruptAt(ctx context.Context, id string) (InterruptAt, error)
	// InterruptByCode finds the open interrupt with a code; case is ignored.
	InterruptByCode(ctx context.Context, code string) (contracts.Interrupt, error)
	// Interrupts lists the selected interrupts, oldest first.
	Interrupts(ctx context.Context, f InterruptFilter) ([]contracts.Interrupt, error)
	// SaveInterrupt replaces an open interrupt if its version is the one that was read, wakes its
	// run, and returns the interrupt as stored. Its run and session do not change. It returns
	// conflict if the interrupt was changed since.
	SaveInterrupt(ctx context.Context, i InterruptAt) (contracts.Interrupt, error)
	// OpenInterrupt inserts an interrupt that belongs to no run, such as a clarification before
	// there is a plan.
	OpenInterrupt(ctx context.Context, i contracts.Interrupt, e contracts.Event) error
}

// InterruptAt is an interrupt as it was read at one time.
type InterruptAt struct {
	contracts.Interrupt

	// Version counts the changes of the interrupt.
	Version int64
	// Now is the store's clock.
	Now time.Time
}

// InterruptFilter selects interrupts; empty fields select all.
type InterruptFilter struct {
	SessionID string
	RunID     string
	Status    contracts.InterruptStatus
	Types     []contracts.InterruptType
	Limit     int
}

// Outcomes stores what was observed of a write. It does not check the lease.
type Outcomes interface {
	// RecordOutcome stores the first observation of a nonce and wakes the run. A later one is
	// dropped and reported as false.
	RecordOutcome(ctx context.Context, nonce string, o Outcome) (bool, error)
	// RecordOperation stores the operation id of a write that was accepted.
	RecordOperation(ctx context.Context, nonce, operation string) error
}

// Locks are resource keys that nodes hold across runs.
type Locks interface {
	// AcquireLocks takes all keys for the node or none. If it takes none, it registers the run as a
	// waiter and returns the holder of the first key. Keys that the node already holds are granted
	// again. Like a commit it fails with lease_lost.
	AcquireLocks(ctx context.Context, l Lease, nodeID string, keys []string) (LockHolder, bool, error)
	// Locks lists the held locks by key.
	Locks(ctx context.Context, p contracts.Page) (contracts.List[LockHolder], error)
	// BreakLock releases a key by force and wakes its waiters. In the same transaction it appends
	// LockBroken to the ledger of LockChain.
	BreakLock(ctx context.Context, key, by string) (LockHolder, error)
}

// LockHolder is one held lock.
type LockHolder struct {
	Key     string    `json:"key"`
	RunID   string    `json:"run_id"`
	NodeID  string    `json:"node_id"`
	Since   time.Time `json:"since"`
	Waiting []string  `json:"waiting,omitempty"`
}

// Journal reads what was committed, and applies retention.
type Journal interface {
	// Events returns a session's events with seq > after, in order.
	Events(ctx context.Context, sessionID string, after int64, limit int) ([]contracts.Event, error)
	// Ledger returns the entries of a run's chain, or of LockChain, with seq > after, in order;
	// limit 0 returns all.
	Ledger(ctx context.Context, runID string, after int64, limit int) ([]contracts.LedgerEntry, error)
	// ListRuns lists the selected runs, newest first, one page at a time.
	ListRuns(ctx context.Context, f RunFilter) (contracts.List[Run], error)
	// CountRuns counts the runs that ListRuns selects, by state.
	CountRuns(ctx context.Context, f RunFilter) (map[contracts.RunState]int, error)
	// Probe writes a small record, and fails if the store cannot be written.
	Probe(ctx context.Context) error
	// Sweep deletes what is older than its retention: expired raw data, and terminal runs that
	// finished before the given time, with their rows, events and unshared blobs. Ledger entries
	// are kept, their payloads are deleted.
	Sweep(ctx context.Context, finishedBefore time.Time) (Swept, error)
}

// RunFilter selects runs, newest first.
type RunFilter struct {
	SessionID string
	Owner     string // subject of the requester
	States    []contracts.RunState
	Before    time.Time
	// ScoreBelow selects runs with a verdict whose outcome score is lower; 0 selects
	// all.
	ScoreBelow float64
	// Held selects the runs in quarantine.
	Held bool
	// Goal selects runs whose goal contains this text (ASCII case is ignored); Domain selects runs
	// whose plan has a step of the domain.
	Goal, Domain string
	// Cursor is the Next of the page before, Limit the size of a page; 0 means all.
	Cursor string
	Limit  int
	// Brief omits the plans.
	Brief bool
}

// Swept counts what a Sweep deleted.
type Swept struct {
	Runs, Blobs, Data int
}

// Artifacts reads what is stored beside the rows of runs: contents by hash, payloads of ledger
// entries, raw outputs.
type Artifacts interface {
	// Blob returns a content by its hash; not_found if there is none.
	Blob(ctx context.Context, sha256 string) ([]byte, error)
	// Payload returns the payload of a ledger entry; not_found if it was deleted.
	Payload(ctx context.Context, e contracts.LedgerEntry) ([]byte, error)
	// NodeData returns the raw output of a node; not_found after it has expired.
	NodeData(ctx context.Context, runID, nodeID string) ([]byte, error)
}

// Invoker calls a domain: exactly one exchange, without a retry. It never returns an error; every
// outcome is a Reply.
type Invoker interface {
	Invoke(ctx context.Context, c Call) Reply
}

// Call is one exchange with a domain.
type Call struct {
	Entry      *contracts.CapabilityEntry
	Parameters map[string]any
	Context    contracts.ExecuteContext
	// SendKey also puts the key into the header. It is set only for keyed and natural writes,
	// because Go's net/http silently resends a lost POST that has that header.
	SendKey bool
	// Timeout limits this exchange.
	Timeout time.Duration
}

// Catalogs has the current catalog. Dispatch compares pinned digests with it.
type Catalogs interface {
	// Catalog returns the current catalog.
	Catalog() *contracts.Catalog
	// Refresh fetches the domain's manifest again, after a 404 or 412.
	Refresh(ctx context.Context, domain string) error
}

// Reviewers knows the possible approvers.
type Reviewers interface {
	// WhyNoReviewer explains why nobody can approve a gate that is about to be opened. It returns
	// "" if somebody can.
	WhyNoReviewer(ctx context.Context, i contracts.Interrupt) (string, error)
	// Revoked explains which revoked key invalidates the authorization of an action, "" if none
	// does: the key of an approval that was revoked since, or the last usable key of the owner that
	// was revoked after the last decision. gate is nil for an action without a gate.
	Revoked(ctx context.Context, owner contracts.Principal, gate *contracts.Interrupt) (string, error)
}

// Observer is notified after each commit, and after each commit with an unknown result, so that it
// can wake those that wait for the session. sessionID is "" if it is not known. It must not block.
type Observer interface {
	// Committed is called after a commit.
	Committed(sessionID, runID string)
	// Progressed is called instead of Committed if the run has only advanced: it opened no
	// interrupt and has not ended.
	Progressed(sessionID, runID string)
}
