package registry_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

func TestRegister(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	manifest := manifestOf("alpha", read("look"))
	empty := b.Catalog()
	report := b.register(t, "alpha", manifest)
	wantOutcome(t, report, contracts.DomainActive)
	e, ok := b.Catalog().Capability("alpha.look")
	if !ok || e.Digest == "" {
		t.Fatalf("the capability is not in the catalog: %+v", e)
	}
	if bare, err := b.Catalog().Resolve("look", ""); err != nil || bare != e {
		t.Errorf("the bare name gives %v, %v", bare, err)
	}
	if len(empty.Domains) != 0 || empty.Snapshot == b.Catalog().Snapshot {
		t.Error("the catalog that was taken before has changed, or the new one has its name")
	}
	if at, ok := b.Endpoint("alpha"); !ok || at.URL != urlOf("alpha") {
		t.Errorf("endpoint %+v, %v", at, ok)
	}
	detail, err := b.Show("alpha")
	if err != nil {
		t.Fatal(err)
	}
	if string(detail.Manifest) != manifest || detail.ActiveDigest != report.Digest || detail.Capabilities != 1 || detail.ManagedBy != "admin" {
		t.Errorf("show gives %+v", detail)
	}
}

func TestDigestIsThatOfTheContent(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	manifest := manifestOf("alpha", read("look"))
	first := b.register(t, "alpha", manifest)
	snapshot := b.Catalog().Snapshot
	b.offer("alpha", strings.ReplaceAll(manifest, ",", " ,\n"))
	report, err := b.RefreshDomain(t.Context(), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, report, contracts.DomainUnchanged)
	if report.Digest != first.Digest || b.Catalog().Snapshot != snapshot {
		t.Error("white space made another manifest")
	}
}

func TestBareNameOfTheServiceIsTaken(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	b.offer("alpha", manifestOf("alpha", read("look")))
	report, err := b.Register(t.Context(), contracts.Registration{URL: urlOf("alpha") + "/"})
	if err != nil || report.Domain != "alpha" {
		t.Fatalf("got %+v, %v", report, err)
	}
	if at, _ := b.Endpoint("alpha"); at.URL != urlOf("alpha") {
		t.Errorf("address %q", at.URL)
	}
}

func TestTwoDomainsMayHaveTheSameName(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	b.register(t, "alpha", manifestOf("alpha", read("look")))
	b.register(t, "beta", manifestOf("beta", read("look")))
	_, err := b.Catalog().Resolve("look", "")
	wantCode(t, err, contracts.CodeConflict)
	for _, ref := range []string{"alpha.look", "beta.look"} {
		if e, err := b.Catalog().Resolve(ref, ""); err != nil || e.Ref() != ref {
			t.Errorf("%s: %v, %v", ref, e, err)
		}
	}
}

func TestStolenNamespace(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	b.register(t, "alpha", manifestOf("alpha", read("look")))
	before := b.Catalog()
	b.offer("beta", manifestOf("alpha", read("look"), read("more")))
	report, err := b.Register(t.Context(), registration("beta"))
	wantCode(t, err, contracts.CodeInvalid)
	want := []string{`/domain: it speaks for the namespace "alpha" but is registered as "beta"`}
	if diff := cmp.Diff(want, lines(report.Findings, contracts.SeverityError)); diff != "" {
		t.Error(diff)
	}
	if b.Catalog() != before {
		t.Error("the catalog has changed")
	}
}

func TestRefusedManifestLeavesTheActiveOne(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		manifest string
		pointer  string
	}{
		"no JSON":                     {`<html>`, ""},
		"another thing altogether":    {`[1,2]`, ""},
		"an unknown key":              {`{"schema_version":"1","domain":"alpha","version":"1","capabilities":[],"color":"red"}`, "/color"},
		"a duplicate name":            {manifestOf("alpha", read("look"), read("look")), "/capabilities/1/name"},
		"a schema that leads outside": {strings.Replace(manifestOf("alpha", read("look")), `{"type":"object","properties":{"id":{"type":"string"}}}`, `{"type":"object","$ref":"file:///etc/passwd"}`, 1), "/capabilities/0/schema"},
		"an unknown reference":        {manifestOf("alpha", capability("change", `{"reconcile":{"capability":"nowhere"}}`)), "/capabilities/0/metadata/reconcile/capability"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, registry.Config{})
			b.register(t, "alpha", manifestOf("alpha", read("look")))
			before := b.Catalog()
			b.offer("alpha", tt.manifest)
			report, err := b.RefreshDomain(t.Context(), "alpha")
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, report, contracts.DomainRefused)
			if got := lines(report.Findings, contracts.SeverityError); len(got) == 0 || !strings.HasPrefix(got[0], tt.pointer) {
				t.Errorf("findings %v, want one at %s", got, tt.pointer)
			}
			if b.Catalog() != before {
				t.Error("the catalog has changed")
			}
			if view := b.List()[0]; view.Outcome != contracts.DomainRefused || view.Detail == "" {
				t.Errorf("the list says %+v", view)
			}
		})
	}
}

