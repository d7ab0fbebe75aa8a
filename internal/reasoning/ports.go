package reasoning

import (
	"context"
	"encoding/json"

	"github.com/manifold-run/manifold/contracts"
)

// Engine is one model behind a vendor's wire format. It separates the rules of this package, which
// hold for all models, from the vendors' libraries. It retries what its transport may repeat (429,
// 5xx, lost connections) within the deadline of ctx, and returns an *Error for everything else.
type Engine interface {
	// Name returns the model's name for logs and display.
	Name() string
	Complete(ctx context.Context, r Request) (Reply, error)
}

// Journal records model calls, if an operator enables it.
type Journal interface {
	Keep(ctx context.Context, e Exchange) error
}

// Request is one model call.
type Request struct {
	// System holds the rules. They are the same for every call of a kind, so that a vendor can cache
	// them. Context follows them and is specific to this call.
	System, Context contracts.Compact
	Turns           []Message
	// Tools are the functions that the model may call; it is never forced to.
	Tools []Tool
	// Schema is the JSON Schema that the answer must match; nil means free text or tool calls.
	Schema          map[string]any
	MaxOutputTokens int
	// Temperature is between 0 and 2.
	Temperature float64
}

// Instructions returns System and Context, for engines that send them as one text.
func (r Request) Instructions() contracts.Compact {
	if r.Context.String() == "" {
		return r.System
	}
	return contracts.JoinCompact("\n\n", r.System, r.Context)
}

// Role is the author of a Message.
type Role string

// The roles of messages.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role Role
	Text contracts.Compact
}

// Tool is a function that a model may call. Name has at most 64 characters of A–Z, a–z, 0–9, _ and -.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON Schema of the arguments, which are an object.
	Schema map[string]any
}

// Reply is the answer of a model.
type Reply struct {
	Text  string
	Calls []ToolCall
	// Usage is zero if the server does not report it.
	Usage contracts.Tokens
	// Cut means that the answer was truncated at MaxOutputTokens.
	Cut bool
}

// ToolCall is one call that a model proposes.
type ToolCall struct {
	Name      string
	Arguments json.RawMessage
}

// Size selects one of the two configured models.
type Size string

// The sizes. If only one model is configured, it is used for both.
const (
	SizeSmall Size = "small"
	SizeLarge Size = "large"
)
