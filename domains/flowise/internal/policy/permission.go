package policy

import (
	"context"
	"errors"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// RefusalWords returns why bytes may not be written, or "" if they may.
func RefusalWords(p store.Permission) string {
	switch p {
	case store.Granted:
		return ""
	case store.NotValidated:
		return "ValidationRequired: nothing passed validate_flow in this run"
	case store.OtherBytes:
		return "HashMismatch: other bytes passed validate_flow in this run; validate these"
	case store.Used:
		return "AlreadyWritten: a validation is good for one write; validate again"
	default:
		return string(p)
	}
}

// Guarded performs a write of bytes that were validated in this run. A validation allows one write.
// If the write certainly had no effect, the permission is restored.
func (r *Rules) Guarded(ctx context.Context, call domainkit.Call, sha256 string, write func() (api.Flow, error)) (api.Flow, error) {
	permission, err := r.site.Data.Consume(ctx, call.RunID, sha256, call.IdempotencyKey)
	if err != nil {
		return api.Flow{}, err
	}
	if permission != store.Granted {
		return api.Flow{}, domainkit.Refusef(contracts.ErrPrecondition, "%s", RefusalWords(permission))
	}
	f, err := write()
	if e, is := api.AsError(err); is && e.Effect == contracts.EffectNone {
		// Restore the permission even if the caller is gone.
		err = errors.Join(err, r.site.Data.Restore(context.WithoutCancel(ctx), call.RunID, sha256, call.IdempotencyKey))
	}
	return f, err
}
