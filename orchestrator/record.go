package orchestrator

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Session is a conversation with its settings. Its status is never stored: it
// follows from its interrupts and runs.
type Session struct {
	ID string
	// Version counts the changes; the store sets it, and refuses to save what was
	// changed since it was read.
	Version    int64
	Name       string
	Owner      contracts.Principal
	WebhookURL string
	Instances  map[string]string
	Options    map[string]map[string]any
	Budgets    contracts.Budgets
	CreatedAt  time.Time
	UpdatedAt  time.Time
	// Delivered means that the answer to the first request was written whole to
	// its sender; Repeats are the counts of repeats that were taken for it.
	Delivered bool
	Repeats   []int
}

// TurnKey identifies one user message for good: the same message sent twice is
// the same turn.
type TurnKey struct {
	// Conversation is the id of the session, or a name of its own for decisions that
	// belong to none.
	Conversation string
	// Key is the idempotency key of the message within the conversation.
	Key string
	// Model is the domain that the chat's model entry ("manifold-DOMAIN") restricts the
	// message to, "" for all domains. It is no language model.
	Model string
}

// TurnKind is what a turn is. It is stored before anything is done about it, so
// that a repeat is never taken for something else.
type TurnKind string

// The kinds of turns.
const (
	// TurnRequest asks for something to be done.
	TurnRequest TurnKind = "request"
	// TurnReply answers the question that AnsweredQuestionID names.
	TurnReply TurnKind = "answer"
	// TurnDecision approves, rejects or edits gates.
	TurnDecision TurnKind = "decision"
	// TurnCommand is any other command.
	TurnCommand TurnKind = "command"
)

// TurnOutcome is what a turn came to.
type TurnOutcome string

// The outcomes; a turn without one is on its way, or was interrupted.
const (
	TurnAnswered   TurnOutcome = "answered"
	TurnClarifying TurnOutcome = "clarifying"
	TurnRun        TurnOutcome = "run"
	// TurnRefused had no effect; Refusal says why. Its repeat is tried again.
	TurnRefused TurnOutcome = "refused"
)

// Verb is what a command asks for; the grammar of chats has them.
type Verb string

// Turn is one thing that somebody said or clicked, and the outcome of it. It is
// stored before anything it does; each step after that is a function of the turn
// and the store, and is saved only if nobody else has saved the turn since, so
// that whoever comes next finishes what a crash has interrupted.
type Turn struct {
	TurnKey

	// Version counts the changes; the store sets it.
	Version   int64
	SessionID string
	Kind      TurnKind
	// By is who said it, with the rights that they had then: a turn that was
	// interrupted is finished for them.
	By      access.Principal
	Message string
	// Fingerprint is the hash of the request: the same key with another request
	// is a conflict.
	Fingerprint string
	CreatedAt   time.Time
	// HistoryPosition is the position in the history of the chat, "" if unknown.
	HistoryPosition string `json:"Place"`
	// Trace says for the audit in which chat, and with which message, it was said.
	Trace string
	// Elsewhere means that it was said outside of its session: a gate was decided
	// from another chat.
	Elsewhere bool
	// SaidAt is when the message was sent, if that is before CreatedAt: it cancels and approves
	// nothing that came since.
	SaidAt time.Time `json:"Said"`

	Outcome TurnOutcome
	Refusal *Refusal
	// RunID is the run that the turn is about, in the session RunSession if that
	// is another than its own.
	RunID      string
	RunSession string
	Answer     *contracts.Answer

	// Command is the verb of a command or decision, Codes the gates that it names
	// or means, Notice what it was told.
	Command Verb
	Codes   []string
	Notice  string
	// News is what others had decided since the turn before; the requester is told
	// where they asked.
	News string
	// SeenGateCodes are those of Codes that the history of the chat proves to have been displayed
	// to the sender. DisplayedGates are the gates that the reply displays in full: they may be
	// approved by a word in the same chat.
	SeenGateCodes  []string        `json:"Seen"`
	DisplayedGates []DisplayedGate `json:"Shown"`
	// Gate and Resume are a decision, or an answer, that came for one gate or
	// question.
	Gate   string
	Resume *contracts.Resume
	// AnsweredQuestionID is the question that an answer belongs to, AskingTurn the turn that asked
	// it if no run did.
	AnsweredQuestionID string   `json:"Answers"`
	AskingTurn         *TurnKey `json:"Of"`

	// Understood means that Intents are settled; from there on the planner is
	// asked, never the matcher. Asked says where the answer to the open question
	// belongs, Roles and Instances are what was chosen so far.
	Understood   bool
	Intents      []contracts.Intent
	AnswerTarget *AnswerTarget `json:"Asked"`
	// Draft is a plan of several steps, in the place of Intents; More says that its results
	// are needed to know what comes next.
	Draft *contracts.Draft
	More  bool
	// Dialogue is what a model has asked about the message, with the answers.
	Dialogue []Exchange
	// Question is to be opened before the turn goes on; InterruptID is its id, as
	// long as the turn waits for the answer.
	Question    *contracts.Interrupt
	InterruptID string
	// Goal is what is asked for, where Message alone does not say it. Replaces is
	// what the request takes the place of; Undo says that it is undone first.
	Goal     string
	Replaces *Replaced
	Undo     bool
	// RedisplayedQuestionID is set if the turn only displays this question again, and
	// ParkedQuestionID if the turn leaves that question open.
	RedisplayedQuestionID string `json:"Shows"`
	ParkedQuestionID      string `json:"Parked"`
	// Topic is what help is asked about, or the number of what is to be undone.
	Topic string
	// Unused are the parts of the message that were not understood; the answer
	// names them.
	Unused []string
	// Calls are those of a model that read the message.
	Calls []contracts.ModelCall
	// Notes say what was left out of the plan, and why.
	Notes     []string
	Roles     map[string]string
	Instances map[string]string
	DryRun    bool
	// Unattended means that nobody is there to answer.
	Unattended bool
	// Phase holds the request to what may be used in it.
	Phase string
}

// DisplayedGate is a version of a gate that was displayed.
type DisplayedGate struct {
	InterruptID  string
	ActionSHA256 string
}

// Replaced is what a request takes the place of: a run, with the write of it that
// took effect, or a question before there was one.
type Replaced struct {
	RunID, NodeID string
	InterruptID   string
}

// Refusal is why a turn had no effect.
type Refusal struct {
	Code    contracts.Code
	Message string
}

// AnswerTarget is what the answer to a turn's open question sets: the capability of an
// intent, a parameter of it, a role, or the instance of a domain.
type AnswerTarget struct {
	IntentID   string `json:"intent_id,omitempty"`
	Capability bool   `json:"capability,omitempty"`
	Param      string `json:"param,omitempty"`
	Role       string `json:"role,omitempty"`
	Domain     string `json:"domain,omitempty"`
	// Done asks what to do with a request that has had its effect.
	Done bool `json:"done,omitempty"`
	// Words is the question of a model: the message is read again with the answer.
	Words string `json:"words,omitempty"`
}

// Exchange is a question with its answer.
type Exchange struct {
	Asked, Answered string
}

// Preview is a plan that was shown and may be run exactly as it is.
type Preview struct {
	PlanHash  string
	Owner     string
	Plan      contracts.Plan
	Intents   []contracts.Intent
	Draft     *contracts.Draft
	Goal      string
	ExpiresAt time.Time
}
