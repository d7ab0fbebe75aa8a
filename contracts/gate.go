package contracts

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// InterruptType is the kind of an interrupt of a run or a turn.
type InterruptType string

// The types of interrupts.
const (
	InterruptClarification     InterruptType = "clarification"
	InterruptCredentialCheck   InterruptType = "credential_check"
	InterruptSelectTarget      InterruptType = "select_target"
	InterruptPlanApproval      InterruptType = "plan_approval"
	InterruptResultReview      InterruptType = "result_review"
	InterruptBudgetExceeded    InterruptType = "budget_exceeded"
	InterruptWriteApproval     InterruptType = "write_approval"
	InterruptOutcomeUnknown    InterruptType = "outcome_unknown"
	InterruptCapabilityChanged InterruptType = "capability_changed"
	InterruptRunUnreadable     InterruptType = "run_unreadable"
)

// IsGate reports whether interrupts of the type approve an action. Gates are decided by holders
// of the roles in the policy. All other interrupts are questions.
func (t InterruptType) IsGate() bool { return t == InterruptWriteApproval }

// Expires reports whether interrupts of the type have an expiry time.
func (t InterruptType) Expires() bool { return t.IsGate() || t == InterruptPlanApproval }

// InterruptStatus is the status of an interrupt.
type InterruptStatus string

// The statuses. All except open are final.
const (
	InterruptOpen       InterruptStatus = "open"
	InterruptApproved   InterruptStatus = "approved"
	InterruptRejected   InterruptStatus = "rejected"
	InterruptAnswered   InterruptStatus = "answered"
	InterruptExpired    InterruptStatus = "expired"
	InterruptSuperseded InterruptStatus = "superseded"
)

// Interrupt is a question to a person. A gate is an interrupt of type write_approval. All
// interrupts share one table, one id space and one decision function.
type Interrupt struct {
	InterruptID string `json:"interrupt_id"`
	// Code is a short code that people type. It identifies the gate and its hash.
	Code      string          `json:"code"`
	Type      InterruptType   `json:"type"`
	Status    InterruptStatus `json:"status"`
	SessionID string          `json:"session_id"`
	RunID     string          `json:"run_id,omitempty"`
	NodeID    string          `json:"node_id,omitempty"`
	BranchID  string          `json:"branch_id,omitempty"`
	ToolName  string          `json:"tool_name,omitempty"`
	RiskLevel RiskLevel       `json:"risk_level,omitempty"`
	// Reason is the policy rule that requires the approval.
	Reason         string            `json:"reason,omitempty"`
	Prompt         string            `json:"prompt"`
	Options        []InterruptOption `json:"options,omitempty"`
	ResponseSchema map[string]any    `json:"response_schema,omitempty"`

	// Workflow is the workflow that asks. Answers are the answers that it allows now. Value is
	// the value to approve or edit, and Show is the context of the question. ActionSHA256 is then
	// the hash of what is shown.
	Workflow string         `json:"workflow,omitempty"`
	Answers  []string       `json:"answers,omitempty"`
	Value    any            `json:"value,omitempty"`
	Show     map[string]any `json:"show,omitempty"`

	// Action is the call to approve. ActionSHA256 is its hash.
	Action       *Action           `json:"action,omitempty"`
	ActionSHA256 string            `json:"action_sha256,omitempty"`
	Evidence     []EvidenceItem    `json:"evidence,omitempty"`
	Difference   []FieldDifference `json:"difference,omitempty"`
	// AfterReading names the domain answers that a model had read when it proposed the action. It
	// is empty if the proposal was based on the request alone.
	AfterReading []string `json:"after_reading,omitempty"`

	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// Requesters are the people who asked for the action and everyone whose input is in its
	// values, edits or settlement. Initiator is the one who started it, at RequestedAt. Roles
	// granted to a person after RequestedAt do not make that person a second approver.
	Requesters  []string   `json:"requesters,omitempty"`
	Initiator   string     `json:"initiator,omitempty"`
	RequestedAt *time.Time `json:"requested_at,omitempty"`
	Quorum      int        `json:"quorum,omitempty"`
	Roles       []string   `json:"roles,omitempty"`
	// Reviewers, if set, are the only role holders who may approve. DecidableAt is the earliest
	// time of an approval. Reviewers are reminded every RemindS seconds, and EscalateTo is
	// notified at EscalateAt.
	Reviewers   []string   `json:"reviewers,omitempty"`
	DecidableAt *time.Time `json:"decidable_at,omitempty"`
	RemindS     int        `json:"remind_s,omitempty"`
	EscalateAt  *time.Time `json:"escalate_at,omitempty"`
	EscalateTo  []string   `json:"escalate_to,omitempty"`
	// Review is the rule for a second person, FourEyes that two people are needed. Gates that
	// were opened before Review existed have only FourEyes.
	Review   Eyes `json:"review,omitempty"`
	FourEyes bool `json:"four_eyes,omitempty"`
	// Warning is shown before a decision or an answer: that nobody can approve this, or that the
	// answering person cannot approve the resulting action.
	Warning   string             `json:"warning,omitempty"`
	Decisions []InterruptDecided `json:"decisions,omitempty"`
	// Response is the answer to an answered interrupt.
	Response any `json:"response,omitempty"`
}

// Label returns the label of the option by which the string value of an action parameter was
// chosen, or "" if it was not chosen from a list. It is read from the evidence, which the
// approver sees.
func (i *Interrupt) Label(parameter string) string {
	value, ok := i.Action.Sent()[parameter].(string)
	if !ok || value == "" {
		return ""
	}
	for _, chosen := range i.Evidence {
		step, ok := strings.CutSuffix(chosen.Path, ".value")
		if !ok || chosen.Value != value {
			continue
		}
		for _, e := range i.Evidence {
			if label, ok := e.Value.(string); ok && e.Path == step+".label" {
				return label
			}
		}
	}
	return ""
}

