package reasoning

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Kind classifies a failed model call. Callers switch on it to choose between waiting, a fallback
// and reporting to a person.
type Kind string

// The kinds of errors.
const (
	// KindUnavailable: unreachable, too slow, overloaded, or blocked by the circuit breaker after
	// several failures in a row.
	KindUnavailable Kind = "unavailable"
	// KindRefused: the server rejects the request (key, model, size), or the model declines to
	// answer. A retry would fail as well.
	KindRefused Kind = "refused"
	// KindInvalid: the answer is invalid, also after one repair.
	KindInvalid Kind = "invalid"
	// KindTooLarge: the prompt exceeds its limit; nothing was sent.
	KindTooLarge Kind = "too_large"
	// KindBudget: too few tokens are left for the call; nothing was sent.
	KindBudget Kind = "budget"
)

// Error is a model error with a message for people.
type Error struct {
	Kind    Kind
	Message string
	// RetryAfter is the wait that the server asked for; zero if it did not.
	RetryAfter time.Duration
	Cause      error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, for logging.
func (e *Error) Unwrap() error { return e.Cause }

func faultf(kind Kind, cause error, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// asFault converts an engine's error to an *Error.
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

// StatusFault returns the Error for an HTTP status that a vendor's server answered after the
// retries of its library. retryAfter is the Retry-After header in seconds; these servers do not use
// its date form. detail is the server's message.
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

// Refusal returns the Error for a model that declines to answer.
func Refusal(name, said string) *Error {
	return faultf(KindRefused, nil, "the model %s declines to answer: %.200s", name, said)
}

// GarbledError returns the Error for a reply that does not follow the wire format.
func GarbledError(name string, cause error) *Error {
	return faultf(KindUnavailable, cause, "the model %s gave an answer that cannot be read", name)
}
