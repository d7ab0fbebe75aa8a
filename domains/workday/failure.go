package workday

import (
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// The tenant's validation codes for a day that is already taken.
const (
	codeOverlap      = "A1008"
	codeOverlapBlock = "A1028"
)

// failure converts the error of a call to the tenant for the caller of the domain. It distinguishes
// errors that certainly had no effect from those that may have had one. Other errors are returned
// unchanged, and domainkit only logs them.
func failure(err error) error {
	e, isCall := rest.AsError(err)
	if !isCall {
		return err
	}
	switch e.Kind {
	case rest.KindInvalid:
		return refusal(e)
	case rest.KindNotFound:
		return domainkit.Refusef(contracts.ErrNotFound, "Workday does not know it, or does not show it to this client")
	case rest.KindForbidden:
		return domainkit.Refusef(contracts.ErrUnauthorized, "this client lacks the permission in Workday: %s", e.Reason())
	case rest.KindUnauthorized, rest.KindReauth:
		return domainkit.Refusef(contracts.ErrUpstream, "Workday refuses this domain's credentials: %s", e.Reason())
	case rest.KindBusy:
		return domainkit.Retryf(contracts.ErrUpstream, "Workday is busy")
	case rest.KindTimeout:
		return unanswered(e, contracts.ErrTimeout, "Workday did not answer in time")
	case rest.KindUnavailable, rest.KindBadAnswer:
		return unanswered(e, contracts.ErrUpstream, "Workday gave no usable answer")
	case rest.KindInternal:
		return err
	default:
		return err
	}
}

func unanswered(e *rest.Error, errType, text string) error {
	if !e.MayHaveApplied {
		return domainkit.Retryf(errType, "%s", text)
	}
	out := domainkit.Failf(errType, contracts.EffectUnknown, "%s; the change may have taken place", text)
	out.Retryable = true // a retry first looks for the result of this call
	return out
}

// refusal returns the tenant's validation errors with their codes.
func refusal(e *rest.Error) error {
	errType := contracts.ErrPrecondition
	if e.Has(codeOverlap, codeOverlapBlock) {
		errType = contracts.ErrConflict
	}
	out := domainkit.Refusef(errType, "Workday refuses: %s", e.Reason())
	if len(e.Details) > 0 {
		out.Detail = map[string]any{"validations": e.Details}
	}
	return out
}
