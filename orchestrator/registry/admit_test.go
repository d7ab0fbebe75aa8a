package registry_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// change is a write with all safeguards; undo compensates it.
const change = `{"name":"change","description":"It changes.","schema":{"type":"object","properties":{"id":{"type":"string"},"mail":{"type":"string"}}},"metadata":{` +
	`"side_effect_class":"write_reversible","idempotency":"none","idempotency_window_s":60,"risk_level":"medium",` +
	`"approval":{"four_eyes":true,"quorum":2,"roles":["approver"]},` +
	`"locks":["thing:{id}"],"allowed_roles":["clerk"],"phases":["apply"],"verifier_required":true,` +
	`"compensation":{"capability":"undo","param_map":{"id":"${params.id}"}},` +
	`"verify":{"capability":"look","param_map":{"id":"${params.id}"},"assertions":[{"path":"facts.id","equals":"${params.id}"}]},` +
	`"parameter_specs":{"mail":{"pii":true}},"intent_hints":{"examples":["change it"]}}}`

const undo = `{"name":"undo","description":"It undoes.","schema":{"type":"object","properties":{"id":{"type":"string"}}},"metadata":{` +
	`"side_effect_class":"write_irreversible","idempotency":"natural","routable":false}}`

func careful() string { return manifestOf("alpha", change, undo, read("look")) }

func TestLooseningNeedsAConfirmation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		old, young string
		want       []string
	}{
		"write becomes read": {
			`"side_effect_class":"write_reversible","idempotency":"none"`, `"side_effect_class":"read"`,
			[]string{
				"/capabilities/0/metadata/side_effect_class: change: side_effect_class write_reversible becomes read",
				"/capabilities/0/metadata/approval_required: change: no approval is required any more",
			},
		},
		"irreversible becomes reversible": {
			`"side_effect_class":"write_irreversible"`,
			`"compensation":{"capability":"change"},"side_effect_class":"write_reversible","verifier_required":true`,
			[]string{"/capabilities/1/metadata/side_effect_class: undo: side_effect_class write_irreversible becomes write_reversible"},
		},
		"approval dropped": {
			`"risk_level":"medium"`, `"risk_level":"low","approval_required":false`,
			[]string{
				"/capabilities/0/metadata/risk_level: change: risk_level medium becomes low",
				"/capabilities/0/metadata/approval_required: change: no approval is required any more",
			},
		},
		"idempotency raised": {
			`"idempotency":"none"`, `"idempotency":"keyed"`,
			[]string{"/capabilities/0/metadata/idempotency: change: idempotency none becomes keyed: a lost call would be sent again"},
		},
		"four eyes dropped":  {`"four_eyes":true`, `"four_eyes":false`, []string{"/capabilities/0/metadata/approval/four_eyes: change: four eyes are not required any more"}},
		"quorum lowered":     {`"quorum":2`, `"quorum":1`, []string{"/capabilities/0/metadata/approval/quorum: change: quorum 2 becomes 1"}},
		"more approvers":     {`"roles":["approver"]`, `"roles":["approver","viewer"]`, []string{"/capabilities/0/metadata/approval/roles: change: the roles [viewer] may approve it as well"}},
		"verifier dropped":   {`"verifier_required":true`, `"verifier_required":false`, []string{"/capabilities/0/metadata/verifier_required: change: a verifier is not required any more"}},
		"a lock dropped":     {`"locks":["thing:{id}"],`, ``, []string{"/capabilities/0/metadata/locks: change: it does not take the locks [thing:{id}] any more"}},
		"open to all roles":  {`"allowed_roles":["clerk"],`, ``, []string{"/capabilities/0/metadata/allowed_roles: change: allowed_roles [clerk] becomes all"}},
		"open to more roles": {`"allowed_roles":["clerk"]`, `"allowed_roles":["clerk","guest"]`, []string{"/capabilities/0/metadata/allowed_roles: change: allowed_roles [clerk] becomes [clerk guest]"}},
		"used in all phases": {`"phases":["apply"],`, ``, []string{"/capabilities/0/metadata/phases: change: phases [apply] becomes all"}},
		"not masked":         {`"pii":true`, `"pii":false`, []string{"/capabilities/0/metadata/parameter_specs/mail/pii: change: the parameter mail is not masked any more"}},
		"reached by dry run": {`"verifier_required":true`, `"verifier_required":true,"dry_run":true`, []string{"/capabilities/0/metadata/dry_run: change: a dry run would reach it, without a gate"}},
		"no read-back": {
			`"verify":{"capability":"look","param_map":{"id":"${params.id}"},"assertions":[{"path":"facts.id","equals":"${params.id}"}]},`, ``,
			[]string{"/capabilities/0/metadata/verify: change: it is not read back any more"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, registry.Config{})
			active := b.register(t, "alpha", careful())
			before := policyOf(t, b.Registry, "alpha.change")
			b.offer("alpha", with(t, careful(), tt.old, tt.young))
			report, err := b.RefreshDomain(t.Context(), "alpha")
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, report, contracts.DomainPending)
			if diff := cmp.Diff(tt.want, lines(report.Findings, contracts.SeverityConfirm)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, policyOf(t, b.Registry, "alpha.change")); diff != "" {
				t.Errorf("it applies before it was confirmed:\n%s", diff)
			}
			if got, err := b.Confirm(t.Context(), "alpha", report.Digest); err != nil || got.Outcome != contracts.DomainActive {
				t.Errorf("confirm: %+v, %v", got, err)
			}
			if entry, _ := b.Catalog().Domain("alpha"); entry.Digest != report.Digest || entry.Digest == active.Digest {
				t.Errorf("after the confirmation the catalog holds %s, want %s", entry.Digest, report.Digest)
			}
		})
	}
}

