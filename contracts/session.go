package contracts

import (
	"time"

	"github.com/manifold-run/manifold/contracts/metrics"
)

// StartSession is the body of POST /v1/sessions.
type StartSession struct {
	Message    string                    `json:"message"`
	Name       string                    `json:"name,omitempty"`
	WebhookURL string                    `json:"webhook_url,omitempty"`
	Instances  map[string]string         `json:"instances,omitempty"`
	Options    map[string]map[string]any `json:"options,omitempty"`
	Budgets    *Budgets                  `json:"budgets,omitempty"`
	// DryRun executes reads, and writes that support it as dry runs. No gate is opened.
	DryRun bool `json:"dry_run,omitempty"`
	// Unattended means that no person is available to answer. A step that would ask takes its
	// configured unattended answer, or fails. Gates of writes are opened nevertheless.
	Unattended bool `json:"unattended,omitempty"`
	// Phase restricts the request, including its searches, to the capabilities of that phase.
	Phase string `json:"phase,omitempty"`
}

// SessionStatus is the status in all session responses.
type SessionStatus string

// The session statuses.
const (
	SessionRunning          SessionStatus = "running"
	SessionPendingInterrupt SessionStatus = "pending_interrupt"
	SessionCompleted        SessionStatus = "completed"
	SessionError            SessionStatus = "error"
)

// SessionResponse is the response to every call that starts or resumes a session.
type SessionResponse struct {
	SessionID  string        `json:"session_id"`
	Name       string        `json:"name,omitempty"`
	Status     SessionStatus `json:"status"`
	Interrupts []Interrupt   `json:"interrupts"`
	// Interrupt is the first of Interrupts.
	Interrupt *Interrupt `json:"interrupt,omitempty"`
	Answer    *Answer    `json:"answer,omitempty"`
	Tokens    Tokens     `json:"tokens"`
	RunIDs    []string   `json:"run_ids"`
	CreatedAt time.Time  `json:"created_at,omitzero"`
	UpdatedAt time.Time  `json:"updated_at,omitzero"`
}

// Tokens counts the tokens that models used.
type Tokens = metrics.Tokens

// Cost is what one call is expected to cost.
type Cost = metrics.Cost

// Forecast is the estimated duration and usage of a run.
type Forecast = metrics.Forecast

// Answer is the final result for people. Each interface renders its blocks in its own way.
type Answer struct {
	Blocks  []Block  `json:"blocks"`
	Verdict *Verdict `json:"verdict,omitempty"`
}

// BlockKind is the kind of a block.
type BlockKind string

// The block kinds.
const (
	BlockText  BlockKind = "text"
	BlockTable BlockKind = "table"
	BlockNote  BlockKind = "note"
	BlockError BlockKind = "error"
	BlockList  BlockKind = "list"
)

// Block is one part of an answer. All texts are plain text, never markup.
type Block struct {
	Kind  BlockKind `json:"kind"`
	Title string    `json:"title,omitempty"`
	Text  string    `json:"text,omitempty"`
	// Items are the lines of a list.
	Items   []string `json:"items,omitempty"`
	Columns []Column `json:"columns,omitempty"`
	Rows    [][]any  `json:"rows,omitempty"`
	// Sentences are the sentences of a text worded by a model, with the nodes that support each.
	Sentences []metrics.Sentence `json:"sentences,omitempty"`
}

// Column is the head of a table column.
type Column struct {
	Title string `json:"title"`
	Unit  string `json:"unit,omitempty"`
}

// NodeView is a node of a run as callers see it.
type NodeView struct {
	Node
	State NodeState `json:"state"`
	// Bound are the parameters that the call is bound to. Params are the others.
	Bound     map[string]any `json:"bound,omitempty"`
	Attempts  int            `json:"attempts"`
	Summary   string         `json:"summary,omitempty"`
	Facts     map[string]any `json:"facts,omitempty"`
	Artifacts ArtifactRefs   `json:"artifacts,omitempty"`
	Error     *ToolError     `json:"error,omitempty"`
	Checks    []Check        `json:"checks,omitempty"`
	QueuedFor string         `json:"queued_for,omitempty"`
	// Calls are the model calls of the node. Fallback is the reason why its fallback was used
	// instead of a model.
	Calls      []ModelCall `json:"calls,omitempty"`
	Fallback   string      `json:"fallback,omitempty"`
	StartedAt  *time.Time  `json:"started_at,omitempty"`
	FinishedAt *time.Time  `json:"finished_at,omitempty"`
	metrics.Took
}

// ArtifactRefs maps names to references "sha256:…".
type ArtifactRefs map[string]string

// RunView is a run as callers see it.
type RunView struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	// TraceID is the trace of the calls of the run.
	TraceID string `json:"trace_id,omitempty"`
	// TraceURL is the site's page for that trace, or "" if none is configured.
	TraceURL   string      `json:"trace_url,omitempty"`
	State      RunState    `json:"state"`
	Plan       Plan        `json:"plan"`
	Nodes      []NodeView  `json:"nodes"`
	Interrupts []Interrupt `json:"interrupts,omitempty"`
	Verdict    *Verdict    `json:"verdict,omitempty"`
	Answer     *Answer     `json:"answer,omitempty"`
	// Tokens is the model usage of the run so far.
	Tokens Tokens `json:"tokens"`
	// Timing is the duration of the run so far, with human time separated.
	Timing     metrics.Timing `json:"timing"`
	CreatedAt  time.Time      `json:"created_at"`
	UpdatedAt  time.Time      `json:"updated_at"`
	FinishedAt *time.Time     `json:"finished_at,omitempty"`
	// HeldSince is when a restored server found the run open. The run does not continue until a
	// person releases it.
	HeldSince *time.Time `json:"held_since,omitempty"`
}

// RunSummary is one entry of a list of runs.
type RunSummary struct {
	RunID     string        `json:"run_id"`
	SessionID string        `json:"session_id"`
	Goal      string        `json:"goal"`
	State     RunState      `json:"state"`
	Verdict   VerdictStatus `json:"verdict,omitempty"`
	// Score is the outcome score, nil if there is no verdict.
	Score *float64 `json:"score,omitempty"`
	// Tokens is the model usage of a run that has ended.
	Tokens Tokens `json:"tokens"`
	// HumanMS is how long the run has waited only for people, in milliseconds.
	HumanMS    int64      `json:"human_ms"`
	Owner      string     `json:"owner"`
	Domains    []string   `json:"domains,omitempty"`
	CreatedAt  time.Time  `json:"created_at"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
	HeldSince  *time.Time `json:"held_since,omitempty"`
}

// RunCounts is the number of runs by state. More means that there are older runs that were not
// counted.
type RunCounts struct {
	States map[RunState]int `json:"states"`
	Total  int              `json:"total"`
	More   bool             `json:"more,omitempty"`
}
