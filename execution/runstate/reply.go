package runstate

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// ReplyKind is the kind of outcome of an exchange.
type ReplyKind string

// The kinds of replies, one for each row of the contract's table of answers.
const (
	ReplyResult       ReplyKind = "result"       // 200 with a ToolResult, ok or not
	ReplyAccepted     ReplyKind = "accepted"     // 202
	ReplyBusy         ReplyKind = "busy"         // 429, or an open breaker or full bulkhead: not executed
	ReplyInvalid      ReplyKind = "invalid"      // 400
	ReplyUnauthorized ReplyKind = "unauthorized" // 401 and 403
	ReplyConflict     ReplyKind = "conflict"     // 409
	ReplyChanged      ReplyKind = "changed"      // 404 and 412
	ReplyGone         ReplyKind = "gone"         // 410: like a broken connection
	ReplyNotSent      ReplyKind = "not_sent"     // failed before the first request byte was written
	ReplyBroken       ReplyKind = "broken"       // 300 to 303, 503, other 5xx, broken connection, no ToolResult, time-out
	ReplyRefused      ReplyKind = "refused"      // other 3xx and 4xx
)

// Reply is the outcome of one exchange.
type Reply struct {
	Kind   ReplyKind
	Result contracts.ToolResult
	// Operation is set for an accepted reply.
	Operation string
	// Progress is the progress of accepted work, nil if the domain does not report it.
	Progress *contracts.Progress
	// RetryAfter is the wait that the domain asked for, 0 if none.
	RetryAfter time.Duration
	// Message describes the fault in one line.
	Message string
	// Timeout reports whether a broken exchange ran out of time.
	Timeout bool
	// Faults lists what was cut or dropped from the result because of limits or output_schema.
	Faults []contracts.Fault
}

// PriorAttemptUnknown reports whether a refused retry leaves the outcome of an earlier, unanswered
// attempt unknown. Only a domain that stores idempotency keys answers for all attempts.
func PriorAttemptUnknown(doubtful bool, idempotency contracts.Idempotency, r Reply) bool {
	if !doubtful {
		return false
	}
	switch r.Kind {
	case ReplyInvalid, ReplyUnauthorized, ReplyConflict, ReplyRefused, ReplyChanged:
		return true
	case ReplyResult:
		return idempotency == contracts.IdempotencyNatural && !r.Result.OK && r.Result.Error.EffectOf() == contracts.EffectNone
	default:
		return false
	}
}

// IsDefinitive reports whether a reply to a write determines its effect.
func IsDefinitive(r Reply) bool {
	switch r.Kind {
	case ReplyInvalid, ReplyUnauthorized, ReplyConflict, ReplyRefused:
		return true
	case ReplyResult:
		return r.Result.OK || (r.Result.Error.EffectOf() != contracts.EffectUnknown && !IsRetryable(r))
	default:
		return false
	}
}

// IsRetryable reports whether a refused call may be sent again: the domain says that it is
// retryable and had no effect.
func IsRetryable(r Reply) bool {
	e := r.Result.Error
	return e != nil && e.Retryable && e.EffectOf() == contracts.EffectNone
}

// OutcomeOf returns the outcome of a definitive reply to a write.
func OutcomeOf(r Reply, at time.Time) Outcome {
	o := Outcome{Kind: r.Kind, At: at, BadAnswer: r.Faults}
	if r.Kind == ReplyResult {
		o.Result = &r.Result
		return o
	}
	o.Error = &contracts.ToolError{Type: ErrorType(r), Message: r.Message, Effect: contracts.EffectNone}
	return o
}

// Reply returns the outcome as a reply.
func (o Outcome) Reply() Reply {
	r := Reply{Kind: o.Kind, Faults: o.BadAnswer}
	if o.Result != nil {
		r.Result = *o.Result
	}
	if o.Error != nil {
		r.Message = o.Error.Message
	}
	return r
}

// ErrorType returns the ToolError type of a reply without a result.
func ErrorType(r Reply) string {
	switch r.Kind {
	case ReplyInvalid:
		return contracts.ErrInvalidParameters
	case ReplyUnauthorized:
		return contracts.ErrUnauthorized
	case ReplyConflict:
		return contracts.ErrConflict
	default:
		if r.Timeout {
			return contracts.ErrTimeout
		}
		return contracts.ErrUpstream
	}
}
