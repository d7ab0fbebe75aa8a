// Package author builds graphs that may be written: it compiles, validates and compares ops, and
// previews their effect before an approval.
package author

import (
	"errors"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Author has the capabilities that build graphs.
type Author struct {
	site  *site.Site
	rules *policy.Rules
}

// New returns an Author.
func New(s *site.Site, rules *policy.Rules) *Author { return &Author{s, rules} }

// Register adds the capabilities. What the Go types cannot express is in the manifest.
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
