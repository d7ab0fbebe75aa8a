package contracts

import (
	"errors"
	"fmt"
)

// Code describes what kind of fault an Error is; callers switch on it.
type Code string

// The codes. Each has exactly one HTTP status, kept by internal/httpapi.
const (
	CodeInvalid        Code = "invalid"
	CodeUnauthorized   Code = "unauthorized"
	CodeForbidden      Code = "forbidden"
	CodeNotFound       Code = "not_found"
	CodeConflict       Code = "conflict"
	CodeStaleApproval  Code = "stale_approval"
	CodeNeedsApproval  Code = "needs_approval"
	CodeBudgetExceeded Code = "budget_exceeded"
	CodeTooLarge       Code = "too_large"
	CodeRateLimited    Code = "rate_limited"
	CodeUnsupported    Code = "unsupported"
	CodeUnavailable    Code = "unavailable"
	CodeLeaseLost      Code = "lease_lost"
	CodeInternal       Code = "internal"
)

// Codes lists every code, for tables that must not miss one.
func Codes() []Code {
	return []Code{
		CodeInvalid, CodeUnauthorized, CodeForbidden, CodeNotFound, CodeConflict,
		CodeStaleApproval, CodeNeedsApproval, CodeBudgetExceeded, CodeTooLarge,
		CodeRateLimited, CodeUnsupported, CodeUnavailable, CodeLeaseLost, CodeInternal,
	}
}

// Fault is one thing that is wrong with an input.
type Fault struct {
	// Pointer is the JSON pointer (RFC 6901) of the faulty place.
	Pointer string `json:"pointer"`
	// Message describes what is wrong and what would be right.
	Message string `json:"message"`
}

// Error is the one error type that crosses package boundaries. Message is written for
// people and says what to do; the cause is for the log.
type Error struct {
	Code    Code
	Message string
	Faults  []Fault
	// Detail is extra structured information for the caller, such as the first
	// decision of a gate that was decided already.
	Detail any
	Cause  error
}

// Errorf makes an Error with a formatted message; a %w verb sets the cause.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), Cause: errors.Unwrap(wrapped)}
}

// Invalid makes an Error of code invalid that lists every fault.
func Invalid(message string, faults ...Fault) *Error {
	return &Error{Code: CodeInvalid, Message: message, Faults: faults}
}

// Error returns the message, followed by the first faults.
func (e *Error) Error() string {
	text := e.Message
	for i, f := range e.Faults {
		if i == 3 {
			return fmt.Sprintf("%s; and %d more", text, len(e.Faults)-i)
		}
		text += fmt.Sprintf("; %s: %s", orRoot(f.Pointer), f.Message)
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// CodeOf returns the code of the first Error in err's chain; an error without
// one is internal, and nil has no code.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

func orRoot(pointer string) string {
	if pointer == "" {
		return "/"
	}
	return pointer
}
