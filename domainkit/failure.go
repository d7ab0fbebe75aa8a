package domainkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Refusef returns the error of a call that had no effect and that would fail again if retried, for
// example for an unknown id or a business rule. The type is one of contracts.Err… or a "domain.xxx"
// of your own.
func Refusef(errType, format string, args ...any) *contracts.ToolError {
	return Failf(errType, contracts.EffectNone, format, args...)
}

// Retryf returns the error of a call that had no effect and may succeed if retried.
func Retryf(errType, format string, args ...any) *contracts.ToolError {
	err := Refusef(errType, format, args...)
	err.Retryable = true
	return err
}

// Failf returns the error of a call with the effect that it had. Use contracts.EffectUnknown if a
// write may have happened, for example after a lost connection; the core then reconciles instead of
// guessing.
func Failf(errType string, effect contracts.Effect, format string, args ...any) *contracts.ToolError {
	return &contracts.ToolError{Type: errType, Message: fmt.Sprintf(format, args...), Effect: effect}
}

// Ask returns the error of a call that needs answers of a person and had no effect. The core asks,
// possibly for days, and repeats the call with the answers in Call.Input. A write is approved
// again, with the answers.
func Ask(needs contracts.InputRequest, format string, args ...any) *contracts.ToolError {
	err := Refusef(contracts.ErrNeedsInput, format, args...)
	err.Needs = &needs
	return err
}

// waiting is the error of a read that has no result yet.
type waiting struct {
	after time.Duration
	why   string
}

// Error returns the reason.
func (w *waiting) Error() string { return w.why }

// Waitf returns the error of a read that has no result until something outside happens, such as a
// decision of a person. The core parks the run, shows the reason and repeats the call after the
// given time, up to wait_max_s in all; nothing blocks in the domain. Only a read may return it:
// from a write it is an internal error.
func Waitf(after time.Duration, format string, args ...any) error {
	return &waiting{after, fmt.Sprintf(format, args...)}
}

// Forbiddenf returns the error of a call that its principal may not make; the answer is a 403.
func Forbiddenf(format string, args ...any) error {
	return contracts.Errorf(contracts.CodeForbidden, format, args...)
}

// failure converts an error of a handler into one for the caller. The text of an error that was not
// written for callers is only logged.
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
