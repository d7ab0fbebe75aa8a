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
	// DryRun runs reads and asks writes that can to pretend; no gate is opened.
	DryRun bool `json:"dry_run,omitempty"`
	// Unattended means that nobody will be there to answer: steps that ask take the
	// answer that they name for it, or fail; gates of writes open all the same.
	Unattended bool `json:"unattended,omitempty"`
	// Phase holds the request to the capabilities that may be used in it, searches
	// too.
	Phase string `json:"phase,omitempty"`
}

// SessionStatus is the one status shape of all session answers.
type SessionStatus string

// The session statuses.
const (
	SessionRunning          SessionStatus = "running"
	SessionPendingInterrupt SessionStatus = "pending_interrupt"
	SessionCompleted        SessionStatus = "completed"
	SessionError            SessionStatus = "error"
)

// SessionResponse answers every call that starts or resumes a session.
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

// Tokens counts what models used.
type Tokens = metrics.Tokens

// Cost is what one call is expected to cost.
type Cost = metrics.Cost

// Forecast is what a run will probably come to.
type Forecast = metrics.Forecast

// Answer is what people read at the end: blocks that each interface renders in its
// own way.
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
	// Sentences are those of a text that a model has worded, with what each rests on.
	Sentences []metrics.Sentence `json:"sentences,omitempty"`
}

// Column is the head of a table column.
type Column struct {
	Title string `json:"title"`
	Unit  string `json:"unit,omitempty"`
}

// NodeView is what callers see of one node of a run.
type NodeView struct {
	Node
	State NodeState `json:"state"`
	// Bound are the parameters that the call is bound to; Params are the others.
	Bound     map[string]any `json:"bound,omitempty"`
	Attempts  int            `json:"attempts"`
	Summary   string         `json:"summary,omitempty"`
	Facts     map[string]any `json:"facts,omitempty"`
	Artifacts ArtifactRefs   `json:"artifacts,omitempty"`
	Error     *ToolError     `json:"error,omitempty"`
	Checks    []Check        `json:"checks,omitempty"`
	QueuedFor string         `json:"queued_for,omitempty"`
	// Calls are those of models that the node has made, Fallback why its fallback
	// served instead of one.
	Calls      []ModelCall `json:"calls,omitempty"`
	Fallback   string      `json:"fallback,omitempty"`
	StartedAt  *time.Time  `json:"started_at,omitempty"`
	FinishedAt *time.Time  `json:"finished_at,omitempty"`
	metrics.Took
}

// ArtifactRefs is name → "sha256:…".
type ArtifactRefs map[string]string

// RunView is what callers see of a run.
type RunView struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	// TraceID is the trace that the calls of the run belong to.
	TraceID string `json:"trace_id,omitempty"`
	// TraceURL is where the site shows that trace, "" where it has not said.
	TraceURL   string      `json:"trace_url,omitempty"`
	State      RunState    `json:"state"`
	Plan       Plan        `json:"plan"`
	Nodes      []NodeView  `json:"nodes"`
	Interrupts []Interrupt `json:"interrupts,omitempty"`
	Verdict    *Verdict    `json:"verdict,omitempty"`
	Answer     *Answer     `json:"answer,omitempty"`
	// Tokens is what models used for the run so far.
	Tokens Tokens `json:"tokens"`
	// Timing is what the run took so far, people's time apart.
	Timing     metrics.Timing `json:"timing"`
	CreatedAt  time.Time      `json:"created_at"`
	UpdatedAt  time.Time      `json:"updated_at"`
	FinishedAt *time.Time     `json:"finished_at,omitempty"`
	// HeldSince is when a restored server found the run open: nobody goes on with it
	// until a person releases it.
	HeldSince *time.Time `json:"held_since,omitempty"`
}

// RunSummary is one line of a list of runs.
type RunSummary struct {
	RunID     string        `json:"run_id"`
	SessionID string        `json:"session_id"`
	Goal      string        `json:"goal"`
	State     RunState      `json:"state"`
	Verdict   VerdictStatus `json:"verdict,omitempty"`
	// Score is the outcome score, nil while there is no verdict.
	Score *float64 `json:"score,omitempty"`
	// Tokens is what models used for a run that has ended.
	Tokens Tokens `json:"tokens"`
	// HumanMS is how long the run has waited for people alone, in milliseconds.
	HumanMS    int64      `json:"human_ms"`
	Owner      string     `json:"owner"`
	Domains    []string   `json:"domains,omitempty"`
	CreatedAt  time.Time  `json:"created_at"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
	HeldSince  *time.Time `json:"held_since,omitempty"`
}

// RunCounts is how many runs are in which state; More tells that there are older
// ones, which were not counted.
type RunCounts struct {
	States map[RunState]int `json:"states"`
	Total  int              `json:"total"`
	More   bool             `json:"more,omitempty"`
}
