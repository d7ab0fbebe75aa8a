package contracts

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// InterruptType is the kind of question that a run or a turn asks.
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

// IsGate reports whether interrupts of the type approve an action: they are decided
// by those whose roles the policy names. All others are questions.
func (t InterruptType) IsGate() bool { return t == InterruptWriteApproval }

// Expires reports whether interrupts of the type end by time.
func (t InterruptType) Expires() bool { return t.IsGate() || t == InterruptPlanApproval }

// InterruptStatus is where an interrupt stands.
type InterruptStatus string

// The statuses. Everything but open is final.
const (
	InterruptOpen       InterruptStatus = "open"
	InterruptApproved   InterruptStatus = "approved"
	InterruptRejected   InterruptStatus = "rejected"
	InterruptAnswered   InterruptStatus = "answered"
	InterruptExpired    InterruptStatus = "expired"
	InterruptSuperseded InterruptStatus = "superseded"
)

// Interrupt is a question to a person. A gate is an interrupt of type
// write_approval: one table, one id space, one function that decides.
type Interrupt struct {
	InterruptID string `json:"interrupt_id"`
	// Code is short and typed by people; it stands for the gate and its hash.
	Code      string          `json:"code"`
	Type      InterruptType   `json:"type"`
	Status    InterruptStatus `json:"status"`
	SessionID string          `json:"session_id"`
	RunID     string          `json:"run_id,omitempty"`
	NodeID    string          `json:"node_id,omitempty"`
	BranchID  string          `json:"branch_id,omitempty"`
	ToolName  string          `json:"tool_name,omitempty"`
	RiskLevel RiskLevel       `json:"risk_level,omitempty"`
	// Reason is the policy rule that asks.
	Reason         string            `json:"reason,omitempty"`
	Prompt         string            `json:"prompt"`
	Options        []InterruptOption `json:"options,omitempty"`
	ResponseSchema map[string]any    `json:"response_schema,omitempty"`

	// Workflow is the workflow that asks, Answers what it allows now; Value is
	// what is approved or edited, Show what the question rests on. ActionSHA256
	// is then the hash of what is shown.
	Workflow string         `json:"workflow,omitempty"`
	Answers  []string       `json:"answers,omitempty"`
	Value    any            `json:"value,omitempty"`
	Show     map[string]any `json:"show,omitempty"`

	// Action is what will run, for the approver to read; its hash is
	// ActionSHA256.
	Action       *Action           `json:"action,omitempty"`
	ActionSHA256 string            `json:"action_sha256,omitempty"`
	Evidence     []EvidenceItem    `json:"evidence,omitempty"`
	Difference   []FieldDifference `json:"difference,omitempty"`
	// AfterReading names the answers of domains that a model had read when it
	// proposed this; empty for what was proposed by the request alone.
	AfterReading []string `json:"after_reading,omitempty"`

	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// Requesters are who asked for the action, and everybody whose input is in its
	// values, edits or settlement. Initiator is the one of them who began,
	// RequestedAt when: what was granted to somebody after that makes no second
	// person of them.
	Requesters  []string   `json:"requesters,omitempty"`
	Initiator   string     `json:"initiator,omitempty"`
	RequestedAt *time.Time `json:"requested_at,omitempty"`
	Quorum      int        `json:"quorum,omitempty"`
	Roles       []string   `json:"roles,omitempty"`
	// Reviewers are the only ones of those with a role who approve, if any are
	// named; DecidableAt is since when they can. Whoever waits is told again every
	// RemindS seconds, and those of EscalateTo at EscalateAt.
	Reviewers   []string   `json:"reviewers,omitempty"`
	DecidableAt *time.Time `json:"decidable_at,omitempty"`
	RemindS     int        `json:"remind_s,omitempty"`
	EscalateAt  *time.Time `json:"escalate_at,omitempty"`
	EscalateTo  []string   `json:"escalate_to,omitempty"`
	// Review describes how many people it takes, and which; FourEyes that it takes two.
	// Gates that were opened before there was a Review have FourEyes alone.
	Review   Eyes `json:"review,omitempty"`
	FourEyes bool `json:"four_eyes,omitempty"`
	// Warning is what whoever decides or answers should know before: that nobody
	// can approve this, or that who answers cannot approve the result of it.
	Warning   string             `json:"warning,omitempty"`
	Decisions []InterruptDecided `json:"decisions,omitempty"`
	// Response is the answer of an answered interrupt.
	Response any `json:"response,omitempty"`
}

// Label returns the words by which the value of a parameter of the action was
// chosen, "" if it was not chosen from a list. It is taken from the evidence,
// so it is what the approver is shown as such.
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

