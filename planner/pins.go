package planner

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// pins has the instance of each domain that a plan uses, and the digest of each capability that its
// run may call.
type pins struct {
	catalog   *contracts.Catalog
	wanted    map[string]string // the requested instances
	questions *questions

	instances map[string]string
	digests   map[string]string
}

// check refuses instances that do not exist.
func (p *pins) check() error {
	var faults []contracts.Fault
	for _, domain := range slices.Sorted(maps.Keys(p.wanted)) {
		pointer := "/instances/" + contracts.EscapeToken(domain)
		d, ok := p.catalog.Domain(domain)
		if !ok {
			faults = append(faults, fault(pointer, "there is no domain %q", domain))
			continue
		}
		if !hasInstance(d, p.wanted[domain]) {
			faults = append(faults, fault(pointer, "%s has no instance %q", domain, p.wanted[domain]))
		}
	}
	if len(faults) > 0 {
		return contracts.Invalid("the instances cannot be used", faults...)
	}
	return nil
}

func hasInstance(d *contracts.DomainEntry, id string) bool {
	return slices.ContainsFunc(d.Manifest.Instances, func(i contracts.Instance) bool { return i.ID == id })
}

// instance returns the instance of a domain that the plan uses. If there are several without a
// default, it asks a question.
func (p *pins) instance(domain string) string {
	if id, known := p.instances[domain]; known {
		return id
	}
	d, ok := p.catalog.Domain(domain)
	if !ok || len(d.Manifest.Instances) == 0 {
		return ""
	}
	id, chosen := p.wanted[domain]
	if !chosen {
		id, chosen = standardInstance(d)
	}
	if !chosen {
		p.questions.instance(d)
		return ""
	}
	p.instances[domain] = id
	return id
}

func standardInstance(d *contracts.DomainEntry) (string, bool) {
	instances := d.Manifest.Instances
	if len(instances) == 1 {
		return instances[0].ID, true
	}
	i := slices.IndexFunc(instances, func(i contracts.Instance) bool { return i.Default })
	if i < 0 {
		return "", false
	}
	return instances[i].ID, true
}

// pin records the digest and the instance of every capability that the run may call: those of the
// nodes, and those that verify, reconcile and undo them.
func (p *pins) pin(nodes []contracts.Node) {
	for _, n := range nodes {
		entry, ok := p.catalog.Capability(n.Tool)
		if _, pinned := p.digests[n.Tool]; !ok || pinned {
			continue
		}
		for _, called := range reachable(p.catalog, entry) {
			p.digests[called.Ref()] = called.Digest
			p.instance(called.Domain)
		}
	}
}

// reachable returns a capability and all that its run may call for it.
func reachable(catalog *contracts.Catalog, e *contracts.CapabilityEntry) []*contracts.CapabilityEntry {
	out := []*contracts.CapabilityEntry{e}
	for i := 0; i < len(out); i++ {
		for _, ref := range internalCalls(out[i].Capability.Metadata) {
			next, err := catalog.Resolve(ref, out[i].Domain)
			if err == nil && !slices.Contains(out, next) {
				out = append(out, next)
			}
		}
	}
	return out
}

// internalCalls returns the capabilities that a run calls for a node without a node of their own.
func internalCalls(m contracts.Metadata) []string {
	var out []string
	if m.Verify != nil {
		out = append(out, m.Verify.Capability)
	}
	for _, call := range []*contracts.CapabilityCall{m.Reconcile, m.Compensation} {
		if call != nil {
			out = append(out, call.Capability)
		}
	}
	return out
}
