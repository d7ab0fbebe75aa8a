package orchestrator

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Session is a conversation with its settings. Its status is not stored: it follows from its
// interrupts and runs.
type Session struct {
	ID string
	// Version counts the changes. The store sets it, and rejects a save with an outdated one.
	Version    int64
	Name       string
	Owner      contracts.Principal
	WebhookURL string
	Instances  map[string]string
	Options    map[string]map[string]any
	Budgets    contracts.Budgets
	CreatedAt  time.Time
	UpdatedAt  time.Time
	// Delivered means that the complete answer to the first request was sent. Repeats are the
	// repeat counts of requests that were treated as repeats of it.
	Delivered bool
	Repeats   []int
}

// TurnKey permanently identifies one user message: the same message sent twice is the same turn.
type TurnKey struct {
	// Conversation is the session id, or a separate name for decisions that belong to no session.
	Conversation string
	// Key is the idempotency key of the message within the conversation.
	Key string
	// Model is the domain that the chat's model entry ("manifold-DOMAIN") restricts the message to,
	// "" for all domains. It is not a language model.
	Model string
}

// TurnKind is the kind of a turn. It is stored before the turn has any effect, so that a repeat is
// never treated as another kind.
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

// TurnOutcome is the outcome of a turn.
type TurnOutcome string

// The outcomes; a turn without one is in progress or was interrupted.
const (
	TurnAnswered   TurnOutcome = "answered"
	TurnClarifying TurnOutcome = "clarifying"
	TurnRun        TurnOutcome = "run"
	// TurnRefused had no effect; Refusal is the reason. A repeat is tried again.
	TurnRefused TurnOutcome = "refused"
)

// Verb is the verb of a command; package chat defines them.
type Verb string

// Turn is one message or click of a user, with its outcome. It is stored before it has any effect.
// Each further step depends only on the turn and the store, and is saved only if nobody else has
// saved the turn since, so that any server can finish it after a crash.
type Turn struct {
	TurnKey

	// Version counts the changes; the store sets it.
	Version   int64
	SessionID string
	Kind      TurnKind
	// By is the sender, with the rights at that time: an interrupted turn is finished with these
	// rights.
	By      access.Principal
	Message string
	// Fingerprint is the hash of the request. The same key with another fingerprint is a conflict.
	Fingerprint string
	CreatedAt   time.Time
	// HistoryPosition is the position in the history of the chat, "" if unknown.
	HistoryPosition string `json:"Place"`
	// Trace identifies the chat and the message for the audit.
	Trace string
	// Elsewhere means that it was sent from outside the session, for example a gate was decided
	// from another chat.
	Elsewhere bool
	// SaidAt is when the message was sent, if that is before CreatedAt: it must not cancel or
	// approve anything newer.
	SaidAt time.Time `json:"Said"`

	Outcome TurnOutcome
	Refusal *Refusal
	// RunID is the run that the turn is about. RunSession is that run's session if it is not the
	// session of the turn.
	RunID      string
	RunSession string
	Answer     *contracts.Answer

	// Command is the verb of a command or decision, Codes are the gates that it names or refers to,
	// Notice is the reply.
	Command Verb
	Codes   []string
	Notice  string
	// News is what others have decided since the previous turn, reported to the requester where
	// they asked.
	News string
	// SeenGateCodes are those of Codes that the history of the chat proves to have been displayed
	// to the sender. DisplayedGates are the gates that the reply displays in full: one word in the
	// same chat may approve them.
	SeenGateCodes  []string        `json:"Seen"`
	DisplayedGates []DisplayedGate `json:"Shown"`
	// Gate and Resume are a decision or answer for one gate or question.
	Gate   string
	Resume *contracts.Resume
	// AnsweredQuestionID is the question that the turn answers. AskingTurn is the turn that asked
	// it, nil if a run did.
	AnsweredQuestionID string   `json:"Answers"`
	AskingTurn         *TurnKey `json:"Of"`

	// Understood means that Intents are final: from there on the planner runs, never the matcher.
	// AnswerTarget is what the answer to the open question sets. Roles and Instances are the
	// choices made so far.
	Understood   bool
	Intents      []contracts.Intent
	AnswerTarget *AnswerTarget `json:"Asked"`
	// Draft is a plan of several steps, used instead of Intents. More means that its results are
	// needed to plan further steps.
	Draft *contracts.Draft
	More  bool
	// Dialogue has the questions that a model asked about the message, with the answers.
	Dialogue []Exchange
	// Question must be opened before the turn continues. InterruptID is its id while the turn waits
	// for the answer.
	Question    *contracts.Interrupt
	InterruptID string
	// Goal is the request, if Message alone does not state it. Replaces is what the request
	// replaces; Undo means that this is undone first.
	Goal     string
	Replaces *Replaced
	Undo     bool
	// RedisplayedQuestionID is set if the turn only displays this question again, and
	// ParkedQuestionID if the turn leaves that question open.
	RedisplayedQuestionID string `json:"Shows"`
	ParkedQuestionID      string `json:"Parked"`
	// Topic is the topic of a help command, or the number of an item to undo.
	Topic string
	// Unused are the parts of the message that were not understood; the answer names them.
	Unused []string
	// Calls are the model calls that interpreted the message.
	Calls []contracts.ModelCall
	// Notes are what was left out of the plan, with the reasons.
	Notes     []string
	Roles     map[string]string
	Instances map[string]string
	DryRun    bool
	// Unattended means that nobody is available to answer questions.
	Unattended bool
	// Phase restricts the request to the capabilities allowed in this phase.
	Phase string
}

// DisplayedGate is a version of a gate that was displayed.
type DisplayedGate struct {
	InterruptID  string
	ActionSHA256 string
}

// Replaced is what a request replaces: a run and its completed write, or a question that has no run
// yet.
type Replaced struct {
	RunID, NodeID string
	InterruptID   string
}

// Refusal is the reason why a turn had no effect.
type Refusal struct {
	Code    contracts.Code
	Message string
}

// AnswerTarget is what the answer to the turn's open question sets: the capability of an intent,
// one of its parameters, a role, or the instance of a domain.
type AnswerTarget struct {
	IntentID   string `json:"intent_id,omitempty"`
	Capability bool   `json:"capability,omitempty"`
	Param      string `json:"param,omitempty"`
	Role       string `json:"role,omitempty"`
	Domain     string `json:"domain,omitempty"`
	// Done asks what to do if the replaced request has already taken effect.
	Done bool `json:"done,omitempty"`
	// Words is a question asked by a model; the message is read again with the answer.
	Words string `json:"words,omitempty"`
}

// Exchange is a question with its answer.
type Exchange struct {
	Asked, Answered string
}

// Preview is a plan that was shown and may be run unchanged.
type Preview struct {
	PlanHash  string
	Owner     string
	Plan      contracts.Plan
	Intents   []contracts.Intent
	Draft     *contracts.Draft
	Goal      string
	ExpiresAt time.Time
}
