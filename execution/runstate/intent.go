package runstate

import (
	"encoding/json"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Intent is the durable announcement of a write. A resend is built from this row alone.
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
	// Nonce lets the sender of the call record the outcome even if the lease was lost.
	Nonce     string
	Operation string
	// Outcome is the first observation, nil if there is none.
	Outcome *Outcome
	// Consumed reports whether the lease holder has settled the intent in the ledger.
	Consumed bool
}

// Outcome is one observation of a call.
type Outcome struct {
	Kind   ReplyKind             `json:"kind"`
	Result *contracts.ToolResult `json:"result,omitempty"`
	Error  *contracts.ToolError  `json:"error,omitempty"`
	At     time.Time             `json:"at"`
	// BadAnswer lists what was dropped from the result of an applied write.
	BadAnswer []contracts.Fault `json:"bad_answer,omitempty"`
}
