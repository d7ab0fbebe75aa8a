package execution

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Store is everything durable that the execution of runs needs. All methods
// are safe for concurrent use; each is one transaction. Errors carry the codes
// of contracts: not_found, conflict, lease_lost, unavailable.
type Store interface {
	Runs
	Leases
	Gates
	Outcomes
	Locks
	Journal
	Artifacts
}

// Quarantine holds runs back whose database was restored: what it has of them may
// be older than what was done.
type Quarantine interface {
	// Hold keeps everybody from every run that is open, but from those that are to
	// be cancelled, and gives up the messages that were not answered. It counts the
	// runs that were not held before.
	Hold(ctx context.Context, at time.Time) (int, error)
	// Release lets a run go on; not_found if it is not held.
	Release(ctx context.Context, runID string) error
}

// Runs creates, reads and advances runs; the owner of a run uses it.
type Runs interface {
	// CreateRun inserts a run with its nodes, first events and plan entry. With
	// an owner it is born leased until ttl from now; without, it is due at once.
	CreateRun(ctx context.Context, run Run, ttl time.Duration, first Transition) error
	LoadRun(ctx context.Context, runID string) (Snapshot, error)
	Commit(ctx context.Context, t Transition) (Committed, error)
	// ReadSignals gives every interrupt of the run, whatever its status, and its
	// intents that are not consumed.
	ReadSignals(ctx context.Context, runID string) (Signals, error)
	// RequestCancel is idempotent: the first wish is kept. It bumps wake_seq. A
	// terminal run gives conflict.
	RequestCancel(ctx context.Context, runID, by string) error
}

// Leases says who may advance a run; heartbeat and sweeper use it. All times
// are on the store's clock.
type Leases interface {
	// AcquireRun takes a run whose lease has ended and whose format is known;
	// it gives the new lease, or conflict when somebody else holds it.
	AcquireRun(ctx context.Context, runID, owner string, ttl time.Duration) (Lease, error)
	// RenewLeases extends the leases that are still (owner, epoch)'s, expired or
	// not, and returns the wake_seq of each; a run that is missing is lost.
	RenewLeases(ctx context.Context, owner string, held []Lease, ttl time.Duration) (map[string]int64, error)
	// ReleaseRun gives the lease back without parking, so that another replica
	// takes the run at once; for shutdown.
	ReleaseRun(ctx context.Context, l Lease) error
	// DueRuns lists runs that nobody holds and that can go on: lease expired and
	// (wake_seq > handled_seq, or wake_at passed, or not parked), oldest first.
	DueRuns(ctx context.Context, formats []int, limit int) ([]string, error)
	// NextWake is the earliest wake_at of a parked run, zero if there is none.
	NextWake(ctx context.Context) (time.Time, error)
}

// Gates are the open questions of runs and sessions; deciding uses it.
type Gates interface {
	// InterruptAt gives one interrupt with what is needed to change it.
	InterruptAt(ctx context.Context, id string) (InterruptAt, error)
	// InterruptByCode finds the open interrupt of a code, any case.
	InterruptByCode(ctx context.Context, code string) (contracts.Interrupt, error)
	Interrupts(ctx context.Context, f InterruptFilter) ([]contracts.Interrupt, error)
	// SaveInterrupt replaces an open interrupt that is still at the version that
	// was read, wakes its run, and returns the interrupt as it is stored. It stays
	// with its run and session. Conflict says that it was changed since.
	SaveInterrupt(ctx context.Context, i InterruptAt) (contracts.Interrupt, error)
	// OpenInterrupt inserts a question that belongs to no run, such as a
	// clarification before there is a plan.
	OpenInterrupt(ctx context.Context, i contracts.Interrupt, e contracts.Event) error
}

