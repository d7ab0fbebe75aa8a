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

// Kind describes what kind of failure an Error is; callers switch on it.
type Kind string

// The kinds.
const (
	KindInvalid      Kind = "invalid"      // 400: the tenant's validations refused it
	KindUnauthorized Kind = "unauthorized" // 401, also with a fresh token
	KindReauth       Kind = "reauth"       // the refresh token is no longer good: a person must renew it
	KindForbidden    Kind = "forbidden"    // 403: the API client lacks a security domain
	KindNotFound     Kind = "not_found"    // 404: absent, or invisible to the API client
	KindBusy         Kind = "busy"         // 429
	KindUnavailable  Kind = "unavailable"  // 5xx, or no answer
	KindBadAnswer    Kind = "bad_answer"   // an answer that is not what Workday sends
	KindTimeout      Kind = "timeout"      // the caller's time was up
	KindInternal     Kind = "internal"     // a fault on our side, such as a store that cannot be written
)

// Detail is one validation of the tenant. Code drives logic; Message may
// change at any time and is for people.
type Detail struct {
	Message  string `json:"error"`
	Code     string `json:"code"`
	Field    string `json:"field"`
	Severity string `json:"severity"`
}

// Warning reports whether the validation does not block.
func (d Detail) Warning() bool { return strings.EqualFold(d.Severity, "warning") }

// Error is a failed call.
type Error struct {
	Op      string // what was called, such as "POST /workers/…/requestTimeOff"
	Kind    Kind
	Status  int // 0 when there was no answer
	Message string
	Details []Detail
	// RetryAfter is the tenant's wish, 0 when it had none.
	RetryAfter time.Duration
	// MayHaveApplied is set for a write whose fate is unknown.
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

// Reason is the text for people: the tenant's validations, or its message.
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

// Has reports whether the tenant gave one of the codes.
func (e *Error) Has(codes ...string) bool {
	for _, d := range e.Details {
		if slices.Contains(codes, d.Code) {
			return true
		}
	}
	return false
}

// OnlyWarns reports whether the tenant refused nothing and only warned.
func (e *Error) OnlyWarns() bool {
	return e.Kind == KindInvalid && len(e.Details) > 0 && !slices.ContainsFunc(e.Details, func(d Detail) bool { return !d.Warning() })
}

// AsError finds the Error in err's chain.
func AsError(err error) (*Error, bool) { return errors.AsType[*Error](err) }

// IsKind reports whether err is an Error of that kind.
func IsKind(err error, kind Kind) bool {
	e, is := AsError(err)
	return is && e.Kind == kind
}

// statusError makes the Error of an answer other than 2xx.
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
		return KindBadAnswer // a redirect, mostly to a page to sign in
	}
}