func TestRegistrationCanBeChanged(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	manifest := manifestOf("alpha", read("look"), undo)
	b.register(t, "alpha", manifest)
	moved := contracts.Registration{Domain: "alpha", URL: "http://elsewhere.test", Overlay: contracts.Overlay{Trust: contracts.TrustReadsOnly}}
	b.world.set(moved.URL, func(s *service) { s.manifest = manifest })
	if _, err := b.Register(t.Context(), moved); err != nil {
		t.Fatal(err)
	}
	if at, _ := b.Endpoint("alpha"); at.URL != moved.URL {
		t.Errorf("address %q", at.URL)
	}
	if _, ok := b.Catalog().Capability("alpha.undo"); ok {
		t.Error("a write of a domain that is trusted for reads only is in the catalog")
	}
	bad := contracts.Registration{Domain: "alpha", URL: "http://broken.test"}
	b.world.set(bad.URL, func(s *service) { s.manifest = `{}` })
	_, err := b.Register(t.Context(), bad)
	wantCode(t, err, contracts.CodeInvalid)
	if at, _ := b.Endpoint("alpha"); at.URL != moved.URL {
		t.Errorf("a refused registration changed the address to %q", at.URL)
	}
}

func TestUnregister(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	b.register(t, "alpha", manifestOf("alpha", read("look")))
	if err := b.Unregister(t.Context(), "alpha"); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.Catalog().Domain("alpha"); ok {
		t.Error("still in the catalog")
	}
	if _, ok := b.Endpoint("alpha"); ok {
		t.Error("still has an address")
	}
	if rows, err := b.store.Domains(t.Context()); err != nil || len(rows) != 0 {
		t.Errorf("still in the store: %v, %v", rows, err)
	}
	if diff := cmp.Diff([]string{"alpha"}, b.world.forgotten); diff != "" {
		t.Errorf("the client was not told: %s", diff)
	}
	wantCode(t, b.Unregister(t.Context(), "alpha"), contracts.CodeNotFound)
	b.register(t, "alpha", manifestOf("alpha", read("look"))) // and again
}