// InterruptAt is an interrupt as it was read at one moment.
type InterruptAt struct {
	contracts.Interrupt

	// Version counts its changes.
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

// Outcomes keeps what was observed of a write, whatever the lease says.
type Outcomes interface {
	// RecordOutcome stores the first observation of a nonce and wakes the run;
	// a later one is dropped and reported as false.
	RecordOutcome(ctx context.Context, nonce string, o Outcome) (bool, error)
	// RecordOperation stores the id of accepted work.
	RecordOperation(ctx context.Context, nonce, operation string) error
}

// Locks are resource keys held by nodes across runs.
type Locks interface {
	// AcquireLocks takes all keys for the node, or none: then it registers the
	// run as a waiter and returns who holds the first. Taking again what the node
	// holds succeeds. It is refused with lease_lost like a commit.
	AcquireLocks(ctx context.Context, l Lease, nodeID string, keys []string) (LockHolder, bool, error)
	// Locks lists what is held, by key.
	Locks(ctx context.Context, p contracts.Page) (contracts.List[LockHolder], error)
	// BreakLock frees a key by force and wakes its waiters. In the same
	// transaction it appends LockBroken to the ledger of LockChain.
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

// Journal reads what was committed.
type Journal interface {
	// Events returns a session's events with seq > after, in order.
	Events(ctx context.Context, sessionID string, after int64, limit int) ([]contracts.Event, error)
	// Ledger gives the entries of a run's chain, or of LockChain, with seq >
	// after, in order; limit 0 gives all.
	Ledger(ctx context.Context, runID string, after int64, limit int) ([]contracts.LedgerEntry, error)
	ListRuns(ctx context.Context, f RunFilter) (contracts.List[Run], error)
	// CountRuns counts the runs that ListRuns gives, by state.
	CountRuns(ctx context.Context, f RunFilter) (map[contracts.RunState]int, error)
	// Probe writes a little, and fails when nothing can be written.
	Probe(ctx context.Context) error
	// Sweep deletes what retention no longer keeps: raw data past its time, and
	// terminal runs (rows, events, blobs that nothing else names) that finished
	// before the given time. Ledger entries stay, their payloads go.
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
	// Goal selects runs whose goal has this text, whatever the case of its ASCII
	// letters; Domain those whose plan has a step of the domain.
	Goal, Domain string
	// Cursor is the Replan of the page before, Limit the size of a page; 0 is all.
	Cursor string
	Limit  int
	// Brief leaves the plans out.
	Brief bool
}

// Swept counts what a Sweep deleted.
type Swept struct {
	Runs, Blobs, Data int
}

// Artifacts are what is stored beside the rows of runs: contents by hash, payloads of
// ledger entries, raw outputs.
type Artifacts interface {
	Blob(ctx context.Context, sha256 string) ([]byte, error)
	// Payload gives the payload of a ledger entry; not_found once it was deleted.
	Payload(ctx context.Context, e contracts.LedgerEntry) ([]byte, error)
	NodeData(ctx context.Context, runID, nodeID string) ([]byte, error)
}

// Invoker calls a domain: exactly one exchange, no retry of its own. It never
// returns an error; everything that can happen is a Reply.
type Invoker interface {
	Invoke(ctx context.Context, c Call) Reply
}

// Call is one exchange with a domain.
type Call struct {
	Entry      *contracts.CapabilityEntry
	Parameters map[string]any
	Context    contracts.ExecuteContext
	// SendKey puts the key into the header too: only for keyed and natural
	// writes, because Go's net/http silently replays a lost POST that has it.
	SendKey bool
	// Timeout bounds this exchange.
	Timeout time.Duration
}

// Catalogs gives the present catalog; dispatch compares pinned digests with it.
type Catalogs interface {
	Catalog() *contracts.Catalog
	// Refresh asks for the domain's manifest again, after a 404 or 412.
	Refresh(ctx context.Context, domain string) error
}

// Reviewers knows who there is to approve.
type Reviewers interface {
	// WhyNoReviewer reports why nobody can approve a gate that is about to be opened, "" if
	// somebody can.
	WhyNoReviewer(ctx context.Context, i contracts.Interrupt) (string, error)
	// Revoked reports which key was revoked that an approved action rests on: of who
	// approved it, or all of who asked and nobody approved it since; "" is none. The
	// gate is nil for what needed none.
	Revoked(ctx context.Context, owner contracts.Principal, gate *contracts.Interrupt) (string, error)
}

// Observer is told after each commit, and after each that may have been one, that
// something changed, to wake those who wait for a session, "" for one that is not
// known; it must not block.
type Observer interface {
	Committed(sessionID, runID string)
	// Progressed is Committed where the run goes on as before: it has asked nobody and
	// has not ended.
	Progressed(sessionID, runID string)
}