// InterruptOption is one choice.
type InterruptOption struct {
	ID     string `json:"id"`
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
	// Value is what choosing it means; absent, the id.
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
	// Via is the interface that it came through, if that was not the API itself, KeyID
	// the key and From the address.
	Via   string `json:"via,omitempty"`
	KeyID string `json:"key_id,omitempty"`
	From  string `json:"from,omitempty"`
	// Relation describes what the decider has to do with the action: an approval that has
	// it was given by a requester of the action.
	Relation DeciderRelation `json:"stands,omitempty"`
}

// DeciderRelation is the relation of a decider to an action.
type DeciderRelation string

// Who stands how.
const (
	RelationInitiator   DeciderRelation = "initiator"   // who began
	RelationContributor DeciderRelation = "contributor" // whose input is in it
)

// Eyes is the rule of who counts as a second person.
type Eyes string

// The rules. Without one, the requester may approve.
const (
	// EyesTwoPersons: two people affirm the same action, one of them the initiator.
	EyesTwoPersons Eyes = "two_persons"
	// EyesFour: who approves has put nothing into the action.
	EyesFour Eyes = "four_eyes"
	// EyesStrict: who approves has put nothing into the whole run.
	EyesStrict Eyes = "strict"
	// EyesOwn: a site lets whoever began approve alone what is done with their own login
	// in another system.
	EyesOwn Eyes = "own_authority"
)

// Rank orders the rules by strictness; one's own authority is no second person.
func (e Eyes) Rank() int {
	return 1 + slices.Index([]Eyes{EyesTwoPersons, EyesFour, EyesStrict}, e)
}

// Eyes is the rule that a gate stands under.
func (i *Interrupt) Eyes() Eyes {
	if i.Review == "" && i.FourEyes {
		return EyesFour
	}
	return i.Review
}

// Decision is what a person says to a gate.
type Decision string

// The decisions.
const (
	DecisionApprove Decision = "approve"
	DecisionReject  Decision = "reject"
	DecisionEdit    Decision = "edit"
	DecisionAnswer  Decision = "answer"
)

// Resume is the request body of POST /v1/gates/{id}/decision and of
// POST /v1/sessions/{id}/resume: a decision for gates, a response for all other interrupts.
type Resume struct {
	InterruptID  string         `json:"interrupt_id,omitempty"`
	Decision     Decision       `json:"decision,omitempty"`
	ActionSHA256 string         `json:"action_sha256,omitempty"`
	EditedParams map[string]any `json:"edited_params,omitempty"`
	Comment      string         `json:"comment,omitempty"`
	Response     any            `json:"response,omitempty"`
}

// Action is what an approval is bound to; action_sha256 is its hash.
type Action struct {
	Capability       string `json:"capability"`
	CapabilityDigest string `json:"capability_digest"`
	Instance         string `json:"instance"`
	OnBehalfOf       string `json:"on_behalf_of"`
	// Parameters are what was asked for, resolved; Bound is what a look-up binds the
	// call to beside it, such as the version of a thing that was looked at.
	Parameters map[string]any `json:"parameters"`
	Bound      map[string]any `json:"bound,omitempty"`
	Evidence   []EvidenceItem `json:"evidence"`
	Policy     Policy         `json:"policy"`
	// Utterance is the sentence and its marks. Absent in actions of Format 1, which hash
	// as they did.
	Utterance *Utterance `json:"said,omitempty"`
	// AfterReading is what a model had read when it proposed the action.
	AfterReading []string `json:"after_reading,omitempty"`
}

// Sent are all parameters of the call: those asked for, and those that it is bound
// to.
func (a *Action) Sent() map[string]any { return a.Edit(a.Parameters) }

// Edit returns the parameters of the call that an edit asks for: what it does not
// say of what the call is bound to stays.
func (a *Action) Edit(edited map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, a.Bound)
	maps.Copy(out, edited)
	return out
}

// EvidenceItem is one value that an action's expressions read.
type EvidenceItem struct {
	NodeID string `json:"node_id"`
	Path   string `json:"path"`
	Value  any    `json:"value"`
}

// EvidenceSettlement is the path of the evidence that says what an earlier attempt
// was, and who settled it how.
const EvidenceSettlement = "settlement"

// EvidenceShown begins the path of what a workflow shows beside the parameters of
// a write; the name of it follows.
const EvidenceShown = "show."

// FieldDifference is one place where a new gate differs from the one before.
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

// AnswerGiveUp ends a run that nobody can read; AnswerRetry tries once more.
const AnswerGiveUp = "give_up"
