package local_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/sample"
)

// without returns a generated catalog that lacks its last domain, and the whole.
func without(n int) (before, after *contracts.Catalog) {
	after = generated(n, 3)
	domains := slices.Clone(after.Domains)
	last := slices.IndexFunc(domains, func(d *contracts.DomainEntry) bool { return d.Name == "domain1" })
	return contracts.NewCatalog("before", slices.Delete(domains, last, last+1), nil), after
}

func settle(tb testing.TB, a *local.Reader, c *contracts.Catalog) *local.Index {
	tb.Helper()
	x, err := a.Settle(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

func newAdapter(tb testing.TB, cfg local.Config) *local.Reader {
	tb.Helper()
	a, err := local.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func TestASettledIndexDoesNotDependOnWhatWasBefore(t *testing.T) {
	t.Parallel()
	sample.Computes(t)
	before, after := without(300)
	fresh := settle(t, newAdapter(t, local.Config{}), after)
	grown := newAdapter(t, local.Config{})
	settle(t, grown, before)
	late := grown.Prepare(after)
	if !late.Provisional() || late.ID() != "" || late.Size() != 300 {
		t.Errorf("after a registration: provisional %v, id %q, size %d", late.Provisional(), late.ID(), late.Size())
	}
	again := settle(t, grown, after)
	if again.Provisional() || again.ID() == "" || again.ID() != fresh.ID() || again.Fingerprint() != fresh.Fingerprint() {
		t.Errorf("the same catalog settled differently: %s %s, %s %s", fresh.ID(), fresh.Fingerprint(), again.ID(), again.Fingerprint())
	}
	if again.Fingerprint() == late.Fingerprint() {
		t.Error("training changed nothing")
	}
	careful := settle(t, newAdapter(t, local.Config{OutOfScope: 0.5}), after)
	if careful.ID() == fresh.ID() {
		t.Error("other settings have the same identifier")
	}
}

func TestANewDomainIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	before, after := without(300)
	a := newAdapter(t, local.Config{})
	settle(t, a, before)
	for _, ref := range []string{"domain1", "domain2"} {
		d, ok := after.Domain(ref)
		if !ok {
			t.Fatalf("no domain %s", ref)
		}
		for _, entry := range []*contracts.CapabilityEntry{d.Capabilities[3], d.Capabilities[60]} {
			req := intent.Request{Message: entry.Capability.Description, Catalog: after}
			ranked, err := a.Shortlist(t.Context(), req, 3)
			if err != nil {
				t.Fatal(err)
			}
			if len(ranked) == 0 || ranked[0].Entry != entry {
				t.Errorf("%q leads to %v, want %s", req.Message, ranked, entry.Ref())
			}
		}
	}
	if d, ok := after.Domain("domain1"); ok {
		ranked, err := a.Shortlist(t.Context(), intent.Request{Message: d.Capabilities[3].Capability.Description, Catalog: before}, 300)
		if err != nil || slices.ContainsFunc(ranked, func(r local.Ranked) bool { return r.Entry.Domain == "domain1" }) {
			t.Errorf("the catalog before knows the new domain: %v, %v", ranked, err)
		}
	}
}

func TestADomainThatIsGoneIsNotFound(t *testing.T) {
	t.Parallel()
	before, after := without(300)
	a := newAdapter(t, local.Config{})
	settle(t, a, after)
	if x := a.Prepare(before); x.Size() != 200 || !x.Provisional() {
		t.Errorf("size %d, provisional %v", x.Size(), x.Provisional())
	}
	d, ok := after.Domain("domain1")
	if !ok {
		t.Fatal("no domain")
	}
	for _, c := range d.Capabilities[:10] {
		for _, say := range []string{c.Capability.Description, c.Capability.Metadata.IntentHints.Examples[0]} {
			u, err := a.Understand(t.Context(), intent.Request{Message: say, Catalog: before})
			if err != nil || slices.ContainsFunc(u.Intents, func(in contracts.Intent) bool { return in.Domain == "domain1" }) {
				t.Errorf("%q still leads to %+v, %v", say, u.Intents, err)
			}
		}
	}
}

func TestIndexesSettleInTheBackground(t *testing.T) {
	t.Parallel()
	before, after := without(200)
	a := newAdapter(t, local.Config{})
	for range 2 {
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	a.Prepare(before)
	a.Prepare(after)
	deadline := time.After(time.Minute)
	for a.Prepare(after).Provisional() {
		select {
		case <-deadline:
			t.Fatal("the index did not settle")
		case <-time.After(time.Millisecond):
		}
	}
	for range 2 {
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := settle(t, newAdapter(t, local.Config{}), after)
	if got := a.Prepare(after); got.Fingerprint() != want.Fingerprint() {
		t.Error("in the background it settles to something else")
	}
}

func TestTrainingStopsAtOnce(t *testing.T) {
	t.Parallel()
	a := newAdapter(t, local.Config{})
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.Prepare(generated(2000, 10))
	if err := a.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Settle(ctx, generated(300, 2)); err == nil {
		t.Error("a cancelled training gave an index")
	}
}

func TestAStartedAdapterCanBeStartedAgain(t *testing.T) {
	t.Parallel()
	a := newAdapter(t, local.Config{})
	for range 20 {
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// What the settled index makes of unknown sentences must follow the share of
// messages that are meant for nobody.
func TestMoreOutOfScopeMakesItMoreCareful(t *testing.T) {
	t.Parallel()
	sample.Computes(t)
	catalog := generated(60, 5)
	sum := func(share float64) float64 {
		a, total := newAdapter(t, local.Config{OutOfScope: share}), 0.0
		settle(t, a, catalog)
		for i := range 20 {
			message := "I wonder about the " + word(i) + " or its bicycle"
			_, clauses, err := a.Explain(t.Context(), intent.Request{Message: message, Catalog: catalog})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range clauses {
				if len(c.Candidates) > 0 {
					total += c.Candidates[0].Confidence
				}
			}
		}
		return total
	}
	if bold, careful := sum(0.05), sum(0.6); careful >= bold {
		t.Errorf("confidence %.3f at a share of 0.6, %.3f at 0.05", careful, bold)
	}
}

// A catalog that is too small to learn from follows the share too.
func TestTheShareOutOfScopeCountsInSmallCatalogs(t *testing.T) {
	t.Parallel()
	of := func(share float64) float64 {
		a := newAdapter(t, local.Config{OutOfScope: share})
		settle(t, a, described())
		_, clauses, err := a.Explain(t.Context(), intent.Request{Message: "what does the firing of a porcelain vase cost", Catalog: described()})
		if err != nil || len(clauses) != 1 {
			t.Fatalf("%d clauses, %v", len(clauses), err)
		}
		return clauses[0].Candidates[0].Confidence
	}
	if bold, as, careful := of(0.05), of(0), of(0.6); careful >= as || as >= bold {
		t.Errorf("confidence %.3f at a share of 0.6, %.3f at the default, %.3f at 0.05", careful, as, bold)
	}
}

func TestTheShareOutOfScopeIsAShare(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{-0.1, 0.95} {
		if _, err := local.New(local.Config{OutOfScope: share}); contracts.CodeOf(err) != contracts.CodeInvalid {
			t.Errorf("%g was taken: %v", share, err)
		}
	}
}
