package answer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// overviewPerDomain is the maximum number of capabilities listed for one domain.
const overviewPerDomain = 8

// Overview lists what the caller may ask for, by domain, with an example of each. domain limits it
// to one domain, "" lists all.
func Overview(catalog *contracts.Catalog, who access.Principal, domain string) *contracts.Answer {
	a := &contracts.Answer{}
	for _, d := range catalog.Domains {
		if domain != "" && d.Name != domain {
			continue
		}
		if items := offers(d, who); len(items) > 0 {
			a.Blocks = append(a.Blocks, contracts.Block{Kind: contracts.BlockList, Title: domainTitle(d), Items: items})
		}
	}
	if len(a.Blocks) == 0 {
		a.Blocks = []contracts.Block{{Kind: contracts.BlockText, Text: "There is nothing that you may ask for yet: no domain is registered, or your key reaches none."}}
	}
	return a
}

// Greeting returns a short greeting, with one example for each domain that the caller may use.
func Greeting(catalog *contracts.Catalog, who access.Principal, domain string) *contracts.Answer {
	list := contracts.Block{Kind: contracts.BlockList}
	for _, d := range catalog.Domains {
		if domain != "" && d.Name != domain {
			continue
		}
		if at := slices.IndexFunc(d.Capabilities, func(e *contracts.CapabilityEntry) bool { return e.Routable() && mayAsk(e, who) && example(e) != "" }); at >= 0 {
			list.Items = append(list.Items, domainTitle(d)+": “"+example(d.Capabilities[at])+"”")
		}
	}
	if len(list.Items) == 0 {
		return Overview(catalog, who, domain)
	}
	return &contracts.Answer{Blocks: []contracts.Block{
		{Kind: contracts.BlockText, Text: "Hello. Say what you want to be done: I ask before anything is changed, and show what was done. For example:"},
		list,
		{Kind: contracts.BlockNote, Text: "Write help for all that you can ask for."},
	}}
}

func domainTitle(d *contracts.DomainEntry) string {
	if d.Manifest == nil {
		return d.Name
	}
	return cmp.Or(d.Manifest.Title, d.Name)
}

// offers returns one line for each capability of a domain that the caller may use.
func offers(d *contracts.DomainEntry, who access.Principal) []string {
	var items []string
	more := 0
	for _, e := range d.Capabilities {
		switch {
		case !e.Routable() || !mayAsk(e, who):
		case len(items) == overviewPerDomain:
			more++
		default:
			items = append(items, offer(e))
		}
	}
	if more > 0 {
		items = append(items, fmt.Sprintf("and %d more", more))
	}
	return items
}

func offer(e *contracts.CapabilityEntry) string {
	line := contracts.CleanSummary(cmp.Or(e.Capability.Description, e.Capability.Name))
	if such := example(e); such != "" {
		line += " Such as: “" + such + "”"
	}
	return line
}

func example(e *contracts.CapabilityEntry) string {
	if hints := e.Capability.Metadata.IntentHints; hints != nil && len(hints.Examples) > 0 {
		return contracts.CleanSummary(hints.Examples[0])
	}
	return ""
}

func mayAsk(e *contracts.CapabilityEntry, who access.Principal) bool {
	return len(rolesFor(e, who)) == 0 && who.Covers(e.Domain, e.Policy.SideEffectClass) == nil
}

// rolesFor returns the roles of which the caller needs one to use a capability, or none if they
// hold one or need none.
func rolesFor(e *contracts.CapabilityEntry, who access.Principal) []string {
	allowed := e.Capability.Metadata.AllowedRoles
	held := who.Contract().In(e.Domain).Roles
	if slices.ContainsFunc(held, func(r string) bool { return slices.Contains(allowed, r) }) {
		return nil
	}
	out := make([]string, len(allowed))
	for i, r := range allowed {
		out[i] = contracts.RoleOf(e.Domain, r)
	}
	return out
}
