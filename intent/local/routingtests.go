package local

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

// RoutingFailure is a routing test of a manifest that does not hold.
type RoutingFailure struct {
	Domain string `json:"domain"`
	// Index is the place in tests[].
	Index int    `json:"index"`
	Say   string `json:"say"`
	// Problem describes what was expected and what came, for the author.
	Problem string `json:"problem"`
	// Taken means that the sentence is accepted, for something else.
	Taken bool `json:"taken,omitempty"`
}

// smallCatalog is how many examples can be settled while somebody waits.
const smallCatalog = 1500

// RunRoutingTests runs the tests of a domain's manifest against a catalog.
// Roles do not matter, relative dates are not resolved, and tests that need a
// model, or what the domain may not do here, are left out.
func RunRoutingTests(ctx context.Context, a *Reader, catalog *contracts.Catalog, domain string) []RoutingFailure {
	entry, ok := catalog.Domain(domain)
	if !ok || entry.Manifest == nil {
		return nil
	}
	if a.Prepare(catalog).Examples() <= smallCatalog { // that tests tell what messages will meet
		if _, err := a.Settle(ctx, catalog); err != nil {
			return []RoutingFailure{{Domain: domain, Problem: err.Error()}}
		}
	}
	var out []RoutingFailure
	for i, test := range entry.Manifest.Tests {
		if test.LLM || test.Expect != nil && Withheld(entry, test.Expect.Capability) {
			continue
		}
		if problem, taken := runRoutingTest(ctx, a, catalog, domain, test); problem != "" {
			out = append(out, RoutingFailure{Domain: domain, Index: i, Say: test.Say, Problem: problem, Taken: taken})
		}
	}
	return out
}

// Withheld reports whether what a manifest declares under this name is not in use here:
// the trust in the domain does not cover it, or a workflow waits for others.
func Withheld(d *contracts.DomainEntry, name string) bool {
	name = strings.TrimPrefix(name, d.Name+".")
	if slices.ContainsFunc(d.Capabilities, func(e *contracts.CapabilityEntry) bool { return e.Capability.Name == name }) {
		return false
	}
	return slices.ContainsFunc(d.Manifest.Capabilities, func(c contracts.Capability) bool { return c.Name == name }) ||
		slices.ContainsFunc(d.Manifest.Workflows, func(w contracts.Workflow) bool { return w.Name == name })
}

// runRoutingTest returns what is wrong, and whether the sentence leads elsewhere; nothing means
// the test holds. What a test expects is to be accepted, or the first that is asked
// about: who else is registered can make a sentence less clear, and is no fault of the
// manifest.
func runRoutingTest(ctx context.Context, a *Reader, catalog *contracts.Catalog, domain string, test contracts.RoutingTest) (problem string, taken bool) {
	u, err := a.Understand(ctx, intent.Request{Message: test.Say, Catalog: catalog, AnyRole: true})
	if err != nil {
		return err.Error(), false
	}
	accepted := u.Outcome == contracts.ReadingAccepted
	if test.Expect == nil {
		at := slices.IndexFunc(u.Intents, func(in contracts.Intent) bool { return in.Domain == domain })
		if accepted && at >= 0 {
			return fmt.Sprintf("nothing of this domain was expected, but %s was accepted", u.Intents[at].Ref()), false
		}
		return "", false
	}
	want := strings.TrimPrefix(test.Expect.Capability, domain+".")
	at := slices.IndexFunc(u.Intents, func(in contracts.Intent) bool { return in.Domain == domain && in.Capability == want })
	switch {
	case u.Outcome == contracts.ReadingUnclear && askedFirst(u, domain, want):
		return "", false
	case at < 0:
		return fmt.Sprintf("%s was expected, but %s", want, outcomeText(u)), accepted
	case !accepted:
		return fmt.Sprintf("%s was expected and found, but not accepted: %s", want, u.Question), false
	}
	return differences(test.Expect.Parameters, u.Intents[at].Parameters), false
}

// askedFirst reports whether a capability is the first that is asked about.
func askedFirst(u intent.Understanding, domain, capability string) bool {
	if len(u.Choices) > 0 {
		return u.Choices[0].Domain == domain && u.Choices[0].Capability == capability
	}
	return len(u.Intents) > 0 && u.Intents[0].Domain == domain && u.Intents[0].Capability == capability
}

func outcomeText(u intent.Understanding) string {
	if len(u.Intents) == 0 {
		return "the message was declined"
	}
	refs := make([]string, len(u.Intents))
	for i, in := range u.Intents {
		refs[i] = in.Ref()
	}
	return fmt.Sprintf("%s was found", strings.Join(refs, ", "))
}

// differences lists the expected parameters that were not read so.
func differences(want, got map[string]any) string {
	var out []string
	for name, v := range want {
		w, errW := contracts.Canonical(v)
		g, errG := contracts.Canonical(got[name])
		if errW != nil || errG != nil || string(w) != string(g) {
			out = append(out, fmt.Sprintf("parameter %s: expected %s, read %s", name, w, g))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}
