// Package read has the capabilities that only read: they find and describe instances, flows, nodes,
// templates, credentials, versions and patterns.
package read

import (
	"errors"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Reader has the capabilities that read.
type Reader struct{ site *site.Site }

// New returns a Reader.
func New(s *site.Site) *Reader { return &Reader{s} }

// Register adds the capabilities. What the Go types cannot express is in the manifest.
func (r *Reader) Register(svc *domainkit.Service) error {
	return errors.Join(
		site.Add(svc, r.site, domainkit.Capability{Name: "list_instances"}, r.listInstances),
		site.Add(svc, r.site, domainkit.Capability{Name: "list_chatflows"}, r.listChatflows),
		site.Add(svc, r.site, domainkit.Capability{Name: "select_chatflows"}, r.selectChatflows),
		site.Add(svc, r.site, domainkit.Capability{Name: "get_chatflow"}, r.getChatflow),
		site.Add(svc, r.site, domainkit.Capability{Name: "explain_chatflow"}, r.explainChatflow),
		site.Add(svc, r.site, domainkit.Capability{Name: "list_nodes", Metadata: r.subjects()}, r.listNodes),
		site.Add(svc, r.site, domainkit.Capability{Name: "get_node"}, r.getNode),
		site.Add(svc, r.site, domainkit.Capability{Name: "list_templates", Metadata: r.subjects()}, r.listTemplates),
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

// ordinary are words that occur in labels and in messages about anything; as vocabulary they would
// compete with the intended words.
var ordinary = strings.Fields(`
	act add advanced and api backed base basic book browser builder by character chatflow chatflows code collection compact content create current
	custom data date delete directory edit existing execute file files filter find flow folder for from function get human input interpreter item key
	language lines list loop message model multi name new node nodes open output page pages plain post prompt put query read reply request requests
	response run search select set simple single source start state sticky store storage structured system template templates test text thinking time
	toolkit type update upload use user value variable vector view web window with write`)

// subjects returns metadata with the words of node labels as vocabulary, so that messages about
// nodes and templates are recognized reliably. Words of categories and of many labels are left out.
func (r *Reader) subjects() contracts.Metadata {
	const most = 12
	times, common := map[string]int{}, map[string]bool{}
	for _, def := range r.site.Shipped.Nodes() {
		for _, w := range edit.Words(def.Label) {
			times[w]++
		}
		for _, w := range edit.Words(def.Category) {
			common[w], common[strings.TrimSuffix(w, "s")] = true, true
		}
	}
	words := map[string]any{}
	for w, n := range times {
		if len(w) > 2 && n <= most && !common[w] && !slices.Contains(ordinary, w) {
			words[w] = w
		}
	}
	return contracts.Metadata{ParameterSpecs: map[string]contracts.ParameterSpec{"query": {Aliases: words}}}
}
