package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner/workflow"
)

// active is a domain with its active manifest, or one that is tried as such.
type active struct {
	registration contracts.Registration
	manifest     *contracts.Manifest
	digest       string
}

// domainSet is the input of a catalog, by domain.
type domainSet map[string]active

// with returns the set with one domain replaced.
func (s domainSet) with(name string, a active) domainSet {
	out := maps.Clone(s)
	if out == nil {
		out = domainSet{}
	}
	out[name] = a
	return out
}

// capability finds a served capability by its reference in a manifest of the domain home.
func (s domainSet) capability(ref, home string) (*contracts.Capability, bool) {
	domain, name, found := strings.Cut(ref, ".")
	if !found {
		domain, name = home, ref
	}
	a, ok := s[domain]
	if !ok {
		return nil, false
	}
	i := slices.IndexFunc(a.manifest.Capabilities, func(c contracts.Capability) bool { return c.Name == name })
	if i < 0 || a.manifest.Unserved[name] != nil {
		return nil, false
	}
	return &a.manifest.Capabilities[i], true
}

// policy returns the effective policy of a capability in this set.
func (s domainSet) policy(domain string, c *contracts.Capability, site contracts.SitePolicy) contracts.Policy {
	compensable := false
	if undo := c.Metadata.Compensation; undo != nil {
		_, compensable = s.capability(undo.Capability, domain)
	}
	return contracts.EffectivePolicy(domain, c, compensable, s[domain].registration.Overlay, site)
}

// catalog builds the immutable catalog of a set. Capabilities that the trust in their domain does
// not cover, or that cannot be served, are left out.
func (s domainSet) catalog(site contracts.SitePolicy) (*contracts.Catalog, error) {
	var entries []*contracts.DomainEntry
	for _, name := range slices.Sorted(maps.Keys(s)) {
		entry, err := s.entry(name, site)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	if err := addWorkflows(contracts.NewCatalog("", slices.Clone(entries), maps.Clone(site.Roles)), entries, s); err != nil {
		return nil, err
	}
	for _, d := range entries {
		for _, e := range d.Capabilities {
			e.Accept = max(accept(s[d.Name].registration.Floor, e, e.Capability.Name), accept(site.Floor, e, e.Ref()))
		}
	}
	snapshot, err := snapshotOf(entries, site.Roles)
	if err != nil {
		return nil, err
	}
	return contracts.NewCatalog(snapshot, entries, maps.Clone(site.Roles)), nil
}

// accept returns the minimum confidence that a floor requires, 0 if it has none.
func accept(f *contracts.Floor, e *contracts.CapabilityEntry, name string) float64 {
	switch {
	case f == nil:
		return 0
	case e.Policy.SideEffectClass.Writes():
		return max(f.AcceptWrite, f.Capabilities[name].AcceptWrite)
	default:
		return max(f.AcceptRead, f.Capabilities[name].AcceptRead)
	}
}

func (s domainSet) entry(name string, site contracts.SitePolicy) (*contracts.DomainEntry, error) {
	a := s[name]
	entry := &contracts.DomainEntry{Name: name, Digest: a.digest, Manifest: a.manifest, Roles: a.registration.Roles}
	for i := range a.manifest.Capabilities {
		c := &a.manifest.Capabilities[i]
		policy := s.policy(name, c, site)
		if !a.registration.Admits(policy) || a.manifest.Unserved[c.Name] != nil {
			continue
		}
		digest, err := contracts.CapabilityDigest(c, policy)
		if err != nil {
			return nil, fmt.Errorf("digest of %s.%s: %w", name, c.Name, err)
		}
		entry.Capabilities = append(entry.Capabilities, &contracts.CapabilityEntry{
			Domain: name, Capability: c, Policy: policy, Digest: digest,
		})
	}
	return entry, nil
}

// addWorkflows adds the workflows of every domain whose steps all exist, and records what the
// others lack. Workflows that the trust in their domain does not cover are left out, as with
// capabilities.
func addWorkflows(calls *contracts.Catalog, entries []*contracts.DomainEntry, set domainSet) error {
	found := make([][]*contracts.CapabilityEntry, len(entries))
	for i, d := range entries {
		for k := range d.Manifest.Workflows {
			w := &d.Manifest.Workflows[k]
			entry, missing, err := workflow.Entry(d.Manifest, w, calls)
			if err != nil {
				return err
			}
			if len(missing) > 0 {
				if d.Inactive == nil {
					d.Inactive = map[string][]string{}
				}
				d.Inactive[w.Name] = missing
				continue
			}
			if set[d.Name].registration.Admits(entry.Policy) {
				found[i] = append(found[i], entry)
			}
		}
	}
	for i, d := range entries { // only now: workflows cannot call each other
		d.Capabilities = append(d.Capabilities, found[i]...)
	}
	return nil
}

// snapshotLine identifies one domain of a catalog: its manifest, and the policies that apply to it.
type snapshotLine struct {
	Domain       string   `json:"domain"`
	Digest       string   `json:"digest"`
	Capabilities []string `json:"capabilities"`
	Roles        []string `json:"roles,omitempty"`
	// Accept is the required confidence, by capability.
	Accept map[string]float64 `json:"accept,omitempty"`
}

// snapshotOf returns the hash of a catalog's content.
func snapshotOf(entries []*contracts.DomainEntry, roles map[string]string) (string, error) {
	snapshot, err := contracts.Hash(struct {
		Domains []snapshotLine    `json:"domains"`
		Roles   map[string]string `json:"roles"`
	}{snapshotLines(entries), roles})
	if err != nil {
		return "", fmt.Errorf("hash catalog: %w", err)
	}
	return snapshot, nil
}

func snapshotLines(entries []*contracts.DomainEntry) []snapshotLine {
	lines := make([]snapshotLine, 0, len(entries))
	for _, e := range entries {
		line := snapshotLine{Domain: e.Name, Digest: e.Digest, Roles: e.Roles}
		for _, c := range e.Capabilities {
			line.Capabilities = append(line.Capabilities, c.Digest)
			if c.Accept > 0 {
				if line.Accept == nil {
					line.Accept = map[string]float64{}
				}
				line.Accept[c.Capability.Name] = c.Accept
			}
		}
		lines = append(lines, line)
	}
	return lines
}
