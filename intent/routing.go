package intent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// TestFailure is a routing test of a manifest that does not hold.
type TestFailure struct {
	Domain string `json:"domain"`
	// Index is the place in tests[].
	Index int    `json:"index"`
	Say   string `json:"say"`
	// Problem says what was expected and what came, for the author.
	Problem string `json:"problem"`
}

// RunTests runs the routing tests of a domain's manifest against a catalog
// with the default gates.
func RunTests(catalog *contracts.Catalog, domain string) []TestFailure {
	a := &Adapter{local: NewLocal(1)}
	a.matcher = a.local
	cfg, err := Config{}.withDefaults()
	if err != nil {
		return nil
	}
	a.cfg = cfg
	return a.RunTests(context.Background(), catalog, domain)
}

// RunTests runs the routing tests of a domain's manifest against a catalog.
// Roles do not matter, relative dates are not resolved, and tests that need a
// model are left out.
func (a *Adapter) RunTests(ctx context.Context, catalog *contracts.Catalog, domain string) []TestFailure {
	entry, ok := catalog.Domain(domain)
	if !ok || entry.Manifest == nil {
		return nil
	}
	if err := a.settleSmall(ctx, catalog); err != nil {
		return []TestFailure{{Domain: domain, Problem: err.Error()}}
	}
	var out []TestFailure
	for i, test := range entry.Manifest.Tests {
		if test.LLM {
			continue
		}
		if problem := a.runTest(ctx, catalog, domain, test); problem != "" {
			out = append(out, TestFailure{Domain: domain, Index: i, Say: test.Say, Problem: problem})
		}
	}
	return out
}

// smallCatalog is how many examples can be settled while somebody waits.
const smallCatalog = 1500

// settleSmall has a catalog settled if that takes no time, so that tests tell
// what messages will meet.
func (a *Adapter) settleSmall(ctx context.Context, catalog *contracts.Catalog) error {
	x := a.local.Index(catalog)
	if x.examples() > smallCatalog || a.matcher != Matcher(a.local) {
		return nil
	}
	_, err := a.local.Settle(ctx, catalog)
	return err
}

// runTest gives what is wrong; nothing means the test holds. What a test expects is
// to be accepted, or the first that is asked about: who else is registered can make a
// sentence less clear, and is no fault of the manifest.
func (a *Adapter) runTest(ctx context.Context, catalog *contracts.Catalog, domain string, test contracts.RoutingTest) string {
	u, err := a.understand(ctx, Query{Message: test.Say, Catalog: catalog, AnyRole: true})
	if err != nil {
		return err.Error()
	}
	accepted := u.Outcome == contracts.GateAccept
	if test.Expect == nil {
		at := slices.IndexFunc(u.Intents, func(in contracts.Intent) bool { return in.Domain == domain })
		if accepted && at >= 0 {
			return fmt.Sprintf("nothing of this domain was expected, but %s was accepted", u.Intents[at].Ref())
		}
		return ""
	}
	want := strings.TrimPrefix(test.Expect.Capability, domain+".")
	at := slices.IndexFunc(u.Intents, func(in contracts.Intent) bool { return in.Domain == domain && in.Capability == want })
	switch {
	case u.Outcome == contracts.GateClarify && askedFirst(u, domain, want):
		return ""
	case at < 0:
		return fmt.Sprintf("%s was expected, but %s", want, outcomeText(u))
	case !accepted:
		return fmt.Sprintf("%s was expected and found, but not accepted: %s", want, u.Question)
	}
	return differences(test.Expect.Parameters, u.Intents[at].Parameters)
}

// askedFirst tells whether a capability is the first that is asked about.
func askedFirst(u Understanding, domain, capability string) bool {
	if len(u.Choices) > 0 {
		return u.Choices[0].Domain == domain && u.Choices[0].Capability == capability
	}
	return len(u.Intents) > 0 && u.Intents[0].Domain == domain && u.Intents[0].Capability == capability
}

func outcomeText(u Understanding) string {
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
