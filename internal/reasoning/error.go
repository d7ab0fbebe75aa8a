package reasoning

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Kind describes what went wrong with a call of a model; callers switch on it to
// choose between waiting, a fallback and telling a person.
type Kind string

// The kinds of faults.
const (
	// KindUnavailable: not reached, too slow, overloaded, or held back because
	// it failed several times in a row.
	KindUnavailable Kind = "unavailable"
	// KindRefused: the server does not take the request (key, model, size), or
	// the model declines to answer. Asking again gives the same.
	KindRefused Kind = "refused"
	// KindInvalid: what came back is not what was asked for, after one repair.
	KindInvalid Kind = "invalid"
	// KindTooLarge: the prompt is over its bound; nothing was sent.
	KindTooLarge Kind = "too_large"
	// KindBudget: the tokens that the call could use are not left; nothing was
	// sent.
	KindBudget Kind = "budget"
)

// Error is a fault of a model, in words for people.
type Error struct {
	Kind    Kind
	Message string
	// RetryAfter is when the server said to come again; zero where it did not.
	RetryAfter time.Duration
	Cause      error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, for the log.
func (e *Error) Unwrap() error { return e.Cause }

func faultf(kind Kind, cause error, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// asFault makes an *Error of what an engine returned.
func asFault(name string, err error) *Error {
	var fault *Error
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.Is(err, context.DeadlineExceeded):
		return faultf(KindUnavailable, err, "the model %s did not answer in time", name)
	case errors.Is(err, context.Canceled):
		return faultf(KindUnavailable, err, "the call of the model %s was cancelled", name)
	default:
		return faultf(KindUnavailable, err, "the model %s cannot be reached just now", name)
	}
}

// StatusFault makes an Error of an HTTP status that a vendor's server answered
// after the retries of its library. retryAfter is the header of that name, in
// seconds; these servers do not use its form with a date. detail is what the
// server said.
func StatusFault(name string, status int, retryAfter, detail string, cause error) *Error {
	switch {
	case status == 401 || status == 403:
		return faultf(KindRefused, cause, "the server of the model %s does not take the key (%d)", name, status)
	case status == 404:
		return faultf(KindRefused, cause, "the server knows no model %s at this address (404)", name)
	case status == 413:
		return faultf(KindTooLarge, cause, "the server of the model %s finds the prompt too large (413)", name)
	case status == 408 || status == 409 || status == 429 || status >= 500:
		fault := faultf(KindUnavailable, cause, "the server of the model %s is overloaded or broken (%d)", name, status)
		if seconds, err := strconv.Atoi(retryAfter); err == nil && seconds > 0 {
			fault.RetryAfter = time.Duration(seconds) * time.Second
		}
		return fault
	default:
		return faultf(KindRefused, cause, "the server of the model %s refuses the request (%d): %.200s", name, status, detail)
	}
}

// Refusal is the Error of a model that declines to answer.
func Refusal(name, said string) *Error {
	return faultf(KindRefused, nil, "the model %s declines to answer: %.200s", name, said)
}

// GarbledError returns the Error for a reply that does not follow the wire format.
func GarbledError(name string, cause error) *Error {
	return faultf(KindUnavailable, cause, "the model %s gave an answer that cannot be read", name)
}
