// Package author turns edits into graphs that may be written: ops are compiled,
// validated and compared, and what they would do is shown before anybody is
// asked to approve it.
package author

import (
	"errors"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Author holds the capabilities that make graphs.
type Author struct {
	site  *site.Site
	rules *policy.Rules
}

// New makes them for some servers and their policies.
func New(s *site.Site, rules *policy.Rules) *Author { return &Author{s, rules} }

// Register adds the capabilities; what the types cannot say of them stands in
// the manifest.
func (a *Author) Register(svc *domainkit.Service) error {
	return errors.Join(
		site.Add(svc, a.site, domainkit.Capability{Name: "summarize_flow"}, a.summarizeFlow),
		site.Add(svc, a.site, domainkit.Capability{Name: "excerpt_flow"}, a.excerptFlow),
		site.Add(svc, a.site, domainkit.Capability{Name: "compile_flow"}, a.compileFlow),
		site.Add(svc, a.site, domainkit.Capability{Name: "validate_flow"}, a.validateFlow),
		site.Add(svc, a.site, domainkit.Capability{Name: "validate"}, a.validateFlow),
		site.Add(svc, a.site, domainkit.Capability{Name: "preview_changes"}, a.previewChanges),
		site.Add(svc, a.site, domainkit.Capability{Name: "repair_schema"}, a.repairSchema),
		site.Add(svc, a.site, domainkit.Capability{Name: "preflight_flow"}, a.preflightFlow),
	)
}
