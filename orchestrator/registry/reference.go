package registry

import (
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// reference is one place where a capability refers to another.
type reference struct {
	pointer string
	target  string
	// mustRead means that the target must not be a write, which would be called without approval.
	mustRead bool
}

// references lists what a capability of the manifest refers to.
func references(i int, m contracts.Metadata) []reference {
	at := fmt.Sprintf("/capabilities/%d/metadata", i)
	var out []reference
	if m.Compensation != nil {
		out = append(out, reference{at + "/compensation/capability", m.Compensation.Capability, false})
	}
	if m.Reconcile != nil {
		out = append(out, reference{at + "/reconcile/capability", m.Reconcile.Capability, true})
	}
	if m.Verify != nil {
		out = append(out, reference{at + "/verify/capability", m.Verify.Capability, true})
	}
	if m.Flow == nil {
		return out
	}
	for j, step := range m.Flow.Pre {
		out = append(out, reference{fmt.Sprintf("%s/flow/pre/%d/search_capability", at, j), step.SearchCapability, true})
	}
	for j, step := range m.Flow.Post {
		out = append(out, reference{fmt.Sprintf("%s/flow/post/%d/capability", at, j), step.Capability, true})
	}
	return out
}

// checkReferences checks the references to other domains; parsing the manifest has checked those
// within the domain. A domain that is not active may come later: until then the reference is
// unresolved, which fails closed.
func checkReferences(set domainSet, domain string, m *contracts.Manifest) []contracts.Finding {
	var out []contracts.Finding
	for i := range m.Capabilities {
		for _, ref := range references(i, m.Capabilities[i].Metadata) {
			target, _, crosses := strings.Cut(ref.target, ".")
			if !crosses || target == domain {
				continue
			}
			if f, bad := checkReference(set, domain, target, ref); bad {
				out = append(out, f)
			}
		}
	}
	return out
}

func checkReference(set domainSet, domain, target string, ref reference) (contracts.Finding, bool) {
	found, ok := set.capability(ref.target, domain)
	_, present := set[target]
	switch {
	case !present:
		return contracts.Finding{
			Pointer: ref.pointer, Severity: contracts.SeverityWarning,
			Message: fmt.Sprintf("%q is not active; %q counts as missing until it is", target, ref.target),
		}, true
	case !ok:
		return contracts.Finding{
			Pointer: ref.pointer, Severity: contracts.SeverityError,
			Message: fmt.Sprintf("there is no capability %q", ref.target),
		}, true
	case ref.mustRead && found.Metadata.Policy(false).SideEffectClass.Writes():
		return contracts.Finding{
			Pointer: ref.pointer, Severity: contracts.SeverityError,
			Message: fmt.Sprintf("%q must be a read or a suggestion, but it writes", ref.target),
		}, true
	}
	return contracts.Finding{}, false
}
