package contracts

import (
	"errors"
	"fmt"
)

// Code is the kind of an Error. Callers switch on it.
type Code string

// The error codes. Each maps to exactly one HTTP status; see internal/httpapi.
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

// Codes returns all codes, for tables that must be complete.
func Codes() []Code {
	return []Code{
		CodeInvalid, CodeUnauthorized, CodeForbidden, CodeNotFound, CodeConflict,
		CodeStaleApproval, CodeNeedsApproval, CodeBudgetExceeded, CodeTooLarge,
		CodeRateLimited, CodeUnsupported, CodeUnavailable, CodeLeaseLost, CodeInternal,
	}
}

// Fault is one defect of an input.
type Fault struct {
	// Pointer is the JSON pointer (RFC 6901) of the defect.
	Pointer string `json:"pointer"`
	// Message is what is wrong and what would be valid.
	Message string `json:"message"`
}

// Error is the only error type that crosses package boundaries. Message is shown to people and
// says what to do. Cause is for the log.
type Error struct {
	Code    Code
	Message string
	Faults  []Fault
	// Detail is structured information for the caller, such as the first decision of a gate that
	// was already decided.
	Detail any
	Cause  error
}

// Errorf returns an Error with a formatted message. A %w verb sets the cause.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), Cause: errors.Unwrap(wrapped)}
}

// Invalid returns an Error of code invalid with the given faults.
func Invalid(message string, faults ...Fault) *Error {
	return &Error{Code: CodeInvalid, Message: message, Faults: faults}
}

// Error returns the message, followed by up to three faults.
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

// CodeOf returns the code of the first Error in err's chain. It returns CodeInternal for an error
// without one, and "" for nil.
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