func TestTighteningNeedsNoConfirmation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ old, young string }{
		"read becomes write":           {`"side_effect_class":"read"`, `"side_effect_class":"write_irreversible"`},
		"risk raised":                  {`"risk_level":"medium"`, `"risk_level":"critical"`},
		"quorum raised":                {`"quorum":2`, `"quorum":3`},
		"a narrower window":            {`"idempotency_window_s":60`, `"idempotency_window_s":30`},
		"idempotency lowered":          {`"idempotency":"natural"`, `"idempotency":"none"`},
		"compensation dropped":         {`"compensation":{"capability":"undo","param_map":{"id":"${params.id}"}},`, ``},
		"another text":                 {`"It changes."`, `"It changes a thing."`},
		"a capability more":            {`{"name":"undo"`, read("other") + `,{"name":"undo"`},
		"locks added":                  {`"locks":["thing:{id}"]`, `"locks":["thing:{id}","all"]`},
		"a verifier where there is no": {`"routable":false`, `"routable":false,"verifier_required":true`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, registry.Config{})
			manifest := careful()
			if name == "read becomes write" { // nothing may refer to it as a read
				manifest = manifestOf("alpha", undo, read("look"))
			}
			b.register(t, "alpha", manifest)
			b.offer("alpha", with(t, manifest, tt.old, tt.young))
			report, err := b.RefreshDomain(t.Context(), "alpha")
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, report, contracts.DomainActive)
		})
	}
}

func TestWhatTheOverlayHoldsUpIsNoLoosening(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	b.offer("alpha", careful())
	reg := registration("alpha")
	reg.Floor = &contracts.Floor{FloorRule: contracts.FloorRule{RiskLevel: contracts.RiskHigh}}
	if _, err := b.Register(t.Context(), reg); err != nil {
		t.Fatal(err)
	}
	b.offer("alpha", with(t, careful(), `"risk_level":"medium"`, `"risk_level":"low","approval_required":false`))
	report, err := b.RefreshDomain(t.Context(), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, report, contracts.DomainActive)
	if p := policyOf(t, b.Registry, "alpha.change"); !p.ApprovalRequired || p.RiskLevel != contracts.RiskHigh {
		t.Errorf("the floor does not hold: %+v", p)
	}
}

