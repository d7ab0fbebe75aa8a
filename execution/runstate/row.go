package runstate

import (
	"strconv"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Row is what is stored of one node: small, without raw output. It has a part
// that all kinds share and one for each kind that needs more; in JSON they are
// one flat object.
type Row struct {
	NodeID string `json:"node_id"`
	// Spec is set for nodes that were appended by an expansion; planned nodes
	// stand in the plan. Place is where such a node stands in the run: after the
	// planned ones, in the order in which they were appended.
	Spec  *contracts.Node     `json:"spec,omitempty"`
	Place int                 `json:"place,omitempty"`
	State contracts.NodeState `json:"state"`
	// Skip says by which rule a skipped node does not run.
	Skip Skip `json:"skip,omitempty"`
	// GateID is the interrupt that the node waits for or was approved by.
	GateID string `json:"gate_id,omitempty"`
	// NextAt is when the node is to be tried again, zero for now.
	NextAt time.Time `json:"next_at,omitzero"`
	// WaitingSince is when the present waiting began.
	WaitingSince time.Time `json:"waiting_since,omitzero"`
	// QueuedFor describes what a queued node waits for, for people.
	QueuedFor string                   `json:"queued_for,omitempty"`
	Result    *Result                  `json:"result,omitempty"`
	Error     *contracts.ToolError     `json:"error,omitempty"`
	Evidence  []contracts.EvidenceItem `json:"evidence,omitempty"`
	// Spent is what the node has used of the run's own budgets, by their names.
	Spent map[string]float64 `json:"spent,omitempty"`
	// Raised are limits of budgets that a person raised when they held the node.
	Raised     map[string]float64 `json:"raised,omitempty"`
	StartedAt  *time.Time         `json:"started_at,omitempty"`
	FinishedAt *time.Time         `json:"finished_at,omitempty"`

	CallRow
	WriteRow
	RepeatRow
	ReasonRow
}

// CallRow is the part of nodes that call a capability.
type CallRow struct {
	// Step specifies where the node stands inside its state.
	Step Step `json:"step,omitempty"`
	// Attempts counts exchanges that were sent and not answered by 429.
	Attempts int `json:"attempts,omitempty"`
	// Params are the resolved parameters, artifacts by reference.
	Params map[string]any `json:"params,omitempty"`
	// Edited replaces the planned parameters after an edit at the gate. Editors are
	// the people whose input is in what the node does or gives: who edited, chose,
	// answered or settled. They count as requesters of what rests on it.
	Edited  map[string]any `json:"edited,omitempty"`
	Editors []string       `json:"editors,omitempty"`
	// ApprovedSHA256 is the action that was approved; a fresh approval is needed
	// once it was used and the action is to be done again.
	ApprovedSHA256 string `json:"approved_sha256,omitempty"`
	// Rechecked means that the manifest was refreshed once for this node.
	Rechecked bool `json:"rechecked,omitempty"`
	// Operation is the accepted work that is being polled, AttemptAt when its
	// attempt began.
	Operation string    `json:"operation,omitempty"`
	AttemptAt time.Time `json:"attempt_at,omitzero"`
	// Input is what the call has asked of people, Progress how far its accepted work
	// has come.
	Input    *Input `json:"input,omitempty"`
	Progress string `json:"progress,omitempty"`
	// MachineMS is the time spent in exchanges, waiting not counted.
	MachineMS int64 `json:"machine_ms,omitempty"`
}

// WriteRow is the part of nodes that write.
type WriteRow struct {
	// Writes is the n of the idempotency key run/node/n, 0 before the first.
	Writes int `json:"writes,omitempty"`
	// Resent means that a believed negative reconcile used up its one resend.
	Resent bool `json:"resent,omitempty"`
	// Doubtful means that an attempt of the present write may have had an effect
	// that nobody has confirmed: whatever a repeat comes to, it is no failure.
	Doubtful bool `json:"doubtful,omitempty"`
	// Settled says of each attempt that a person settled as not applied what it was
	// and on whose word it is repeated; approvers of the repeat see it.
	Settled []string `json:"settled,omitempty"`
	// CallUntil is until when the last attempt of a write may be under way.
	CallUntil time.Time `json:"call_until,omitzero"`
	// LookupAt is when a read-back began, Tries how often it or a look-up was made.
	LookupAt time.Time         `json:"lookup_at,omitzero"`
	Tries    int               `json:"tries,omitempty"`
	Checks   []contracts.Check `json:"checks,omitempty"`
}

// RepeatRow is the part of nodes that are repeated for the items of a list.
type RepeatRow struct {
	// Expanded means that the copies were appended, however many: from then on
	// the node waits for them and ends as their join.
	Expanded bool `json:"expanded,omitempty"`
}

// ReasonRow is the part of nodes that ask a model.
type ReasonRow struct {
	// Thoughts are the calls of models that were made: whoever takes the run up
	// makes none of them again.
	Thoughts []contracts.ModelCall `json:"thoughts,omitempty"`
	// Wrong is the answer that is to be mended.
	Wrong *RejectedAnswer `json:"wrong,omitempty"`
	// Fallback explains why the fallback serves, for people.
	Fallback string `json:"fallback,omitempty"`
}

// RejectedAnswer is an answer of a model that was not valid, kept for the next call to
// repair.
type RejectedAnswer struct {
	Answer string   `json:"answer"`
	Faults []string `json:"faults"`
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
	StepInput     Step = "input"     // the call asks a person before it goes on
)

// Skip says by which rule a node does not run.
type Skip string

// The rules by which a node is skipped, in the order in which they count. Only
// the first spreads to what depends on the node.
const (
	SkipUpstreamFailed  Skip = "upstream_failed"  // something that it needs has no result
	SkipUpstreamSkipped Skip = "upstream_skipped" // nothing of what it needs completed
	SkipWhen            Skip = "when"             // its condition does not hold
)

// Result is what a node keeps of a ToolResult: no raw output.
type Result struct {
	Summary   string                 `json:"summary,omitempty"`
	Facts     map[string]any         `json:"facts,omitempty"`
	Artifacts contracts.ArtifactRefs `json:"artifacts,omitempty"`
}

// Key is the idempotency key of the present write, "" before the first.
func (r *Row) Key(runID string) string {
	if r.Writes == 0 {
		return ""
	}
	return runID + "/" + r.NodeID + "/" + strconv.Itoa(r.Writes)
}

// Awaits reports whether the state is one that waits for a person.
func Awaits(s contracts.NodeState) bool {
	return s == contracts.NodeAwaitingApproval || s == contracts.NodeAwaitingInput || s == contracts.NodeOutcomeUnknown
}