// InterruptOption is one option of a question.
type InterruptOption struct {
	ID     string `json:"id"`
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
	// Value is the value of the option. If it is absent, the value is the id.
	Value any `json:"value,omitempty"`
}

// InterruptDecided is one decision on an interrupt.
type InterruptDecided struct {
	Decision     Decision       `json:"decision"`
	DecidedBy    string         `json:"decided_by"`
	DecidedAt    time.Time      `json:"decided_at"`
	Comment      string         `json:"comment,omitempty"`
	EditedParams map[string]any `json:"edited_params,omitempty"`
	ActionSHA256 string         `json:"action_sha256,omitempty"`
	// Via is the interface of the decision, if it was not the API itself. KeyID is the API key,
	// From the network address.
	Via   string `json:"via,omitempty"`
	KeyID string `json:"key_id,omitempty"`
	From  string `json:"from,omitempty"`
	// Relation is the relation of the decider to the action. It is set if the approver is a
	// requester of the action.
	Relation DeciderRelation `json:"stands,omitempty"`
}

// DeciderRelation is the relation of a decider to an action.
type DeciderRelation string

// The relations of a decider.
const (
	RelationInitiator   DeciderRelation = "initiator"   // started the request
	RelationContributor DeciderRelation = "contributor" // contributed input to the action
)

// Eyes is the rule for who counts as a second person.
type Eyes string

// The rules. Without one, the requester may approve.
const (
	// EyesTwoPersons: two people approve the same action, one of them the initiator.
	EyesTwoPersons Eyes = "two_persons"
	// EyesFour: the approver contributed nothing to the action.
	EyesFour Eyes = "four_eyes"
	// EyesStrict: the approver contributed nothing to the whole run.
	EyesStrict Eyes = "strict"
	// EyesOwn: the site allows the initiator to approve alone an action that uses their own login
	// in another system.
	EyesOwn Eyes = "own_authority"
)

// Rank orders the rules by strictness. EyesOwn ranks lowest, because it requires no second
// person.
func (e Eyes) Rank() int {
	return 1 + slices.Index([]Eyes{EyesTwoPersons, EyesFour, EyesStrict}, e)
}

// Eyes returns the rule of a gate.
func (i *Interrupt) Eyes() Eyes {
	if i.Review == "" && i.FourEyes {
		return EyesFour
	}
	return i.Review
}

// Decision is a person's decision on an interrupt.
type Decision string

// The decisions.
const (
	DecisionApprove Decision = "approve"
	DecisionReject  Decision = "reject"
	DecisionEdit    Decision = "edit"
	DecisionAnswer  Decision = "answer"
)

// Resume is the request body of POST /v1/gates/{id}/decision and of POST
// /v1/sessions/{id}/resume: a decision for gates, a response for all other interrupts.
type Resume struct {
	InterruptID  string         `json:"interrupt_id,omitempty"`
	Decision     Decision       `json:"decision,omitempty"`
	ActionSHA256 string         `json:"action_sha256,omitempty"`
	EditedParams map[string]any `json:"edited_params,omitempty"`
	Comment      string         `json:"comment,omitempty"`
	Response     any            `json:"response,omitempty"`
}

// Action is the call that an approval is bound to by its hash, action_sha256.
type Action struct {
	Capability       string `json:"capability"`
	CapabilityDigest string `json:"capability_digest"`
	Instance         string `json:"instance"`
	OnBehalfOf       string `json:"on_behalf_of"`
	// Parameters are the requested parameters, resolved. Bound are further parameters that a
	// lookup binds the call to, such as the version of the object.
	Parameters map[string]any `json:"parameters"`
	Bound      map[string]any `json:"bound,omitempty"`
	Evidence   []EvidenceItem `json:"evidence"`
	Policy     Policy         `json:"policy"`
	// Utterance is the annotated source text. Actions of Format 1 have none, so that their hashes
	// stay the same.
	Utterance *Utterance `json:"said,omitempty"`
	// AfterReading names the domain answers that a model had read when it proposed the action.
	AfterReading []string `json:"after_reading,omitempty"`
}

// Sent returns all parameters of the call: the requested ones and the bound ones.
func (a *Action) Sent() map[string]any { return a.Edit(a.Parameters) }

// Edit returns the parameters of the call after an edit. Bound parameters that the edit does not
// set keep their values.
func (a *Action) Edit(edited map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, a.Bound)
	maps.Copy(out, edited)
	return out
}

// EvidenceItem is one value that the expressions of an action read.
type EvidenceItem struct {
	NodeID string `json:"node_id"`
	Path   string `json:"path"`
	Value  any    `json:"value"`
}

// EvidenceSettlement is the path of the evidence for the outcome of an earlier attempt and the
// person who settled it.
const EvidenceSettlement = "settlement"

// EvidenceShown is the path prefix of values that a workflow shows beside the parameters of a
// write. The name of the value follows.
const EvidenceShown = "show."

// FieldDifference is one difference between a new gate and the previous one.
type FieldDifference struct {
	Pointer string `json:"pointer"`
	Before  any    `json:"before,omitempty"`
	After   any    `json:"after,omitempty"`
}

// The answers to an outcome_unknown interrupt.
const (
	AnswerApplied      = "applied"
	AnswerNotApplied   = "not_applied"
	AnswerRepeatLookup = "look_again"
)

// The answers to a capability_changed interrupt.
const (
	AnswerRetry      = "retry"
	AnswerCancelNode = "cancel_node"
)

// AnswerGiveUp ends a run that cannot be read; AnswerRetry tries again.
const AnswerGiveUp = "give_up"
