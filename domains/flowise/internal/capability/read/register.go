// Package read finds and shows what is there: instances, flows, nodes, templates,
// credentials, versions and patterns. Nothing here changes anything.
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

// ordinary words stand in labels, and in what people say of anything: as values to
// search by they would contest the one that is meant.
var ordinary = strings.Fields(`
	act add advanced and api backed base basic book browser builder by character chatflow chatflows code collection compact content create current
	custom data date delete directory edit existing execute file files filter find flow folder for from function get human input interpreter item key
	language lines list loop message model multi name new node nodes open output page pages plain post prompt put query read reply request requests
	response run search select set simple single source start state sticky store storage structured system template templates test text thinking time
	toolkit type update upload use user value variable vector view web window with write`)

// subjects are the words of the labels of nodes, as words to search by: what kinds
// of things nodes and templates are about, so that a sentence names them surely.
// Words of categories and of many labels say too little.
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
