package planner

import (
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// permit refuses capabilities that the owner's roles or the phase exclude.
func (c *compiler) permit(e *contracts.CapabilityEntry) error {
	return permitted(e, c.req.Owner, c.req.Phase)
}

func permitted(e *contracts.CapabilityEntry, owner contracts.Principal, phase string) error {
	meta := e.Capability.Metadata
	mayCall := func(role string) bool { return slices.Contains(owner.Roles, role) }
	if len(meta.AllowedRoles) > 0 && !slices.ContainsFunc(meta.AllowedRoles, mayCall) {
		return contracts.Errorf(contracts.CodeForbidden, "%s may only be used with one of the roles %s",
			e.Ref(), strings.Join(meta.AllowedRoles, ", "))
	}
	if phase != "" && len(meta.Phases) > 0 && !slices.Contains(meta.Phases, phase) {
		return contracts.Errorf(contracts.CodeForbidden, "%s may not be used in the phase %q, only in %s",
			e.Ref(), phase, strings.Join(meta.Phases, ", "))
	}
	return nil
}

// phase is the phase that a node is of: the request's, else the first one that
// its capability is made for.
func (c *compiler) phase(e *contracts.CapabilityEntry) string {
	if phases := e.Capability.Metadata.Phases; c.req.Phase == "" && len(phases) > 0 {
		return phases[0]
	}
	return c.req.Phase
}

// checkInstances refuses instances that do not exist.
func (c *compiler) checkInstances() error {
	var faults []contracts.Fault
	for _, domain := range slices.Sorted(maps.Keys(c.req.Instances)) {
		pointer := "/instances/" + contracts.EscapeToken(domain)
		d, ok := c.req.Catalog.Domain(domain)
		if !ok {
			faults = append(faults, fault(pointer, "there is no domain %q", domain))
			continue
		}
		if !hasInstance(d, c.req.Instances[domain]) {
			faults = append(faults, fault(pointer, "%s has no instance %q", domain, c.req.Instances[domain]))
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

// instance is the installation of a domain that the plan works on. Several
// without a default are a question.
func (c *compiler) instance(domain string) string {
	if id, known := c.instances[domain]; known {
		return id
	}
	d, ok := c.req.Catalog.Domain(domain)
	if !ok || len(d.Manifest.Instances) == 0 {
		return ""
	}
	id, chosen := c.req.Instances[domain]
	if !chosen {
		id, chosen = standardInstance(d)
	}
	if !chosen {
		c.askInstance(d)
		return ""
	}
	c.instances[domain] = id
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

// locks are the resource keys of a write; reads take none. Their places stay
// open: an approver may still edit what fills them.
func locks(target *capability, instance string) []string {
	if !target.Policy.SideEffectClass.Writes() {
		return nil
	}
	var out []string
	for _, key := range target.Capability.Metadata.Locks {
		if !strings.HasPrefix(key, "shared:") {
			key = target.Domain + "/" + instance + ":" + key
		}
		if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

// pin records the digest and the instance of every capability that the run may
// call: those of the nodes, and what verifies, reconciles and undoes them.
func (c *compiler) pin() {
	for _, n := range c.nodes {
		entry, ok := c.req.Catalog.Capability(n.Tool)
		if _, pinned := c.digests[n.Tool]; !ok || pinned {
			continue
		}
		for _, called := range reachable(c.req.Catalog, entry) {
			c.digests[called.Ref()] = called.Digest
			c.instance(called.Domain)
		}
	}
}

// reachable gives a capability and all that its run may call for it.
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

// internalCalls are the capabilities that a run calls for a node without a
// node of their own.
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
