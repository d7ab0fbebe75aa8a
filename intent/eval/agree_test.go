package eval_test

import (
	"slices"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/examples/logistics"
	"github.com/manifold-run/manifold/intent/eval"
	"github.com/manifold-run/manifold/intent/local"
)

// together returns the manifests of the demo.
func together(t *testing.T) []*contracts.Manifest {
	t.Helper()
	svc, err := logistics.New(logistics.Config{})
	if err != nil {
		t.Fatal(err)
	}
	freight, err := svc.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	out := []*contracts.Manifest{freight}
	for _, d := range demonstrated(t).Domains {
		out = append(out, d.Manifest)
	}
	return out
}

// The domains of the demo take no sentence from each other, neither at once after
// a registration nor when training is over: else a server would refuse the one
// that comes last. Workflows are no part of this catalog.
func TestTheDomainsOfTheDemoLeaveEachOtherTheirSentences(t *testing.T) {
	t.Parallel()
	manifests := together(t)
	catalog, err := (&eval.Set{Manifests: manifests}).Catalog()
	if err != nil {
		t.Fatal(err)
	}
	for when, adapter := range adapters(t, catalog) {
		for _, m := range manifests {
			for _, f := range local.RunRoutingTests(t.Context(), adapter, catalog, m.Domain) {
				if want := m.Tests[f.Index].Expect; want == nil || !slices.ContainsFunc(m.Workflows, func(w contracts.Workflow) bool { return w.Name == want.Capability }) {
					t.Errorf("%s: %s: %q: %s", when, m.Domain, f.Say, f.Problem)
				}
			}
		}
	}
}
