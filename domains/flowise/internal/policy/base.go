package policy

import (
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// ErrConcurrentEdit says that the flow is no longer the one that was looked at.
const ErrConcurrentEdit = "domain.concurrent_edit"

// Made binds a write that computes the graph of a new flow.
type Made struct {
	GraphSHA256 string `json:"graph_sha256,omitempty" pattern:"^[0-9a-f]{64}$" description:"Hash of the graph that shall come of it, as propose gives it; another one is not written"`
}

// Bound returns the graph alone; there is nothing yet that it changes.
func (m Made) Bound() Base { return Base{GraphSHA256: m.GraphSHA256} }

// Base is the flow that a write was approved for.
type Base struct {
	BaseSHA256 string `json:"base_sha256,omitempty" pattern:"^([0-9a-f]{64})?$" description:"Hash of the flow that was looked at, as propose gives it: sha256, of its graph, or state_sha256, of its graph, name and settings"`
	// GraphSHA256 binds what a write computes itself.
	GraphSHA256 string `json:"graph_sha256,omitempty" pattern:"^[0-9a-f]{64}$" description:"Hash of the graph that shall come of it, as propose gives it; another one is not written"`
}

// Unchanged refuses a write that says not what it was made for, and a flow that
// is no longer that.
func (b Base) Unchanged(f api.Flow) error {
	if b.BaseSHA256 == "" {
		return domainkit.Refusef(contracts.ErrInvalidParameters, "a change needs base_sha256: the hash of the flow that was looked at, which propose gives")
	}
	return Unchanged(f, b.BaseSHA256)
}

// Still refuses a flow that is no longer the one that was looked at, where it is said
// which that was; a proposal may come before anybody looked.
func (b Base) Still(f api.Flow) error {
	if b.BaseSHA256 == "" {
		return nil
	}
	return Unchanged(f, b.BaseSHA256)
}

// Bound returns the base itself, to whoever takes any bound write.
func (b Base) Bound() Base { return b }

// Unchanged refuses a flow that is not the one that was looked at: neither its
// graph nor its whole state has the hash.
func Unchanged(f api.Flow, looked string) error {
	found := site.HashOf(f.FlowData)
	if found == looked || site.StateHash(f) == looked {
		return nil
	}
	refusal := domainkit.Refusef(ErrConcurrentEdit, "%s was changed meanwhile; look at it again before going on", present.Clip(f.Name, 80))
	refusal.Detail = map[string]any{"expected_sha256": looked, "found_sha256": found, "state_sha256": site.StateHash(f), "updated_at": f.UpdatedDate}
	return refusal
}
