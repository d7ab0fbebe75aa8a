package runs

import (
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// maxRecent bounds the previews that are kept with what they were compiled to.
const maxRecent = 64

// recent are previews that were run, each with the plan that it is compiled to. A
// plan follows from its preview, the catalog and the caller alone: where none of
// them changed, it is not compiled again. A preview never changes under its hash
// but for its expiry.
type recent struct {
	mu   sync.Mutex // guards kept, the newest last
	kept []compiled
}

type compiled struct {
	preview orchestrator.Preview
	catalog *contracts.Catalog
	owner   contracts.Principal
	dryRun  bool
	// plan is shared by its runs: nobody may change what it refers to.
	plan contracts.Plan
}

// find returns a plan as it would be compiled now.
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

// keep takes the place of what was compiled from the same preview, else of the oldest.
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
