package execution

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// Format is the format version of the rows that this release writes. A replica acquires only runs
// whose format it knows.
const Format = runstate.Format

// Aliases, so that callers of the ports need not import package runstate.
type (
	// Run is the row of a run.
	Run = runstate.Run
	// NodeRecord is the row of one node.
	NodeRecord = runstate.Row
	// CallRow is the part of a row of nodes that call a capability.
	CallRow = runstate.CallRow
	// WriteRow is the part of a row of nodes that write.
	WriteRow = runstate.WriteRow
	// Step is the current step of a tool node within its state.
	Step = runstate.Step
	// Result is what is stored of a ToolResult.
	Result = runstate.Result
	// Intent is the durable announcement of a write.
	Intent = runstate.Intent
	// Outcome is one observation of a call.
	Outcome = runstate.Outcome
	// Snapshot has everything that is needed to resume a run.
	Snapshot = runstate.Snapshot
	// Blob is content that is stored once by its SHA-256.
	Blob = runstate.Blob
	// NodeData is raw output kept for debugging until it expires.
	NodeData = runstate.NodeData
	// Reply is the outcome of one exchange.
	Reply = runstate.Reply
	// ReplyKind is the kind of outcome of an exchange.
	ReplyKind = runstate.ReplyKind
	// Replayed is the result of replaying a run.
	Replayed = runstate.Replayed
)

// The steps, the kinds of blobs and the kinds of replies.
const (
	StepVerify = runstate.StepVerify

	BlobArtifact = runstate.BlobArtifact

	ReplyResult       = runstate.ReplyResult
	ReplyAccepted     = runstate.ReplyAccepted
	ReplyBusy         = runstate.ReplyBusy
	ReplyInvalid      = runstate.ReplyInvalid
	ReplyUnauthorized = runstate.ReplyUnauthorized
	ReplyConflict     = runstate.ReplyConflict
	ReplyChanged      = runstate.ReplyChanged
	ReplyGone         = runstate.ReplyGone
	ReplyNotSent      = runstate.ReplyNotSent
	ReplyBroken       = runstate.ReplyBroken
	ReplyRefused      = runstate.ReplyRefused
)

// Lease identifies a held run.
type Lease struct {
	RunID string
	Owner string
	Epoch int64
}

// Signals is what others wrote for a run; it is cheap to read on a wake-up.
type Signals struct {
	WakeSeq           int64
	CancelRequestedAt *time.Time
	CancelledBy       string
	Gates             []contracts.Interrupt
	Intents           []Intent
	// Now is the store's clock.
	Now time.Time
}

// Transition is one atomic step of a run. It fails with lease_lost unless (Owner, Epoch) still hold
// the run.
type Transition struct {
	Lease Lease
	At    time.Time

	State    contracts.RunState    // "" leaves it unchanged
	Nodes    []NodeRecord          // upserted by node id
	Gates    []contracts.Interrupt // opened
	Intents  []Intent              // inserted; refused with conflict once cancel was requested
	Consume  []string              // nonces whose outcome this transition puts into the ledger
	Events   []contracts.Event
	Ledger   []contracts.LedgerEntry // sealed by the lease holder
	Payloads [][]byte                // of the ledger's entries, in their order; nil for an entry without one
	Blobs    []Blob
	Data     []NodeData
	Release  []string // node ids that neither hold nor want locks any more; the next waiters are woken
	Verdict  *contracts.Verdict
	Finished bool

	// Park gives up the lease if no wake-up came since SeenWakeSeq. Otherwise the commit does
	// everything else, and Committed.Parked is false.
	Park        bool
	SeenWakeSeq int64
	WakeAt      time.Time
}

// Committed is the result of a Transition.
type Committed struct {
	// Parked reports whether the run was parked as requested.
	Parked bool
	// WakeSeq is the run's wake_seq after the commit.
	WakeSeq int64
	// Woken are runs that can be advanced now, because locks were released.
	Woken []string
}
