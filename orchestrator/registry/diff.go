package registry

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
)

// maxDifferences is the maximum number of differences listed for one capability.
const maxDifferences = 100

// compare lists what changes for a domain if after replaces before. Only the domain's own
// capabilities are compared.
func compare(domain string, before, after domainSet, site contracts.SitePolicy) (contracts.DomainDiff, error) {
	diff := contracts.DomainDiff{Domain: domain, From: before[domain].digest, To: after[domain].digest}
	old, young := byName(before[domain].manifest), byName(after[domain].manifest)
	for _, name := range sortedKeys(young) {
		if _, ok := old[name]; !ok {
			diff.Added = append(diff.Added, name)
		}
	}
	for _, name := range sortedKeys(old) {
		c, ok := young[name]
		if !ok {
			diff.Removed = append(diff.Removed, name)
			continue
		}
		change, err := compareCapability(
			capabilityVersion{old[name], before.policy(domain, old[name], site)}, capabilityVersion{c, after.policy(domain, c, site)})
		if err != nil {
			return contracts.DomainDiff{}, fmt.Errorf("compare %s.%s: %w", domain, name, err)
		}
		if len(change.Differences) > 0 || len(change.Loosens) > 0 {
			diff.Changed = append(diff.Changed, change)
		}
	}
	return diff, nil
}

func compareCapability(before, after capabilityVersion) (contracts.CapabilityChange, error) {
	change := contracts.CapabilityChange{Capability: after.capability.Name}
	a, err := contracts.Normalize(before.capability)
	if err != nil {
		return change, err
	}
	b, err := contracts.Normalize(after.capability)
	if err != nil {
		return change, err
	}
	differences("", a, b, &change.Differences)
	for _, l := range loosenings(before, after) {
		change.Loosens = append(change.Loosens, l.text)
	}
	return change, nil
}

// differences appends the innermost differences between two JSON values to out.
func differences(at string, a, b any, out *[]contracts.FieldDifference) {
	if len(*out) >= maxDifferences || reflect.DeepEqual(a, b) {
		return
	}
	objectA, okA := a.(map[string]any)
	objectB, okB := b.(map[string]any)
	if okA && okB {
		names := maps.Clone(objectA)
		maps.Copy(names, objectB)
		for _, name := range sortedKeys(names) {
			differences(pointer(at, name), objectA[name], objectB[name], out)
		}
		return
	}
	listA, okA := a.([]any)
	listB, okB := b.([]any)
	if okA && okB && len(listA) == len(listB) {
		for i := range listA {
			differences(pointer(at, strconv.Itoa(i)), listA[i], listB[i], out)
		}
		return
	}
	*out = append(*out, contracts.FieldDifference{Pointer: at, Before: a, After: b})
}

// loosened returns the findings for which an admin must confirm.
func loosened(domain string, before, after domainSet, site contracts.SitePolicy) []contracts.Finding {
	m := after[domain].manifest
	old := byName(before[domain].manifest)
	var out []contracts.Finding
	for i := range m.Capabilities {
		c := &m.Capabilities[i]
		was, ok := old[c.Name]
		if !ok {
			continue
		}
		for _, l := range loosenings(capabilityVersion{was, before.policy(domain, was, site)}, capabilityVersion{c, after.policy(domain, c, site)}) {
			out = append(out, contracts.Finding{
				Pointer: fmt.Sprintf("/capabilities/%d/metadata/%s", i, l.field), Severity: contracts.SeverityConfirm,
				Message: c.Name + ": " + l.text,
			})
		}
	}
	return out
}

func byName(m *contracts.Manifest) map[string]*contracts.Capability {
	out := map[string]*contracts.Capability{}
	if m == nil {
		return out
	}
	for i := range m.Capabilities {
		out[m.Capabilities[i].Name] = &m.Capabilities[i]
	}
	return out
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
