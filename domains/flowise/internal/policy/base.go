package policy

import (
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// ErrConcurrentEdit means that the flow has changed since it was reviewed.
const ErrConcurrentEdit = "domain.concurrent_edit"

// Made binds a write that computes the graph of a new flow to the approved graph.
type Made struct {
	GraphSHA256 string `json:"graph_sha256,omitempty" pattern:"^[0-9a-f]{64}$" description:"Hash of the graph that shall come of it, as propose gives it; another one is not written"`
}

// Bound returns the graph hash; there is no base yet.
func (m Made) Bound() Base { return Base{GraphSHA256: m.GraphSHA256} }

// Base binds a write to the flow for which it was approved.
type Base struct {
	BaseSHA256 string `json:"base_sha256,omitempty" pattern:"^([0-9a-f]{64})?$" description:"Hash of the flow that was looked at, as propose gives it: sha256, of its graph, or state_sha256, of its graph, name and settings"`
	// GraphSHA256 binds a graph that the write computes.
	GraphSHA256 string `json:"graph_sha256,omitempty" pattern:"^[0-9a-f]{64}$" description:"Hash of the graph that shall come of it, as propose gives it; another one is not written"`
}

// Unchanged refuses a write without a base hash, and a flow that has changed since.
func (b Base) Unchanged(f api.Flow) error {
	if b.BaseSHA256 == "" {
		return domainkit.Refusef(contracts.ErrInvalidParameters, "a change needs base_sha256: the hash of the flow that was looked at, which propose gives")
	}
	return Unchanged(f, b.BaseSHA256)
}

// Still refuses a flow that has changed since the base hash. The hash may be missing, because a
// proposal may be made before anybody has reviewed the flow.
func (b Base) Still(f api.Flow) error {
	if b.BaseSHA256 == "" {
		return nil
	}
	return Unchanged(f, b.BaseSHA256)
}

// Bound returns b.
func (b Base) Bound() Base { return b }

// Unchanged refuses a flow if neither the hash of its graph nor that of its whole state is the
// reviewed one.
func Unchanged(f api.Flow, looked string) error {
	found := site.HashOf(f.FlowData)
	if found == looked || site.StateHash(f) == looked {
		return nil
	}
	refusal := domainkit.Refusef(ErrConcurrentEdit, "%s was changed meanwhile; look at it again before going on", present.Clip(f.Name, 80))
	refusal.Detail = map[string]any{"expected_sha256": looked, "found_sha256": found, "state_sha256": site.StateHash(f), "updated_at": f.UpdatedDate}
	return refusal
}
