package policy

import (
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// errConcurrentEdit says that the flow is no longer the one that was looked at.
const errConcurrentEdit = "domain.concurrent_edit"

// Unchanged refuses a flow whose graph is not the one that was looked at.
func Unchanged(f api.Flow, looked string) error {
	found := site.HashOf(f.FlowData)
	if found == looked {
		return nil
	}
	refusal := domainkit.Refusef(errConcurrentEdit, "%s was changed meanwhile; look at it again before going on", present.Clip(f.Name, 80))
	refusal.Detail = map[string]any{"expected_sha256": looked, "found_sha256": found, "updated_at": f.UpdatedDate}
	return refusal
}
