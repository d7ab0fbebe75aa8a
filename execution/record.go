package execution

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// Format is the layout of a run's rows that this release writes. A replica
// acquires only runs whose format it knows.
const Format = runstate.Format

// Aliases, so that callers of the ports need not import package model.
type (
	// Run is the row of a run.
	Run = runstate.Run
	// NodeRecord is the row of one node.
	NodeRecord = runstate.Row
	// CallRow is the part of a row of nodes that call a capability.
	CallRow = runstate.CallRow
	// WriteRow is the part of a row of nodes that write.
	WriteRow = runstate.WriteRow
	// Step is where a tool node stands inside its state.
	Step = runstate.Step
	// Result is what a node keeps of a ToolResult.
	Result = runstate.Result
	// Intent is the durable announcement of a write.
	Intent = runstate.Intent
	// Outcome is one observation of a call.
	Outcome = runstate.Outcome
	// Snapshot is all that is needed to go on with a run.
	Snapshot = runstate.Snapshot
	// Blob is content that is stored once by its SHA-256.
	Blob = runstate.Blob
	// NodeData is raw output kept for debugging until it expires.
	NodeData = runstate.NodeData
	// Reply is the outcome of one exchange.
	Reply = runstate.Reply
	// ReplyKind is what an exchange came to.
	ReplyKind = runstate.ReplyKind
	// Replayed is the result of playing a run again.
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

// Lease names a held run.
type Lease struct {
	RunID string
	Owner string
	Epoch int64
}

// Signals is what others wrote for a run: cheap to read on a wake-up.
type Signals struct {
	WakeSeq           int64
	CancelRequestedAt *time.Time
	CancelledBy       string
	Gates             []contracts.Interrupt
	Intents           []Intent
	// Now is the store's clock.
	Now time.Time
}

// Transition is one atomic step of a run. It is refused with lease_lost unless
// (Owner, Epoch) still hold the run.
type Transition struct {
	Lease Lease
	At    time.Time

	State    contracts.RunState    // "" leaves it
	Nodes    []NodeRecord          // upserted by node id
	Gates    []contracts.Interrupt // opened
	Intents  []Intent              // inserted; refused with conflict once cancel was requested
	Consume  []string              // nonces whose outcome goes into the ledger here
	Events   []contracts.Event
	Ledger   []contracts.LedgerEntry // sealed by the lease holder
	Payloads [][]byte                // of the ledger's entries, in their order; nil for an entry without one
	Blobs    []Blob
	Data     []NodeData
	Release  []string // node ids that hold and want no locks any more; the next waiters are woken
	Verdict  *contracts.Verdict
	Finished bool

	// Park gives the lease back if no wake-up came since SeenWakeSeq; else the
	// commit does everything but park and says so.
	Park        bool
	SeenWakeSeq int64
	WakeAt      time.Time
}

// Committed is the answer to a Transition.
type Committed struct {
	// Parked reports whether the run was parked as asked.
	Parked bool
	// WakeSeq is the run's wake_seq after the commit.
	WakeSeq int64
	// Woken are runs that can go on now, because of freed locks.
	Woken []string
}
