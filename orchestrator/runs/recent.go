package runs

import (
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// maxRecent is the maximum number of cached previews.
const maxRecent = 64

// recent caches previews that were run, each with its compiled plan. A plan depends only on its
// preview, the catalog and the caller, so it is not compiled again while these are unchanged. A
// preview with a given hash never changes, except for its expiry.
type recent struct {
	mu   sync.Mutex // guards kept, the newest last
	kept []compiled
}

type compiled struct {
	preview orchestrator.Preview
	catalog *contracts.Catalog
	owner   contracts.Principal
	dryRun  bool
	// plan is shared by its runs: nothing that it refers to may be changed.
	plan contracts.Plan
}

// find returns the cached plan for the current catalog. It returns false if there is none, or if
// the preview has expired.
func (r *recent) find(who access.Principal, body contracts.RunPlan, catalog *contracts.Catalog, now time.Time) (compiled, bool) {
	subject, owner := who.Subject(), who.Contract()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range slices.Backward(r.kept) {
		if c.preview.PlanHash == body.PlanHash && c.preview.Owner == subject && c.catalog == catalog && c.dryRun == body.DryRun &&
			c.owner.ID == owner.ID && c.owner.OnBehalfOf == owner.OnBehalfOf && slices.Equal(c.owner.Roles, owner.Roles) {
			return c, c.preview.ExpiresAt.After(now)
		}
	}
	return compiled{}, false
}

// keep replaces the entry of the same preview, or else the oldest one.
func (r *recent) keep(c compiled) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.kept, func(k compiled) bool {
		return k.preview.PlanHash == c.preview.PlanHash && k.preview.Owner == c.preview.Owner
	})
	if at < 0 && len(r.kept) == maxRecent {
		at = 0
	}
	if at >= 0 {
		r.kept = slices.Delete(r.kept, at, at+1)
	}
	r.kept = append(r.kept, c)
}
