package write

import (
	"context"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// Rollback are the parameters of a rollback.
type Rollback struct {
	site.FlowRef
	policy.Base
	Version string `json:"version,omitempty" max:"60" description:"The version to go back to, such as v2; the one before the present one unless given"`
}

// rollback plans that an earlier version becomes the newest one. Its bytes were live before, so
// they are not validated again.
func (w *Writer) rollback(ctx context.Context, call domainkit.Call, f api.Flow, in Rollback) (plan, error) {
	target, body, err := w.rollbackTarget(ctx, call, f, in.Version)
	if err != nil {
		return plan{}, site.Failure(err)
	}
	if body == f.FlowData {
		return plan{}, noChange(f, "is as it was in "+target.Label)
	}
	diff, err := w.difference(ctx, call, f.FlowData, body)
	if err != nil { // unreadable graphs can be rolled back from and to
		diff = present.Changes{}
	}
	return plan{flow: f, change: api.FlowChange{FlowData: &body}, did: "rolled back to " + target.Label, diff: diff, known: true}, nil
}

func (w *Writer) rollbackTarget(ctx context.Context, call domainkit.Call, f api.Flow, wanted string) (store.Version, string, error) {
	if from, named := site.PlaceOf(wanted); named && from >= 0 { // rolling back to "the last one" means the one before
		wanted = ""
	}
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
	return w.site.Version(ctx, call, f.ID, wanted)
}

// before returns the newest version that is older than the current state and differs from it, or
// the newest one after an edit elsewhere.
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

// Restoring are the parameters of restoring a deleted chatflow.
type Restoring struct {
	site.FlowRef
	policy.Made
	Version string `json:"version,omitempty" max:"60" description:"The version to restore, such as v2; the last one unless given"`
}

// restore plans that a deleted flow is restored under its id.
func (w *Writer) restore(ctx context.Context, call domainkit.Call, in Restoring) (plan, error) {
	f, err := w.site.Flow(ctx, call, in.ChatflowID)
	switch {
	case err == nil:
		return plan{}, domainkit.Refusef(contracts.ErrPrecondition, "%s is not deleted; rollback_chatflow goes back to an earlier version", present.Clip(f.Name, 80))
	case !site.IsNotFound(err):
		return plan{}, err
	}
	wanted := in.Version
	if wanted == "" {
		list, _, err := w.site.Data.Versions(ctx, call.Instance, in.ChatflowID, 1)
		if err != nil {
			return plan{}, err
		}
		if len(list) == 0 {
			return plan{}, domainkit.Refusef(contracts.ErrNotFound, "nothing is kept of a chatflow %s", in.ChatflowID)
		}
		wanted = list[0].Label
	}
	v, body, err := w.site.Version(ctx, call, in.ChatflowID, wanted)
	if err != nil {
		return plan{}, site.Failure(err)
	}
	return plan{
		create: &api.NewFlow{ID: in.ChatflowID, Name: v.Name, Type: api.FlowType(v.Kind), FlowData: body},
		did:    fmt.Sprintf("restored as %s was kept %s, without its messages", v.Label, v.CreatedAt.Format("2006-01-02 15:04")), known: true,
	}, nil
}
