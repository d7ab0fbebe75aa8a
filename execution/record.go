package execution

import (
	"encoding/json"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Format is the layout of a run's rows that this release writes. A replica
// acquires only runs whose format it knows.
const Format = 1

// Run is the row of a run.
type Run struct {
	ID        string
	SessionID string
	Format    int
	Plan      contracts.Plan
	State     contracts.RunState

	// Owner, Epoch and LeaseUntil say who may commit transitions. LeaseUntil is
	// on the store's clock; zero means that nobody holds the run.
	Owner      string
	Epoch      int64
	LeaseUntil time.Time

	// WakeSeq counts wake-ups, HandledSeq is the last one that an owner took
	// into account before it parked. WakeAt is the next timer, zero for none.
	WakeSeq    int64
	HandledSeq int64
	WakeAt     time.Time
	Parked     bool

	CancelRequestedAt *time.Time
	CancelledBy       string

	// LedgerSeq and LedgerHead are the last entry of the run's hash chain.
	LedgerSeq  int64
	LedgerHead string

	Verdict    *contracts.Verdict
	CreatedAt  time.Time
	UpdatedAt  time.Time
	FinishedAt *time.Time
}

// Lease names a held run.
type Lease struct {
	RunID string
	Owner string
	Epoch int64
}

// NodeRecord is the row of one node: small, without raw output.
type NodeRecord struct {
	NodeID string `json:"node_id"`
	// Spec is set for nodes that were appended by an expansion; planned nodes
	// stand in the plan.
	Spec  *contracts.Node     `json:"spec,omitempty"`
	State contracts.NodeState `json:"state"`
	// Step says where a tool node stands inside its state.
	Step Step `json:"step,omitempty"`
	// Attempts counts exchanges that were sent and not answered by 429.
	Attempts int `json:"attempts,omitempty"`
	// Writes is the n of the idempotency key run/node/n, 0 before the first.
	Writes int `json:"writes,omitempty"`
	// GateID is the interrupt that the node waits for or was approved by, and
	// ApprovedSHA256 the action that was approved; a fresh approval is needed
	// once it was used and the action is to be done anew.
	GateID         string `json:"gate_id,omitempty"`
	ApprovedSHA256 string `json:"approved_sha256,omitempty"`
	// Resent tells that a believed negative reconcile used up its one resend,
	// Rechecked that the manifest was refreshed once for this node.
	Resent    bool `json:"resent,omitempty"`
	Rechecked bool `json:"rechecked,omitempty"`
	// Params are the resolved parameters, artifacts by reference.
	Params map[string]any `json:"params,omitempty"`
	// Edited replaces the planned parameters after an edit at the gate.
	Edited map[string]any `json:"edited,omitempty"`
	// Editors are the people who edited; they count as requesters.
	Editors []string `json:"editors,omitempty"`
	// Doubtful tells that an attempt of the present write may have had an effect
	// that nobody has confirmed: whatever a repeat comes to, it is no failure.
	Doubtful bool `json:"doubtful,omitempty"`
	// CallUntil is until when the last attempt of a write may be under way.
	CallUntil time.Time `json:"call_until,omitzero"`
	// Operation is the accepted work that is being polled, AttemptAt when its
	// attempt began.
	Operation string    `json:"operation,omitempty"`
	AttemptAt time.Time `json:"attempt_at,omitzero"`
	// LookupAt is when a read-back began, Tries how often it or a look-up was made.
	LookupAt time.Time `json:"lookup_at,omitzero"`
	Tries    int       `json:"tries,omitempty"`
	// NextAt is when the node is to be tried again, zero for now.
	NextAt time.Time `json:"next_at,omitzero"`
	// WaitingSince is when the present waiting began.
	WaitingSince time.Time `json:"waiting_since,omitzero"`
	// QueuedFor says what a queued node waits for, for people.
	QueuedFor string                   `json:"queued_for,omitempty"`
	Result    *Result                  `json:"result,omitempty"`
	Checks    []contracts.Check        `json:"checks,omitempty"`
	Error     *contracts.ToolError     `json:"error,omitempty"`
	Evidence  []contracts.EvidenceItem `json:"evidence,omitempty"`
	// MachineMS is the time spent in exchanges, waiting not counted.
	MachineMS  int64      `json:"machine_ms,omitempty"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
}

// Step is where a tool node stands inside its state.
type Step string

// The steps of a tool node.
const (
	StepNone      Step = ""
	StepGate      Step = "gate"      // an approval is open
	StepApproved  Step = "approved"  // approved, not yet sent
	StepSent      Step = "sent"      // an intent is committed
	StepReconcile Step = "reconcile" // the outcome is unknown and looked up
	StepUnknown   Step = "unknown"   // a person must settle it
	StepVerify    Step = "verify"    // applied, being read back
	StepChanged   Step = "changed"   // the capability is gone; a person decides
)

// Result is what a node keeps of a ToolResult: no raw output.
type Result struct {
	Summary   string                 `json:"summary,omitempty"`
	Facts     map[string]any         `json:"facts,omitempty"`
	Artifacts contracts.ArtifactRefs `json:"artifacts,omitempty"`
}

// Intent is the durable announcement of a write: a resend is built from this
// row alone.
type Intent struct {
	RunID        string
	NodeID       string
	N            int
	Key          string
	ActionSHA256 string
	Capability   string
	Digest       string
	Instance     string
	Parameters   json.RawMessage
	Principal    contracts.Principal
	Phase        string
	Deadline     time.Time
	CreatedAt    time.Time
	// Nonce lets whoever sent the call record what was observed, whatever the
	// lease says by then.
	Nonce     string
	Operation string
	// Outcome is the first observation, nil while there is none.
	Outcome *Outcome
	// Consumed tells whether the lease holder has settled the intent in the ledger.
	Consumed bool
}

// Outcome is one observation of a call.
type Outcome struct {
	Kind   ReplyKind             `json:"kind"`
	Result *contracts.ToolResult `json:"result,omitempty"`
	Error  *contracts.ToolError  `json:"error,omitempty"`
	At     time.Time             `json:"at"`
	// BadAnswer lists what was dropped from the answer of an applied write.
	BadAnswer []contracts.Fault `json:"bad_answer,omitempty"`
}

// Snapshot is all that is needed to go on with a run.
type Snapshot struct {
	Run     Run
	Nodes   []NodeRecord
	Gates   []contracts.Interrupt
	Intents []Intent
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
	// Wake are other runs to wake in the same transaction.
	Wake []string
}

// The kinds of blobs.
const (
	BlobArtifact = "artifact"
	BlobLedger   = "ledger"
)

// Blob is content that is stored once by its SHA-256.
type Blob struct {
	SHA256 string
	Kind   string
	RunID  string
	Body   []byte
}

// NodeData is raw output kept for debugging until it expires.
type NodeData struct {
	RunID     string
	NodeID    string
	Body      []byte
	ExpiresAt time.Time
}

// Committed is the answer to a Transition.
type Committed struct {
	// Parked tells whether the run was parked as asked.
	Parked bool
	// WakeSeq is the run's wake_seq after the commit.
	WakeSeq int64
	// Woken are runs that can go on now, because of freed locks or Wake.
	Woken []string
}
