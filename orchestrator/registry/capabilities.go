package registry

import (
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Capabilities lists the capabilities of one domain in a catalog, or of all with "". It checks the
// right to read the catalog, but not the scopes of the caller's key.
func Capabilities(who access.Principal, catalog *contracts.Catalog, domain string) ([]contracts.CapabilityView, error) {
	if err := who.May(access.ActionReadCatalog); err != nil {
		return nil, err
	}
	views := []contracts.CapabilityView{}
	for _, d := range catalog.Domains {
		if domain != "" && d.Name != domain {
			continue
		}
		for _, e := range d.Capabilities {
			views = append(views, capabilityView(e))
		}
	}
	if domain != "" && len(views) == 0 {
		return nil, contracts.Errorf(contracts.CodeNotFound, "there is no active domain %q", domain)
	}
	return views, nil
}

func capabilityView(e *contracts.CapabilityEntry) contracts.CapabilityView {
	v := contracts.CapabilityView{
		Ref: e.Ref(), Domain: e.Domain, Name: e.Capability.Name, Description: e.Capability.Description,
		Schema: e.Capability.Schema, Policy: e.Policy, Routable: e.Routable(), Digest: e.Digest,
	}
	if hints := e.Capability.Metadata.IntentHints; hints != nil {
		v.Examples = hints.Examples
	}
	return v
}
