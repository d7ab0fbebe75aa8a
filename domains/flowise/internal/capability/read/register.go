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
		domainkit.Add(svc, domainkit.Capability{Name: "list_instances"}, r.listInstances),
		domainkit.Add(svc, domainkit.Capability{Name: "list_chatflows"}, r.listChatflows),
		domainkit.Add(svc, domainkit.Capability{Name: "get_chatflow"}, r.getChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: "list_nodes"}, r.listNodes),
		domainkit.Add(svc, domainkit.Capability{Name: "get_node"}, r.getNode),
		domainkit.Add(svc, domainkit.Capability{Name: "list_templates"}, r.listTemplates),
		domainkit.Add(svc, domainkit.Capability{Name: "list_credentials"}, r.listCredentials),
		domainkit.Add(svc, domainkit.Capability{Name: "check_credentials"}, r.checkCredentials),
		domainkit.Add(svc, domainkit.Capability{Name: "resolve_target"}, r.resolveTarget),
		domainkit.Add(svc, domainkit.Capability{Name: "load_flow"}, r.loadFlow),
		domainkit.Add(svc, domainkit.Capability{Name: "list_versions"}, r.listVersions),
		domainkit.Add(svc, domainkit.Capability{Name: "diff_versions"}, r.diffVersions),
		domainkit.Add(svc, domainkit.Capability{Name: "search_patterns"}, r.searchPatterns),
		domainkit.Add(svc, domainkit.Capability{Name: "use_pattern"}, r.usePattern),
		domainkit.Add(svc, domainkit.Capability{Name: "find_chatflow"}, r.findChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: "find_pattern"}, r.findPattern),
	)
}
