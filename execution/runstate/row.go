package runstate

import (
	"strconv"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Row is the stored state of one node, without raw output. It has a part that all kinds share, and
// one for each kind that needs more. In JSON it is one flat object.
type Row struct {
	NodeID string `json:"node_id"`
	// Spec is set for nodes that were appended by an expansion; planned nodes are in the plan.
	// Place is the index of such a node in the run: after the planned ones, in the order in which
	// they were appended.
	Spec  *contracts.Node     `json:"spec,omitempty"`
	Place int                 `json:"place,omitempty"`
	State contracts.NodeState `json:"state"`
	// Skip is the rule by which the node was skipped.
	Skip Skip `json:"skip,omitempty"`
	// GateID is the interrupt that the node waits for or was approved by.
	GateID string `json:"gate_id,omitempty"`
	// NextAt is the time of the next try, zero for now.
	NextAt time.Time `json:"next_at,omitzero"`
	// WaitingSince is when the current wait began.
	WaitingSince time.Time `json:"waiting_since,omitzero"`
	// QueuedFor explains to people what a queued node waits for.
	QueuedFor string                   `json:"queued_for,omitempty"`
	Result    *Result                  `json:"result,omitempty"`
	Error     *contracts.ToolError     `json:"error,omitempty"`
	Evidence  []contracts.EvidenceItem `json:"evidence,omitempty"`
	// Spent is what the node has used of the run's own budgets, by name.
	Spent map[string]float64 `json:"spent,omitempty"`
	// Raised are budget limits that a person raised when they stopped the node.
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
	// Step is the current step within the node's state.
	Step Step `json:"step,omitempty"`
	// Attempts counts the exchanges that were sent and not answered by 429.
	Attempts int `json:"attempts,omitempty"`
	// Params are the resolved parameters, with artifacts by reference.
	Params map[string]any `json:"params,omitempty"`
	// Edited replaces the planned parameters after an edit at the gate. Editors are the people
	// whose input the node uses, because they edited, chose, answered or settled. They count as
	// requesters of writes that depend on it.
	Edited  map[string]any `json:"edited,omitempty"`
	Editors []string       `json:"editors,omitempty"`
	// ApprovedSHA256 is the hash of the approved action. After it was used, a repeat of the action
	// needs a new approval.
	ApprovedSHA256 string `json:"approved_sha256,omitempty"`
	// Rechecked means that the manifest was refreshed once for this node.
	Rechecked bool `json:"rechecked,omitempty"`
	// Operation is the accepted work that is being polled; AttemptAt is when its attempt began.
	Operation string    `json:"operation,omitempty"`
	AttemptAt time.Time `json:"attempt_at,omitzero"`
	// Input is what the call has asked people; Progress is the progress of its accepted work.
	Input    *Input `json:"input,omitempty"`
	Progress string `json:"progress,omitempty"`
	// MachineMS is the time spent in exchanges, without waits.
	MachineMS int64 `json:"machine_ms,omitempty"`
}

// WriteRow is the part of nodes that write.
type WriteRow struct {
	// Writes is the n of the idempotency key run/node/n, 0 before the first.
	Writes int `json:"writes,omitempty"`
	// Resent means that the one resend after a negative reconcile is used up.
	Resent bool `json:"resent,omitempty"`
	// Doubtful means that an attempt of the current write may have had an effect that is not
	// confirmed. Then a failed repeat does not mean that the write failed.
	Doubtful bool `json:"doubtful,omitempty"`
	// Settled describes each attempt that a person settled as not applied, and who settled it.
	// Approvers of the repeat see it.
	Settled []string `json:"settled,omitempty"`
	// CallUntil is the latest time at which the last attempt of a write may be in flight.
	CallUntil time.Time `json:"call_until,omitzero"`
	// LookupAt is when a read-back began; Tries counts its attempts, or those of a look-up.
	LookupAt time.Time         `json:"lookup_at,omitzero"`
	Tries    int               `json:"tries,omitempty"`
	Checks   []contracts.Check `json:"checks,omitempty"`
}

// RepeatRow is the part of nodes that are repeated for the items of a list.
type RepeatRow struct {
	// Expanded means that the copies were appended, even if there are none. From then on the node
	// waits for them and ends as their join.
	Expanded bool `json:"expanded,omitempty"`
}

// ReasonRow is the part of nodes that ask a model.
type ReasonRow struct {
	// Thoughts are the model calls that were made. A new owner does not repeat them.
	Thoughts []contracts.ModelCall `json:"thoughts,omitempty"`
	// Wrong is the answer to be repaired.
	Wrong *RejectedAnswer `json:"wrong,omitempty"`
	// Fallback explains to people why the fallback is used.
	Fallback string `json:"fallback,omitempty"`
}

// RejectedAnswer is an invalid answer of a model, stored so that the next call can repair it.
type RejectedAnswer struct {
	Answer string   `json:"answer"`
	Faults []string `json:"faults"`
}

// Step is the current step of a tool node within its state.
type Step string

// The steps of a tool node.
const (
	StepNone      Step = ""
	StepGate      Step = "gate"      // an approval is open
	StepApproved  Step = "approved"  // approved, not yet sent
	StepSent      Step = "sent"      // an intent is committed
	StepReconcile Step = "reconcile" // the outcome is unknown and is looked up
	StepUnknown   Step = "unknown"   // a person must settle it
	StepVerify    Step = "verify"    // applied, being read back
	StepChanged   Step = "changed"   // the capability is missing; a person decides
	StepInput     Step = "input"     // the call asks a person before it continues
)

// Skip is the rule by which a node was skipped.
type Skip string

// The rules by which a node is skipped, by priority. Only the first spreads to dependent nodes.
const (
	SkipUpstreamFailed  Skip = "upstream_failed"  // a node that it depends on has no result
	SkipUpstreamSkipped Skip = "upstream_skipped" // none of the nodes that it depends on completed
	SkipWhen            Skip = "when"             // its condition does not hold
)

// Result is what is stored of a ToolResult, without raw output.
type Result struct {
	Summary   string                 `json:"summary,omitempty"`
	Facts     map[string]any         `json:"facts,omitempty"`
	Artifacts contracts.ArtifactRefs `json:"artifacts,omitempty"`
}

// Key returns the idempotency key of the current write, "" before the first.
func (r *Row) Key(runID string) string {
	if r.Writes == 0 {
		return ""
	}
	return runID + "/" + r.NodeID + "/" + strconv.Itoa(r.Writes)
}

// Awaits reports whether a node in the state waits for a person.
func Awaits(s contracts.NodeState) bool {
	return s == contracts.NodeAwaitingApproval || s == contracts.NodeAwaitingInput || s == contracts.NodeOutcomeUnknown
}