func TestConfirmIsBoundToOneManifest(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	b.register(t, "alpha", careful())
	_, err := b.Confirm(t.Context(), "alpha", "anything")
	wantCode(t, err, contracts.CodeConflict)
	_, err = b.Confirm(t.Context(), "omega", "anything")
	wantCode(t, err, contracts.CodeNotFound)

	b.offer("alpha", with(t, careful(), `"quorum":2`, `"quorum":1`))
	shown, err := b.RefreshDomain(t.Context(), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	b.offer("alpha", with(t, careful(), `"four_eyes":true,"quorum":2`, `"quorum":1`))
	if _, err := b.RefreshDomain(t.Context(), "alpha"); err != nil {
		t.Fatal(err)
	}
	_, err = b.Confirm(t.Context(), "alpha", shown.Digest) // another manifest is pending now
	wantCode(t, err, contracts.CodeConflict)
	if p := policyOf(t, b.Registry, "alpha.change"); p.Approval.Quorum != 2 {
		t.Errorf("quorum %d is in force", p.Approval.Quorum)
	}
}

func TestPendingManifestGoesWhenItIsWithdrawn(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]string{
		"the service goes back to the active one": careful(),
		"the service offers nonsense":             `{"schema_version":"1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, registry.Config{})
			b.register(t, "alpha", careful())
			b.offer("alpha", with(t, careful(), `"quorum":2`, `"quorum":1`))
			pending, err := b.RefreshDomain(t.Context(), "alpha")
			if err != nil {
				t.Fatal(err)
			}
			b.offer("alpha", next)
			if _, err := b.RefreshDomain(t.Context(), "alpha"); err != nil {
				t.Fatal(err)
			}
			_, err = b.Confirm(t.Context(), "alpha", pending.Digest)
			wantCode(t, err, contracts.CodeConflict)
		})
	}
}

func TestAReadWithTheNameOfAWriteWaitsForAnAdmin(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	report := b.register(t, "alpha", manifestOf("alpha", read("delete_thing"), read("sendThing"), read("get_deleted"), read("updates")))
	wantOutcome(t, report, contracts.DomainPending)
	if diff := cmp.Diff([]string{
		`/capabilities/0/metadata/side_effect_class: "delete_thing" is declared as read, but its name begins with "delete"; reads run without approval`,
		`/capabilities/1/metadata/side_effect_class: "sendThing" is declared as read, but its name begins with "send"; reads run without approval`,
	}, lines(report.Findings, contracts.SeverityConfirm)); diff != "" {
		t.Error(diff)
	}
	if got, err := b.Confirm(t.Context(), "alpha", report.Digest); err != nil || got.Outcome != contracts.DomainActive {
		t.Fatalf("confirm: %+v, %v", got, err)
	}
	b.offer("alpha", manifestOf("alpha", read("delete_thing"), read("sendThing")))
	again, err := b.RefreshDomain(t.Context(), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, again, contracts.DomainActive) // it was confirmed with this class
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	quiet := `{"side_effect_class":"read"}`
	tests := map[string]struct {
		manifest string
		want     []string
	}{
		"nothing to be found by": {
			manifestOf("alpha", capability("look", quiet), capability("peek", `{"side_effect_class":"read","routable":false}`)),
			[]string{`/capabilities/0/metadata/intent_hints/examples: "look" may be chosen from text but gives no example of one`},
		},
		"a write that is never read back": {
			manifestOf("alpha", capability("change", `{"side_effect_class":"write_irreversible","routable":false}`)),
			[]string{`/capabilities/0/metadata: "change" is a write without verify; its verdict is at best degraded`},
		},
		"the words of another domain": {
			manifestOf("alpha", capability("look", `{"side_effect_class":"read","intent_hints":{"examples":["look at me","Show the OTHER!"]}}`)),
			[]string{`/capabilities/0/metadata/intent_hints/examples/1: the same words are an example of beta.other`},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, registry.Config{})
			b.register(t, "beta", manifestOf("beta", read("other")))
			report := b.register(t, "alpha", tt.manifest)
			wantOutcome(t, report, contracts.DomainActive)
			if diff := cmp.Diff(tt.want, lines(report.Findings, contracts.SeverityWarning)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFloorForNothingIsToldOf(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	b.offer("alpha", manifestOf("alpha", read("look")))
	reg := registration("alpha")
	reg.Floor = &contracts.Floor{Capabilities: map[string]contracts.FloorRule{"lok": {ApprovalRequired: true}}}
	report, err := b.Register(t.Context(), reg)
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(report.Findings, contracts.SeverityWarning); len(got) != 1 || !strings.Contains(got[0], `"lok"`) {
		t.Errorf("got %v", got)
	}
}

// crossing is a write that refers to another domain.
const crossing = `{"side_effect_class":"write_reversible","risk_level":"low","approval_required":false,"routable":false,` +
	`"compensation":{"capability":"beta.undo"}}`

func TestReferencesToOtherDomains(t *testing.T) {
	t.Parallel()
	t.Run("one to a domain that is there resolves", func(t *testing.T) {
		t.Parallel()
		b := setup(t, registry.Config{})
		b.register(t, "beta", manifestOf("beta", undo))
		b.register(t, "alpha", manifestOf("alpha", capability("change", crossing)))
		if p := policyOf(t, b.Registry, "alpha.change"); p.SideEffectClass != contracts.ClassWriteReversible || p.ApprovalRequired {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("one to a domain that is not there fails closed until it comes", func(t *testing.T) {
		t.Parallel()
		b := setup(t, registry.Config{})
		report := b.register(t, "alpha", manifestOf("alpha", capability("change", crossing)))
		if got := lines(report.Findings, contracts.SeverityWarning); len(got) == 0 || !strings.HasPrefix(got[0], "/capabilities/0/metadata/compensation/capability: ") {
			t.Errorf("warnings %v", got)
		}
		before := policyOf(t, b.Registry, "alpha.change")
		if before.SideEffectClass != contracts.ClassWriteIrreversible || !before.ApprovalRequired {
			t.Errorf("got %+v", before)
		}
		b.register(t, "beta", manifestOf("beta", undo))
		if p := policyOf(t, b.Registry, "alpha.change"); p.SideEffectClass != contracts.ClassWriteReversible {
			t.Errorf("after the other domain came: %+v", p)
		}
	})
	t.Run("one to a capability that is missing is refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, registry.Config{})
		b.register(t, "beta", manifestOf("beta", read("look")))
		b.offer("alpha", manifestOf("alpha", capability("change", crossing)))
		report, err := b.Register(t.Context(), registration("alpha"))
		wantCode(t, err, contracts.CodeInvalid)
		want := []string{`/capabilities/0/metadata/compensation/capability: there is no capability "beta.undo"`}
		if diff := cmp.Diff(want, lines(report.Findings, contracts.SeverityError)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a read-back that writes is refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, registry.Config{})
		b.register(t, "beta", manifestOf("beta", undo))
		b.offer("alpha", manifestOf("alpha", capability("change",
			`{"side_effect_class":"write_irreversible","routable":false,"reconcile":{"capability":"beta.undo"}}`)))
		report, err := b.Register(t.Context(), registration("alpha"))
		wantCode(t, err, contracts.CodeInvalid)
		if got := lines(report.Findings, contracts.SeverityError); len(got) != 1 || !strings.Contains(got[0], "reconcile") {
			t.Errorf("got %v", got)
		}
	})
}

func TestOwnTestsMustPass(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	r := b.process(t, registry.Config{}, func(_ *contracts.Catalog, _, say string) string {
		if say == "do nonsense" {
			return "nothing was accepted"
		}
		return ""
	})
	manifest := with(t, manifestOf("alpha", read("look")), `"capabilities"`,
		`"tests":[{"say":"show the look","expect":{"capability":"look"}},{"say":"do nonsense","expect":{"capability":"look"}}],"capabilities"`)
	b.offer("alpha", manifest)
	report, err := r.Register(t.Context(), registration("alpha"))
	wantCode(t, err, contracts.CodeInvalid)
	want := []string{`/tests/1: "do nonsense": nothing was accepted`}
	if diff := cmp.Diff(want, lines(report.Findings, contracts.SeverityError)); diff != "" {
		t.Error(diff)
	}
}

func TestTakingSentencesOfOthersNeedsAConfirmation(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	r := b.process(t, registry.Config{}, func(c *contracts.Catalog, domain, say string) string {
		_, thief := c.Domain("alpha")
		if domain == "beta" && (say == "always bad" || thief && say == "show the other") {
			return elsewhere
		}
		return ""
	})
	old := with(t, manifestOf("beta", read("other")), `"capabilities"`,
		`"tests":[{"say":"show the other","expect":{"capability":"other"}}],"capabilities"`)
	b.offer("beta", old)
	if _, err := r.Register(t.Context(), registration("beta")); err != nil {
		t.Fatal(err)
	}
	b.offer("alpha", manifestOf("alpha", read("look")))
	report, err := r.Register(t.Context(), registration("alpha"))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, report, contracts.DomainPending)
	want := []string{`: a sentence of beta does not lead there any more: "show the other": it leads elsewhere`}
	if diff := cmp.Diff(want, lines(report.Findings, contracts.SeverityConfirm)); diff != "" {
		t.Error(diff)
	}
	if _, ok := r.Catalog().Domain("alpha"); ok {
		t.Error("it is in the catalog before it was confirmed")
	}
	if _, err := r.Confirm(t.Context(), "alpha", report.Digest); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Catalog().Domain("alpha"); !ok {
		t.Error("it is not in the catalog after it was confirmed")
	}
}

func TestTrustSiteAndWaiver(t *testing.T) {
	t.Parallel()
	tell := with(t, capability("tell", `{"side_effect_class":"write_irreversible","risk_level":"low","routable":false,"plays":["notifier"]}`),
		`"id"`, `"message"`)
	manifest := manifestOf("alpha", change, undo, read("look"), tell)
	readsOnly := registration("alpha")
	readsOnly.Trust = contracts.TrustReadsOnly
	surer := registration("alpha")
	surer.Floor = &contracts.Floor{FloorRule: contracts.FloorRule{AcceptWrite: 0.9, AcceptRead: 0.5}}
	tests := map[string]struct {
		site  contracts.SitePolicy
		reg   contracts.Registration
		check func(t *testing.T, c *contracts.Catalog)
	}{
		"a domain trusted for reads has no writes": {contracts.SitePolicy{}, readsOnly, func(t *testing.T, c *contracts.Catalog) {
			t.Helper()
			entry, _ := c.Domain("alpha")
			if len(entry.Capabilities) != 1 || entry.Capabilities[0].Ref() != "alpha.look" {
				t.Errorf("got %d capabilities", len(entry.Capabilities))
			}
		}},
		"a site raises what it names": {
			contracts.SitePolicy{Floor: &contracts.Floor{Capabilities: map[string]contracts.FloorRule{"alpha.look": {ApprovalRequired: true}}}},
			registration("alpha"),
			func(t *testing.T, c *contracts.Catalog) {
				t.Helper()
				if e, _ := c.Capability("alpha.look"); !e.Policy.ApprovalRequired || e.Policy.Reason != "the site policy asks for approval" {
					t.Errorf("got %+v", e.Policy)
				}
			},
		},
		"how sure a reading must be is the most that is asked for": {
			contracts.SitePolicy{Floor: &contracts.Floor{
				FloorRule:    contracts.FloorRule{AcceptRead: 0.8},
				Capabilities: map[string]contracts.FloorRule{"alpha.change": {AcceptWrite: 0.95}},
			}},
			surer,
			func(t *testing.T, c *contracts.Catalog) {
				t.Helper()
				for ref, want := range map[string]float64{"alpha.look": 0.8, "alpha.change": 0.95, "alpha.undo": 0.9} {
					if e, _ := c.Capability(ref); e.Accept != want {
						t.Errorf("%s: %g, want %g", ref, e.Accept, want)
					}
				}
			},
		},
		"a site waives the notifier and nothing else": {
			contracts.SitePolicy{WaiveNotifier: true},
			registration("alpha"),
			func(t *testing.T, c *contracts.Catalog) {
				t.Helper()
				waived, _ := c.Capability("alpha.tell")
				other, _ := c.Capability("alpha.undo")
				if waived.Policy.ApprovalRequired || waived.Policy.Waiver == "" || !other.Policy.ApprovalRequired {
					t.Errorf("notifier %+v, other %+v", waived.Policy, other.Policy)
				}
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, registry.Config{Site: tt.site})
			b.offer("alpha", manifest)
			if _, err := b.Register(t.Context(), tt.reg); err != nil {
				t.Fatal(err)
			}
			tt.check(t, b.Catalog())
		})
	}
}

func TestManyFindingsAreBounded(t *testing.T) {
	t.Parallel()
	var capabilities []string
	for i := range 300 {
		capabilities = append(capabilities, capability("look_"+strings.Repeat("x", 1+i%40)+string(rune('a'+i%26))+strings.Repeat("y", i/26), `{"side_effect_class":"read"}`))
	}
	b := setup(t, registry.Config{})
	report := b.register(t, "alpha", manifestOf("alpha", capabilities...))
	if n := len(report.Findings); n != 201 || !strings.Contains(report.Findings[200].Message, "and 100 more") {
		t.Errorf("%d findings, the last %v", n, report.Findings[n-1])
	}
}

// TestACapabilityThatCannotBeServedLeavesTheOthersInService: it is listed with its reason, its
// callers are not served either, and a rule that is not enforced is reported.
func TestACapabilityThatCannotBeServedLeavesTheOthersInService(t *testing.T) {
	t.Parallel()
	far := strings.Replace(read("far"), `"type":"object"`, `"type":"object","allOf":[{"$ref":"https://example.com/id.json"}]`, 1)
	caller := `{"name":"put","description":"It puts.","schema":{"type":"object","properties":{"id":{"type":"string"}}},"metadata":{"side_effect_class":"write_irreversible","idempotency":"natural",` +
		`"verify":{"capability":"far","param_map":{"id":"${params.id}"},"assertions":[{"path":"facts.id","exists":true}]},"intent_hints":{"examples":["put it"]}}}`
	odd := strings.Replace(read("odd"), `{"type":"string"}`, `{"type":"string","pattern":"^(a)\\1$"}`, 1)
	b := setup(t, registry.Config{})
	if report := b.register(t, "alpha", manifestOf("alpha", read("look"), far, caller, odd)); report.Outcome != contracts.DomainActive {
		t.Fatalf("%+v", report)
	}
	var served []string
	entry, _ := b.Catalog().Domain("alpha")
	for _, e := range entry.Capabilities {
		served = append(served, e.Capability.Name)
	}
	if diff := cmp.Diff([]string{"look", "odd"}, served); diff != "" {
		t.Errorf("served (-want +got):\n%s", diff)
	}
	detail, err := b.Show("alpha")
	if err != nil || detail.Capabilities != 2 {
		t.Errorf("%v, %d capabilities", err, detail.Capabilities)
	}
	told := map[string]string{}
	for _, f := range detail.Findings {
		told[f.Pointer] = string(f.Severity) + ": " + f.Message
	}
	for at, want := range map[string]string{
		"/capabilities/1/schema/allOf/0/$ref":          `warning: "far" is not in service: only references inside the schema are allowed, such as #/$defs/name`,
		"/capabilities/2":                              `warning: "put" is not in service: it calls "far", which is not served`,
		"/capabilities/3/schema/properties/id/pattern": `warning: "odd": the pattern is not checked, only lengths are: `,
	} {
		if !strings.HasPrefix(told[at], want) {
			t.Errorf("at %s: %q, want %q", at, told[at], want)
		}
	}
}

// TestAManifestOfNothingThatCanBeServedIsRefused with the reasons.
func TestAManifestOfNothingThatCanBeServedIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	b.offer("alpha", manifestOf("alpha", strings.Replace(read("far"), `"type":"object"`, `"type":"object","$ref":"other.json"`, 1)))
	_, err := b.Register(t.Context(), registration("alpha"))
	wantCode(t, err, contracts.CodeInvalid)
}