func TestDiff(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	from := b.register(t, "alpha", careful())
	young := strings.Replace(with(t, careful(), `"quorum":2`, `"quorum":1`), `"name":"undo"`, `"name":"undone"`, 1)
	young = strings.Replace(young, `"capability":"undo"`, `"capability":"undone"`, 1)
	b.offer("alpha", young)
	for _, when := range []string{"offered", "pending"} {
		diff, err := b.Diff(t.Context(), "alpha")
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		want := contracts.DomainDiff{
			Domain: "alpha", From: from.Digest, To: diff.To, Added: []string{"undone"}, Removed: []string{"undo"},
			Changed: []contracts.CapabilityChange{{
				Capability: "change",
				Differences: []contracts.FieldDifference{
					{Pointer: "/metadata/approval/quorum", Before: 2.0, After: 1.0},
					{Pointer: "/metadata/compensation/capability", Before: "undo", After: "undone"},
				},
				Loosens: []string{"quorum 2 becomes 1"},
			}},
			Findings: diff.Findings,
		}
		if d := cmp.Diff(want, diff); d != "" {
			t.Errorf("%s:\n%s", when, d)
		}
		if diff.To == diff.From || len(lines(diff.Findings, contracts.SeverityConfirm)) != 1 {
			t.Errorf("%s: to %s, findings %v", when, diff.To, diff.Findings)
		}
		if entry, _ := b.Catalog().Domain("alpha"); entry.Digest != from.Digest {
			t.Fatalf("%s: a comparison activated something", when)
		}
		if _, err := b.RefreshDomain(t.Context(), "alpha"); err != nil {
			t.Fatal(err)
		}
		b.offer("alpha", `{"what is offered":"does not matter while something is pending"}`)
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	b.register(t, "alpha", careful())
	b.offer("alpha", with(t, careful(), `"quorum":2`, `"quorum":1`))
	pending, err := b.RefreshDomain(t.Context(), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	before := b.Catalog()

	b.world.set(urlOf("alpha"), func(s *service) { s.err = contracts.Errorf(contracts.CodeUnavailable, "down") })
	again := b.process(t, registry.Config{}, nil)
	start(t, again, contracts.Bootstrap{})
	if again.Catalog().Snapshot != before.Snapshot {
		t.Error("with the service down, the catalog after a restart is another one")
	}
	if _, err := again.Confirm(t.Context(), "alpha", pending.Digest); err != nil {
		t.Errorf("what was pending before the restart: %v", err)
	}
}

func TestBootstrap(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	for _, name := range []string{"alpha", "beta", "gamma"} {
		b.offer(name, manifestOf(name, read("look")))
	}
	b.register(t, "gamma", manifestOf("gamma", read("look"))) // by an admin

	first := b.process(t, registry.Config{}, nil)
	start(t, first, contracts.Bootstrap{Domains: []contracts.Registration{
		registration("alpha"), registration("beta"),
		{Domain: "gamma", URL: "http://other.test"},
	}})
	settle(t, first)
	want := map[string]string{"alpha": "file", "beta": "file", "gamma": "admin"}
	if diff := cmp.Diff(want, managers(first)); diff != "" {
		t.Error(diff)
	}
	if at, _ := first.Endpoint("gamma"); at.URL != urlOf("gamma") {
		t.Errorf("the file changed what an admin manages: %s", at.URL)
	}
	_, err := first.Register(t.Context(), registration("alpha"))
	wantCode(t, err, contracts.CodeConflict)
	wantCode(t, first.Unregister(t.Context(), "alpha"), contracts.CodeConflict)
	stop(t, first)

	moved := registration("alpha")
	moved.Floor = &contracts.Floor{Capabilities: map[string]contracts.FloorRule{"look": {ApprovalRequired: true}}}
	second := b.process(t, registry.Config{}, nil)
	start(t, second, contracts.Bootstrap{Domains: []contracts.Registration{moved}})
	if diff := cmp.Diff(map[string]string{"alpha": "file", "gamma": "admin"}, managers(second)); diff != "" {
		t.Errorf("after beta was taken out of the file: %s", diff)
	}
	if !policyOf(t, second, "alpha.look").ApprovalRequired {
		t.Error("the changed registration does not apply")
	}
}

func managers(r *registry.Registry) map[string]string {
	out := map[string]string{}
	for _, v := range r.List() {
		out[v.Domain] = v.ManagedBy
	}
	return out
}

func settle(t *testing.T, r *registry.Registry) {
	t.Helper()
	if err := r.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestTwoProcessesDoNotOverwriteEachOther(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	b.register(t, "alpha", manifestOf("alpha", read("look")))
	other := b.process(t, registry.Config{}, nil)
	start(t, other, contracts.Bootstrap{})
	settle(t, other)

	b.offer("alpha", manifestOf("alpha", read("look"), read("peek")))
	if _, err := b.RefreshDomain(t.Context(), "alpha"); err != nil {
		t.Fatal(err)
	}
	b.offer("alpha", manifestOf("alpha", read("look"), read("stare")))
	_, err := other.RefreshDomain(t.Context(), "alpha") // it still has the first revision
	wantCode(t, err, contracts.CodeConflict)
	if _, ok := other.Catalog().Capability("alpha.peek"); !ok {
		t.Error("it does not follow what the first process activated")
	}
	if _, err := other.RefreshDomain(t.Context(), "alpha"); err != nil {
		t.Errorf("the second time: %v", err)
	}
	if _, ok := other.Catalog().Capability("alpha.stare"); !ok {
		t.Error("the second time it was not activated")
	}
}

// Refresh takes over what another server has registered.
func TestARefreshFollowsOtherServers(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	other := b.process(t, registry.Config{}, nil)
	start(t, other, contracts.Bootstrap{})
	settle(t, other)
	b.register(t, "alpha", manifestOf("alpha", read("look")))
	if err := other.Refresh(t.Context(), "alpha"); err != nil {
		t.Fatal(err)
	}
	if _, ok := other.Catalog().Capability("alpha.look"); !ok {
		t.Error("it does not know what the first server has registered")
	}
	wantCode(t, other.Refresh(t.Context(), "beta"), contracts.CodeNotFound)
}

func TestRefreshesAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, registry.Config{})
		b.register(t, "alpha", manifestOf("alpha", read("look")))
		hang := make(chan struct{})
		b.world.set(urlOf("alpha"), func(s *service) { s.hang, s.asked = hang, 0 })
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				if err := b.Refresh(context.WithoutCancel(t.Context()), "alpha"); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(hang)
		wg.Wait()
		// The first fetch, and one shared by all callers during it.
		if n := b.world.get(urlOf("alpha")).asked; n != 2 {
			t.Errorf("%d fetches for 16 callers, want 2", n)
		}
	})
}

func TestRefreshOfAnUnknownDomain(t *testing.T) {
	t.Parallel()
	wantCode(t, setup(t, registry.Config{}).Refresh(t.Context(), "omega"), contracts.CodeNotFound)
}

func TestNewRefusesABadSitePolicy(t *testing.T) {
	t.Parallel()
	_, err := registry.New(registry.Config{Site: contracts.SitePolicy{Roles: map[string]string{"notifier": "tell"}}}, nil, nil, nil)
	wantCode(t, err, contracts.CodeInvalid)
}

func TestRefusedCredentialDegradesTheDomain(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	b.register(t, "alpha", manifestOf("alpha", read("look")))
	start(t, b.Registry, contracts.Bootstrap{})
	awaitHealth(t, b.Registry, contracts.HealthOK)
	b.Unauthorized("alpha")
	b.Unauthorized("omega") // an unknown domain is no error
	if view := b.List()[0]; view.Health != contracts.HealthDegraded || !strings.Contains(view.Detail, "credential") {
		t.Errorf("got %s, %q", view.Health, view.Detail)
	}
}
