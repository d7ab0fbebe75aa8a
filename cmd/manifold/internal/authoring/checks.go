package authoring

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/conformance"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/planner/workflow"
)

// Checks are the checks of a server at admission: the manifest's sentences, tried on the local matcher,
// and the steps of its workflows.
func Checks() []conformance.Further {
	return []conformance.Further{
		{Name: "sentences of the manifest's tests", Check: checkSentences},
		{Name: "workflows", Check: checkWorkflows},
	}
}

func oneFinding(rule string, err error) []conformance.Finding {
	return []conformance.Finding{{Rule: rule, Severity: conformance.SeverityError, Message: err.Error()}}
}

// checkSentences runs the manifest's tests, as a registration of this domain alone would.
func checkSentences(ctx context.Context, m *contracts.Manifest) []conformance.Finding {
	const rule = "tests"
	catalog, err := catalogOf(m)
	if err != nil {
		return oneFinding(rule, err)
	}
	adapter, err := local.New(local.Config{})
	if err != nil {
		return oneFinding(rule, err)
	}
	var out []conformance.Finding
	for _, f := range local.RunRoutingTests(ctx, adapter, catalog, m.Domain) {
		out = append(out, conformance.Finding{
			Rule: rule, Severity: conformance.SeverityError, Pointer: fmt.Sprintf("/tests/%d", f.Index),
			Message: fmt.Sprintf("%q: %s", f.Say, f.Problem),
			Fix:     "Add examples of the kind to the capability that is meant, sentences to not of the one that is found, or correct the test.",
		})
	}
	return out
}

// checkWorkflows checks the steps of the manifest's workflows. Capabilities of other domains are
// unknown here.
func checkWorkflows(_ context.Context, m *contracts.Manifest) []conformance.Finding {
	const rule = "workflow"
	catalog, err := catalogOf(m)
	if err != nil {
		return oneFinding(rule, err)
	}
	report := workflow.Check(m, catalog)
	var out []conformance.Finding
	for _, f := range report.Findings {
		out = append(out, conformance.Finding{Rule: rule, Severity: conformance.Severity(f.Severity), Pointer: f.Pointer, Message: f.Message})
	}
	for _, name := range slices.Sorted(maps.Keys(report.Missing)) {
		out = append(out, conformance.Finding{
			Rule: rule, Severity: conformance.SeverityWarning, Pointer: "/workflows",
			Message: name + " is inactive where nobody offers " + strings.Join(report.Missing[name], ", "),
		})
	}
	return out
}

// catalogOf returns a catalog with one domain, including its workflows.
func catalogOf(m *contracts.Manifest) (*contracts.Catalog, error) {
	d := &contracts.DomainEntry{Name: m.Domain, Manifest: m}
	for i := range m.Capabilities {
		c := &m.Capabilities[i]
		policy := c.Metadata.Policy(c.Metadata.Compensation != nil)
		digest, err := contracts.CapabilityDigest(c, policy)
		if err != nil {
			return nil, err
		}
		d.Capabilities = append(d.Capabilities, &contracts.CapabilityEntry{Domain: m.Domain, Capability: c, Policy: policy, Digest: digest})
	}
	calls := contracts.NewCatalog("check", []*contracts.DomainEntry{{Name: m.Domain, Manifest: m, Capabilities: slices.Clone(d.Capabilities)}}, nil)
	for i := range m.Workflows {
		entry, missing, err := workflow.Entry(m, &m.Workflows[i], calls)
		if err == nil && len(missing) == 0 {
			d.Capabilities = append(d.Capabilities, entry)
		}
	}
	return contracts.NewCatalog("check", []*contracts.DomainEntry{d}, nil), nil
}
