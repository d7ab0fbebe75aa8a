package domainkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Refusef refuses a call before it had any effect, for a reason that a repeat
// would meet again: an unknown id, a rule of the business. The type is one of
// contracts.Err… or the domain's own "domain.xxx".
func Refusef(errType, format string, args ...any) *contracts.ToolError {
	return Failf(errType, contracts.EffectNone, format, args...)
}

// Retryf says that a call had no effect and may succeed when repeated.
func Retryf(errType, format string, args ...any) *contracts.ToolError {
	err := Refusef(errType, format, args...)
	err.Retryable = true
	return err
}

// Failf says that a call failed and what it did to the world. Use
// contracts.EffectUnknown when a write may have happened, such as after a lost
// connection; the core then finds out instead of guessing.
func Failf(errType string, effect contracts.Effect, format string, args ...any) *contracts.ToolError {
	return &contracts.ToolError{Type: errType, Message: fmt.Sprintf(format, args...), Effect: effect}
}

// Ask says that a call needs answers of a person before it goes on, and has had no effect:
// the core asks, and makes the call again with them in Call.Input, days later if need be.
// The core approves a write again, with the answers.
func Ask(needs contracts.InputRequest, format string, args ...any) *contracts.ToolError {
	err := Refusef(contracts.ErrNeedsInput, format, args...)
	err.Needs = &needs
	return err
}

// waiting is a read that has nothing to tell yet.
type waiting struct {
	after time.Duration
	why   string
}

// Error reports what it waits for.
func (w *waiting) Error() string { return w.why }

// Waitf says that a read has nothing to tell before something outside has happened, such
// as the decision of a person, and when to ask again. The core parks the run, says why,
// and asks again, for wait_max_s in all; nothing waits in the domain.
func Waitf(after time.Duration, format string, args ...any) error {
	return &waiting{after, fmt.Sprintf(format, args...)}
}

// Forbiddenf says that this principal may not do this; it is answered with 403.
func Forbiddenf(format string, args ...any) error {
	return contracts.Errorf(contracts.CodeForbidden, format, args...)
}

// failure turns the error of a handler into what the caller sees. The text of
// an error that no one wrote for callers stays in the log.
func (x *executor) failure(ctx context.Context, c *served, err error) *contracts.ToolError {
	if tool, ok := errors.AsType[*contracts.ToolError](err); ok && tool != nil {
		own := *tool // the author may return one value many times
		if own.Effect == "" && c.writes {
			own.Effect = own.EffectOf()
		}
		return &own
	}
	if denied, ok := errors.AsType[*contracts.Error](err); ok && denied.Code == contracts.CodeForbidden {
		return Refusef(contracts.ErrUnauthorized, "%s", denied.Message)
	}
	unknown := contracts.EffectUnknown
	if !c.writes {
		unknown = contracts.EffectNone
	}
	var out *contracts.ToolError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		out = Failf(contracts.ErrTimeout, unknown, "%s was not done in time", c.name)
	case errors.Is(err, context.Canceled):
		out = Failf(contracts.ErrTimeout, unknown, "%s was cancelled", c.name)
	default:
		out = Failf(contracts.ErrInternal, unknown, "%s met an internal error; the log of the domain says more", c.name)
	}
	out.Retryable = !c.writes
	x.log.ErrorContext(ctx, "execution failed", slog.String("capability", c.name), slog.Any("error", err))
	return out
}
