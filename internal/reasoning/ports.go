package reasoning

import (
	"context"
	"encoding/json"

	"github.com/manifold-run/manifold/contracts"
)

// Engine is one model behind a vendor's wire format. It is the seam between the
// rules of this room, which hold for all models, and the libraries of vendors.
// It retries what its transport may repeat (429, 5xx, lost connections), within
// the deadline of ctx, and returns an *Error for everything else.
type Engine interface {
	// Name is the model's name as it is logged and shown.
	Name() string
	Complete(ctx context.Context, r Request) (Reply, error)
}

// Journal records the exchanges with models, where an operator wants that.
type Journal interface {
	Keep(ctx context.Context, e Exchange) error
}

// Request is one call of a model.
type Request struct {
	// System are the rules: the same for every call of a kind, so that a vendor may keep
	// what it has read of them. Context is sent behind them, and is of this call.
	System, Context contracts.Compact
	Turns           []Message
	// Tools are what the model may call; it is never made to.
	Tools []Tool
	// Schema is the JSON Schema of the only object that is a right answer; nil
	// means free text or calls of tools.
	Schema          map[string]any
	MaxOutputTokens int
	// Temperature is in 0…2.
	Temperature float64
}

// Instructions are System and Context, for who sends them as one text.
func (r Request) Instructions() contracts.Compact {
	if r.Context.String() == "" {
		return r.System
	}
	return contracts.JoinCompact("\n\n", r.System, r.Context)
}

// Role says who speaks in a Message.
type Role string

// The roles of messages.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one turn that a model reads.
type Message struct {
	Role Role
	Text contracts.Compact
}

// Tool is something that a model may call. Name has at most 64 characters of
// A–Z, a–z, 0–9, _ and -.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON Schema of the arguments, an object.
	Schema map[string]any
}

// Reply is what a model answered.
type Reply struct {
	Text  string
	Calls []ToolCall
	// Usage is zero where the server does not say.
	Usage contracts.Tokens
	// Cut means that the answer ended at MaxOutputTokens.
	Cut bool
}

// ToolCall is one call that a model proposes.
type ToolCall struct {
	Name      string
	Arguments json.RawMessage
}

// Size chooses between the two models that may be named.
type Size string

// The sizes. Where only one model is named it serves both.
const (
	SizeSmall Size = "small"
	SizeLarge Size = "large"
)
