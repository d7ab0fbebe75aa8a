package site

import (
	"errors"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// ErrFormNeeded means that the flow starts with a form whose values are missing or invalid.
const ErrFormNeeded = "domain.form_needed"

// Failure converts the error of a call to a server for the caller of the domain. It distinguishes
// errors that certainly had no effect from those that may have had one. Unexpected errors are
// returned unchanged, and domainkit only logs them.
func Failure(err error) error {
	e, isCall := api.AsError(err)
	if !isCall {
		return ownFailure(err)
	}
	if e.Kind == api.KindTooLarge && e.Effect == contracts.EffectUnknown { // the answer was too large, not the request
		return withEffect(e, contracts.ErrUpstream, "Flowise gave an answer that is too large")
	}
	switch e.Kind {
	case api.KindInvalid, api.KindTooLarge:
		return domainkit.Refusef(contracts.ErrPrecondition, "Flowise refuses: %s", flow.Hide(e.Reason()))
	case api.KindNotFound:
		return domainkit.Refusef(contracts.ErrNotFound, "Flowise does not have it: %s", flow.Hide(e.Reason()))
	case api.KindConflict:
		return domainkit.Refusef(contracts.ErrConflict, "%s", flow.Hide(e.Reason()))
	case api.KindForbidden:
		return domainkit.Refusef(contracts.ErrUnauthorized, "the domain's API key lacks the permission in Flowise; give it chatflows:*, agentflows:*, credentials:view and templates:marketplace")
	case api.KindUnauthorized:
		return domainkit.Refusef(contracts.ErrUpstream, "Flowise refuses the domain's API key; start the domain with one that is valid there")
	case api.KindBusy:
		return domainkit.Retryf(contracts.ErrUpstream, "Flowise is busy")
	case api.KindTimeout:
		return withEffect(e, contracts.ErrTimeout, "Flowise did not answer in time")
	case api.KindFailed:
		return withEffect(e, contracts.ErrUpstream, "Flowise failed: "+flow.Hide(e.Reason()))
	case api.KindUnavailable, api.KindBadAnswer:
		return withEffect(e, contracts.ErrUpstream, "Flowise gave no usable answer")
	default:
		return err
	}
}

// withEffect returns the error of a write with its known effect. A retry first looks for the result
// of this call.
func withEffect(e *api.Error, errType, text string) error {
	if e.Effect == contracts.EffectNone || e.Effect == "" {
		out := domainkit.Refusef(errType, "%s", text)
		out.Retryable = e.Kind != api.KindFailed
		return out
	}
	out := domainkit.Failf(errType, e.Effect, "%s; the change may have taken place", text)
	out.Retryable = e.Effect == contracts.EffectUnknown
	return out
}

// ownFailure converts an error of this domain.
func ownFailure(err error) error {
	e, ours := errors.AsType[*contracts.Error](err)
	if !ours {
		return err
	}
	types := map[contracts.Code]string{
		contracts.CodeInvalid: contracts.ErrInvalidParameters, contracts.CodeNotFound: contracts.ErrNotFound,
		contracts.CodeConflict: contracts.ErrConflict, contracts.CodeUnsupported: contracts.ErrPrecondition,
		contracts.CodeTooLarge: contracts.ErrPrecondition,
	}
	errType, known := types[e.Code]
	if !known {
		return err
	}
	out := domainkit.Refusef(errType, "%s", e.Message)
	if len(e.Faults) > 0 {
		out.Detail = map[string]any{"faults": e.Faults}
		out.Message = e.Message + ": " + e.Faults[0].Message
	}
	return out
}

// Unreadable returns the refusal of a stored graph that cannot be decoded.
func Unreadable(err error) error {
	refusal := domainkit.Refusef(contracts.ErrPrecondition, "the flowData cannot be read")
	if e, ours := errors.AsType[*contracts.Error](err); ours {
		refusal.Message += ": " + e.Message
		refusal.Detail = map[string]any{"faults": e.Faults}
	}
	return refusal
}

// IsNotFound reports whether err is a refusal of type not_found.
func IsNotFound(err error) bool {
	refusal, is := errors.AsType[*contracts.ToolError](err)
	return is && refusal.Type == contracts.ErrNotFound
}

// Reason returns the message of an error without its code.
func Reason(err error) string {
	if e, ours := errors.AsType[*contracts.Error](err); ours {
		return e.Message
	}
	return err.Error()
}
