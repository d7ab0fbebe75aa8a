// Package read finds and shows what is there: instances, flows, nodes, templates,
// credentials, versions and patterns. Nothing here changes anything.
package read

import (
	"errors"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Reader holds the capabilities that read.
type Reader struct{ site *site.Site }

// New makes them for some servers.
func New(s *site.Site) *Reader { return &Reader{s} }

// Register adds the capabilities; what the types cannot say of them stands in
// the manifest.
func (r *Reader) Register(svc *domainkit.Service) error {
	return errors.Join(
		site.Add(svc, r.site, domainkit.Capability{Name: "list_instances"}, r.listInstances),
		site.Add(svc, r.site, domainkit.Capability{Name: "list_chatflows"}, r.listChatflows),
		site.Add(svc, r.site, domainkit.Capability{Name: "get_chatflow"}, r.getChatflow),
		site.Add(svc, r.site, domainkit.Capability{Name: "list_nodes"}, r.listNodes),
		site.Add(svc, r.site, domainkit.Capability{Name: "get_node"}, r.getNode),
		site.Add(svc, r.site, domainkit.Capability{Name: "list_templates"}, r.listTemplates),
		site.Add(svc, r.site, domainkit.Capability{Name: "list_credentials"}, r.listCredentials),
		site.Add(svc, r.site, domainkit.Capability{Name: "check_credentials"}, r.checkCredentials),
		site.Add(svc, r.site, domainkit.Capability{Name: "resolve_target"}, r.resolveTarget),
		site.Add(svc, r.site, domainkit.Capability{Name: "load_flow"}, r.loadFlow),
		site.Add(svc, r.site, domainkit.Capability{Name: "list_versions"}, r.listVersions),
		site.Add(svc, r.site, domainkit.Capability{Name: "diff_versions"}, r.diffVersions),
		site.Add(svc, r.site, domainkit.Capability{Name: "search_patterns"}, r.searchPatterns),
		site.Add(svc, r.site, domainkit.Capability{Name: "use_pattern"}, r.usePattern),
		site.Add(svc, r.site, domainkit.Capability{Name: "find_chatflow"}, r.findChatflow),
		site.Add(svc, r.site, domainkit.Capability{Name: "find_pattern"}, r.findPattern),
	)
}
