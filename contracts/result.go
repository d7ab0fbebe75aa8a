package contracts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// Effect is the effect of a failed write.
type Effect string

// The effects.
const (
	EffectNone    Effect = "none"
	EffectUnknown Effect = "unknown"
	EffectApplied Effect = "applied"
)

// The error types of a ToolResult. A domain may add its own as "domain.xxx".
const (
	ErrInvalidParameters = "invalid_parameters"
	ErrNotFound          = "not_found"
	ErrConflict          = "conflict"
	ErrUnauthorized      = "unauthorized"
	ErrPrecondition      = "precondition"
	ErrBudget            = "budget"
	ErrBudgetExceeded    = "budget_exceeded"
	ErrBadExpression     = "bad_expression"
	ErrNeedsPerson       = "needs_person"
	ErrNeedsModel        = "needs_model"
	ErrNeedsInput        = "needs_input"
	ErrReasoningFailed   = "reasoning_failed"
	ErrUpstream          = "upstream"
	ErrTimeout           = "timeout"
	ErrInternal          = "internal"
)

// Unreachable is the message of a call to an unreachable service. For display it is prefixed with
// the name of the domain.
const Unreachable = "cannot be reached just now"

// ToolResult is the result of a call. It is the only way for domain data into a run.
type ToolResult struct {
	OK bool `json:"ok"`
	// Summary is one line of at most 300 characters of plain text, never markup. It is the only
	// text of a result that reaches a transcript or a prompt.
	Summary string `json:"summary,omitempty"`
	// Facts are small structured values, 16 KiB at most.
	Facts map[string]any `json:"facts,omitempty"`
	// Data is raw output for debugging. It never reaches an answer or a prompt.
	Data  Opaque     `json:"data,omitzero"`
	Error *ToolError `json:"error,omitempty"`
	// Artifacts maps names to JSON values of at most 16 MiB each.
	Artifacts map[string]json.RawMessage `json:"artifacts,omitempty"`
	// Malformed lists the parts of a domain's response that WrapResult could not decode.
	// BoundResult reports them.
	Malformed []Fault `json:"-"`
}

// LogValue implements slog.LogValuer. It omits facts, data and artifacts.
func (r ToolResult) LogValue() slog.Value {
	attrs := []slog.Attr{slog.Bool("ok", r.OK), slog.Int("facts", len(r.Facts)), slog.Int("artifacts", len(r.Artifacts))}
	if r.Error != nil {
		attrs = append(attrs, slog.String("error_type", r.Error.Type))
	}
	return slog.GroupValue(append(attrs, slog.Any("data", r.Data))...)
}

// ToolError is the reason why an execution was rejected or failed.
type ToolError struct {
	Type      string `json:"type"`
	Message   string `json:"message"`
	Detail    any    `json:"detail,omitempty"`
	Retryable bool   `json:"retryable,omitempty"`
	// Effect is the effect of a failed write. If it is absent, EffectOf returns the default.
	Effect Effect `json:"effect,omitempty"`
	// Needs holds the questions for a person if Type is needs_input.
	Needs *InputRequest `json:"needs,omitempty"`
}

// EffectOf returns the declared effect or the default for a write: none for rejections, unknown
// for other errors. It returns applied for a nil error.
func (e *ToolError) EffectOf() Effect {
	if e == nil {
		return EffectApplied
	}
	switch e.Effect {
	case "":
	case EffectNone, EffectApplied:
		return e.Effect
	default:
		return EffectUnknown
	}
	switch e.Type {
	case ErrInvalidParameters, ErrNotFound, ErrConflict, ErrUnauthorized, ErrPrecondition, ErrBudget:
		return EffectNone
	default:
		return EffectUnknown
	}
}

// Error returns type and message, so that handlers can return a ToolError as an error.
func (e *ToolError) Error() string { return e.Type + ": " + e.Message }

// Opaque is raw output that is only passed on. Printing or logging it shows its size and hash,
// never its content.
type Opaque struct{ raw json.RawMessage }

// NewOpaque wraps raw JSON.
func NewOpaque(raw json.RawMessage) Opaque { return Opaque{raw: raw} }

// Reveal returns the content. Only the debugging endpoint for admins may use it.
func (o Opaque) Reveal() json.RawMessage { return o.raw }

// IsZero reports whether there is no content.
func (o Opaque) IsZero() bool { return len(o.raw) == 0 }

// String returns size and hash only.
func (o Opaque) String() string {
	if o.IsZero() {
		return "opaque(empty)"
	}
	return fmt.Sprintf("opaque(%d bytes, sha256:%s)", len(o.raw), HashBytes(o.raw)[:12])
}

// Format writes the result of String for every verb.
func (o Opaque) Format(f fmt.State, _ rune) { io.WriteString(f, o.String()) } //nolint:errcheck // a fmt.State keeps its own errors

// Equal reports whether both hold the same bytes.
func (o Opaque) Equal(p Opaque) bool { return bytes.Equal(o.raw, p.raw) }

// LogValue returns the result of String.
func (o Opaque) LogValue() slog.Value { return slog.StringValue(o.String()) }

// MarshalJSON writes the content.
func (o Opaque) MarshalJSON() ([]byte, error) {
	if o.IsZero() {
		return []byte("null"), nil
	}
	return o.raw, nil
}

// UnmarshalJSON stores the JSON text unchanged; null means absent.
func (o *Opaque) UnmarshalJSON(data []byte) error {
	o.raw = nil
	if string(data) != "null" {
		o.raw = append(json.RawMessage(nil), data...)
	}
	return nil
}

// ArtifactRef is a reference to stored JSON: {"$artifact":"sha256:…"}.
type ArtifactRef struct {
	Ref string `json:"$artifact"`
}
