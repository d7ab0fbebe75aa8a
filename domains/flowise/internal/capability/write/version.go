package write

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// Rollback names the version to go back to.
type Rollback struct {
	site.FlowRef
	Version string `json:"version,omitempty" max:"60" description:"The version to go back to, such as v2; the one before the present one unless given"`
}

// rollbackChatflow makes an earlier version the newest one. Its bytes were live
// before, so that they need no other validation.
func (w *Writer) rollbackChatflow(ctx context.Context, call domainkit.Call, in Rollback) (Written, error) {
	f, err := w.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return Written{}, err
	}
	target, body, err := w.rollbackTarget(ctx, call, f, in.Version)
	if err != nil {
		return Written{}, site.Failure(err)
	}
	if err := w.site.Data.Authorize(ctx, call.RunID, target.SHA256); err != nil {
		return Written{}, err
	}
	return w.update(ctx, call, f, body, "rolled back to "+target.Label, "")
}

func (w *Writer) rollbackTarget(ctx context.Context, call domainkit.Call, f api.Flow, wanted string) (store.Version, string, error) {
	if wanted == "" {
		list, _, err := w.site.Data.Versions(ctx, call.Instance, f.ID, 1000)
		if err != nil {
			return store.Version{}, "", err
		}
		wanted = before(list, site.HashOf(f.FlowData))
	}
	if wanted == "" {
		return store.Version{}, "", domainkit.Refusef(contracts.ErrPrecondition, "there is no earlier version of %s", present.Clip(f.Name, 80))
	}
	return w.site.Data.Version(ctx, call.Instance, f.ID, wanted)
}

// before gives the newest version that is older than the present state and
// differs from it; after an edit elsewhere, the newest one.
func before(list []store.Version, current string) string {
	seen := false
	for _, v := range list {
		if v.SHA256 == current {
			seen = true
			continue
		}
		if seen {
			return v.Label
		}
	}
	if !seen && len(list) > 0 {
		return list[0].Label
	}
	return ""
}
