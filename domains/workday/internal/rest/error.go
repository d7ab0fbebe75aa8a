package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/domainkit/upstream"
)

// Kind is the kind of an Error.
type Kind string

// The kinds of errors.
const (
	KindInvalid      Kind = "invalid"      // 400: rejected by the tenant's validations
	KindUnauthorized Kind = "unauthorized" // 401, also with a new token
	KindReauth       Kind = "reauth"       // the refresh token is no longer valid: a person must renew it
	KindForbidden    Kind = "forbidden"    // 403: the API client lacks a security domain
	KindNotFound     Kind = "not_found"    // 404: absent, or invisible to the API client
	KindBusy         Kind = "busy"         // 429
	KindUnavailable  Kind = "unavailable"  // 5xx, or no answer
	KindBadAnswer    Kind = "bad_answer"   // an answer that is not in Workday's format
	KindTimeout      Kind = "timeout"      // the caller's context ended
	KindInternal     Kind = "internal"     // an error on this side, such as a store that cannot be written
)

// Detail is one validation of the tenant. Code is stable; Message is for people and may change.
type Detail struct {
	Message  string `json:"error"`
	Code     string `json:"code"`
	Field    string `json:"field"`
	Severity string `json:"severity"`
}

// Warning reports whether the validation is only a warning.
func (d Detail) Warning() bool { return strings.EqualFold(d.Severity, "warning") }

// Error is the error of a call to the tenant.
type Error struct {
	Op      string // the called operation, for example "POST /workers/…/requestTimeOff"
	Kind    Kind
	Status  int // 0 if there was no answer
	Message string
	Details []Detail
	// RetryAfter is the wait that the tenant requested, or 0.
	RetryAfter time.Duration
	// MayHaveApplied is set for a write with unknown outcome.
	MayHaveApplied bool
	Cause          error
}

// Error returns the operation and the reason.
func (e *Error) Error() string {
	text := fmt.Sprintf("workday %s: %s", e.Op, e.Reason())
	if e.MayHaveApplied {
		text += " (the write may have taken place)"
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Reason returns the text for people: the tenant's validations, or its message.
func (e *Error) Reason() string {
	var parts []string
	for _, d := range e.Details {
		if !d.Warning() || e.OnlyWarns() {
			parts = append(parts, d.Message)
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, " ")
	case e.Message != "":
		return e.Message
	case e.Status != 0:
		return fmt.Sprintf("status %d", e.Status)
	case e.Cause != nil:
		return e.Cause.Error()
	}
	return string(e.Kind)
}

// Has reports whether the tenant returned one of the codes.
func (e *Error) Has(codes ...string) bool {
	for _, d := range e.Details {
		if slices.Contains(codes, d.Code) {
			return true
		}
	}
	return false
}

// OnlyWarns reports whether all validations are warnings.
func (e *Error) OnlyWarns() bool {
	return e.Kind == KindInvalid && len(e.Details) > 0 && !slices.ContainsFunc(e.Details, func(d Detail) bool { return !d.Warning() })
}

// AsError returns the Error in err's chain.
func AsError(err error) (*Error, bool) { return errors.AsType[*Error](err) }

// IsKind reports whether err is an Error of that kind.
func IsKind(err error, kind Kind) bool {
	e, is := AsError(err)
	return is && e.Kind == kind
}

// statusError returns the Error of a response other than 2xx.
func statusError(op string, got answer, write bool, now time.Time) *Error {
	e := &Error{Op: op, Kind: kindOf(got.status), Status: got.status, RetryAfter: upstream.RetryAfter(got.header, now)}
	var said struct {
		Error  string   `json:"error"`
		Errors []Detail `json:"errors"`
	}
	if json.Unmarshal(got.body, &said) == nil {
		e.Message, e.Details = said.Error, said.Errors
	}
	e.MayHaveApplied = write && e.Kind == KindUnavailable
	return e
}

func kindOf(status int) Kind {
	switch {
	case status == http.StatusUnauthorized:
		return KindUnauthorized
	case status == http.StatusForbidden:
		return KindForbidden
	case status == http.StatusNotFound:
		return KindNotFound
	case status == http.StatusTooManyRequests:
		return KindBusy
	case status >= http.StatusInternalServerError:
		return KindUnavailable
	case status >= http.StatusBadRequest:
		return KindInvalid
	default:
		return KindBadAnswer // a redirect, usually to a login page
	}
}
