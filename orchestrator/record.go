package orchestrator

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// Session is a conversation with its settings. Its status is never stored: it
// follows from its interrupts and runs.
type Session struct {
	ID         string
	Name       string
	Owner      contracts.Principal
	WebhookURL string
	Instances  map[string]string
	Options    map[string]map[string]any
	Budgets    contracts.Budgets
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// TurnKey identifies one user message for good: the same message sent twice is
// the same turn.
type TurnKey struct {
	Conversation string
	Key          string
	Model        string
}

// TurnOutcome is what a turn came to.
type TurnOutcome string

// The outcomes; a turn without one was interrupted before it got there.
const (
	TurnAnswered   TurnOutcome = "answered"
	TurnClarifying TurnOutcome = "clarifying"
	TurnRun        TurnOutcome = "run"
)

// Turn is one message of a session and what became of it.
type Turn struct {
	TurnKey

	SessionID string
	Message   string
	// Fingerprint is the hash of the request: the same key with another request
	// is a conflict.
	Fingerprint string
	Outcome     TurnOutcome
	// Command is the verb of a message that was a command, Notice what it was told.
	Command chat.Verb
	Notice  string
	// Intents are kept while a clarification is open; its answer re-runs the
	// planner, never the matcher. Asked says where the answer belongs, Roles and
	// Instances are what was chosen so far.
	Intents []contracts.Intent
	Asked   *Asked
	// Unused are the parts of the message that were not understood; the answer
	// names them.
	Unused []string
	// Notes say what was left out of the plan, and why.
	Notes       []string
	Roles       map[string]string
	Instances   map[string]string
	InterruptID string
	RunID       string
	Answer      *contracts.Answer
	DryRun      bool
	CreatedAt   time.Time
}

// Asked is where the answer to a turn's open question belongs: the choice of a
// capability for an intent, a parameter of it, a role, or a domain's instance.
type Asked struct {
	IntentID   string `json:"intent_id,omitempty"`
	Capability bool   `json:"capability,omitempty"`
	Param      string `json:"param,omitempty"`
	Role       string `json:"role,omitempty"`
	Domain     string `json:"domain,omitempty"`
}

// Preview is a plan that was shown and may be run exactly as it is.
type Preview struct {
	PlanHash  string
	Owner     string
	Plan      contracts.Plan
	Intents   []contracts.Intent
	Goal      string
	ExpiresAt time.Time
}
