package contracts_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

func TestMetadataPolicyDefaults(t *testing.T) {
	t.Parallel()
	base := contracts.Policy{
		SideEffectClass: contracts.ClassWriteIrreversible, ExecutionMode: contracts.ModeSequential, Idempotency: contracts.IdempotencyNone,
		IdempotencyWindowS: 86400, RiskLevel: contracts.RiskHigh, ApprovalRequired: true,
		Approval:  contracts.ApprovalPolicy{FourEyes: true, Roles: []string{"approver"}, Quorum: 1, ExpiresS: 604800},
		TimeoutMS: 10000, NodeTimeoutMS: 30000, WaitMaxS: 86400, VerifierRequired: true, Reason: "it changes something for good",
	}
	with := func(change func(*contracts.Policy)) contracts.Policy {
		p := base
		p.Approval.Roles = slices.Clone(base.Approval.Roles)
		change(&p)
		return p
	}
	read := func(class contracts.SideEffectClass) contracts.Policy {
		return with(func(p *contracts.Policy) {
			p.SideEffectClass, p.ExecutionMode, p.Idempotency = class, contracts.ModeParallelSafe, contracts.IdempotencyNotApplicable
			p.RiskLevel, p.ApprovalRequired, p.VerifierRequired, p.Reason, p.Approval.FourEyes = contracts.RiskRead, false, false, "", false
		})
	}
	reversible := with(func(p *contracts.Policy) {
		p.SideEffectClass, p.Reason, p.VerifierRequired = contracts.ClassWriteReversible, "it changes something, which can be undone", false
	})
	cases := map[string]struct {
		in          contracts.Metadata
		compensable bool
		want        contracts.Policy
	}{
		"nothing said is an irreversible write": {contracts.Metadata{}, true, base},
		"an unknown class is nothing said, and lowers nothing": {contracts.Metadata{
			SideEffectClass: "harmless", ApprovalRequired: new(false), RiskLevel: contracts.RiskLow, Idempotency: contracts.IdempotencyNatural,
			ExecutionMode: contracts.ModeParallelSafe, VerifierRequired: new(false), DryRun: true,
		}, true, base},
		"a read":    {contracts.Metadata{SideEffectClass: contracts.ClassRead}, false, read(contracts.ClassRead)},
		"a suggest": {contracts.Metadata{SideEffectClass: contracts.ClassSuggest}, false, read(contracts.ClassSuggest)},
		"a read of high risk needs four eyes": {contracts.Metadata{SideEffectClass: contracts.ClassRead, RiskLevel: contracts.RiskHigh}, false, func() contracts.Policy {
			p := read(contracts.ClassRead)
			p.RiskLevel, p.ApprovalRequired, p.Reason, p.Approval.FourEyes = contracts.RiskHigh, true, "the risk level is high", true
			return p
		}()},
		"a manifest may ask for the approval of a read": {contracts.Metadata{SideEffectClass: contracts.ClassRead, ApprovalRequired: new(true)}, false, func() contracts.Policy {
			p := read(contracts.ClassRead)
			p.ApprovalRequired, p.Reason = true, "the manifest asks for approval"
			return p
		}()},
		"an unknown mode of a read is sequential": {contracts.Metadata{SideEffectClass: contracts.ClassRead, ExecutionMode: "wild"}, false, func() contracts.Policy {
			p := read(contracts.ClassRead)
			p.ExecutionMode = contracts.ModeSequential
			return p
		}()},
		"a chunked read has a batch size": {contracts.Metadata{SideEffectClass: contracts.ClassRead, ExecutionMode: contracts.ModeParallelChunked}, false, func() contracts.Policy {
			p := read(contracts.ClassRead)
			p.ExecutionMode, p.ChunkSize = contracts.ModeParallelChunked, 10
			return p
		}()},
		"a reversible write that can be undone":                    {contracts.Metadata{SideEffectClass: contracts.ClassWriteReversible}, true, reversible},
		"a reversible write that cannot be undone is irreversible": {contracts.Metadata{SideEffectClass: contracts.ClassWriteReversible}, false, base},
		"writes are sequential, whatever is said":                  {contracts.Metadata{SideEffectClass: contracts.ClassWriteIrreversible, ExecutionMode: contracts.ModeParallelSafe}, false, base},
		"a write of risk read is of risk high":                     {contracts.Metadata{SideEffectClass: contracts.ClassWriteReversible, RiskLevel: contracts.RiskRead, ApprovalRequired: new(false)}, true, reversible},
		"an approval is lowered for a reversible write of low risk": {contracts.Metadata{SideEffectClass: contracts.ClassWriteReversible, RiskLevel: contracts.RiskLow, ApprovalRequired: new(false)}, true, func() contracts.Policy {
			p := reversible
			p.RiskLevel, p.ApprovalRequired, p.Reason, p.Approval.FourEyes = contracts.RiskLow, false, "", false
			return p
		}()},
		"an approval is not lowered without a compensation": {contracts.Metadata{SideEffectClass: contracts.ClassWriteReversible, RiskLevel: contracts.RiskLow, ApprovalRequired: new(false)}, false, with(func(p *contracts.Policy) {
			p.RiskLevel, p.Approval.FourEyes = contracts.RiskLow, false
		})},
		"an approval is not lowered at medium risk": {contracts.Metadata{SideEffectClass: contracts.ClassWriteReversible, RiskLevel: contracts.RiskMedium, ApprovalRequired: new(false)}, true, func() contracts.Policy {
			p := reversible
			p.RiskLevel, p.Approval.FourEyes = contracts.RiskMedium, false
			return p
		}()},
		"what is declared holds": {contracts.Metadata{
			SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: contracts.IdempotencyKeyed, IdempotencyWindowS: 60, RiskLevel: contracts.RiskCritical,
			Approval: &contracts.ApprovalRule{Roles: []string{"b", "a", "b"}, Quorum: 2, ExpiresS: 10}, TimeoutMS: 7, WaitMaxS: 5, MaxConcurrency: 3, RateLimitPerMin: 4, DryRun: true,
		}, false, with(func(p *contracts.Policy) {
			p.Idempotency, p.IdempotencyWindowS, p.RiskLevel, p.DryRun = contracts.IdempotencyKeyed, 60, contracts.RiskCritical, true
			p.Approval = contracts.ApprovalPolicy{FourEyes: true, Roles: []string{"a", "b"}, Quorum: 2, ExpiresS: 10}
			p.TimeoutMS, p.NodeTimeoutMS, p.WaitMaxS, p.MaxConcurrency, p.RateLimitPerMin = 7, 21, 5, 3, 4
		})},
		"the defaults of irreversible and risky writes cannot be lowered": {contracts.Metadata{
			SideEffectClass: contracts.ClassWriteIrreversible, VerifierRequired: new(false), Approval: &contracts.ApprovalRule{FourEyes: new(false)},
		}, false, base},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.in.Policy(tc.compensable)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	for want, m := range map[int]contracts.Metadata{
		4: {SideEffectClass: contracts.ClassRead},
		6: {SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: contracts.IdempotencyKeyed},
		1: {SideEffectClass: contracts.ClassWriteIrreversible},
	} {
		if got := m.Policy(false).Attempts(); got != want {
			t.Errorf("got %d attempts, want %d", got, want)
		}
	}
}

// TestStricterNeverLowers checks with random policies that the stricter of two is at least as
// strict as each, independent of the order, and idempotent.
func TestStricterNeverLowers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		p, q := randomPolicy(r), randomPolicy(r)
		pq, qp := p.Stricter(q), q.Stricter(p)
		for _, of := range []contracts.Policy{p, q} {
			if why := lowers(of, pq); why != "" {
				t.Fatalf("%s\n%+v\n%+v\n→ %+v", why, p, q, pq)
			}
		}
		if why := breaks(pq); why != "" {
			t.Fatalf("%s\n%+v\n%+v\n→ %+v", why, p, q, pq)
		}
		if diff := cmp.Diff(blank(pq), blank(qp)); diff != "" {
			t.Fatalf("the order matters:\n%s", diff)
		}
		if diff := cmp.Diff(pq, pq.Stricter(pq)); diff != "" {
			t.Fatalf("not idempotent:\n%s", diff)
		}
		if diff := cmp.Diff(blank(pq), blank(pq.Stricter(q))); diff != "" {
			t.Fatalf("not stable:\n%s", diff)
		}
		if diff := cmp.Diff(p, p.Stricter(p)); diff != "" {
			t.Fatalf("a policy is not itself:\n%s", diff)
		}
	}
}

// TestEffectivePolicyNeverLowers checks that the effective policy is at least as strict as the
// manifest, for any registration and site policy, except for the waiver.
func TestEffectivePolicyNeverLowers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	waived := 0
	for range 5000 {
		c := &contracts.Capability{Name: "c", Metadata: randomMetadata(r)}
		if r.IntN(2) == 0 {
			c.Metadata.Plays = []contracts.RolePlay{{Role: contracts.RoleNotifier}}
		}
		overlay := contracts.Overlay{Floor: randomFloor(r, "c")}
		site := contracts.SitePolicy{Floor: randomFloor(r, "d.c"), WaiveNotifier: r.IntN(2) == 0}
		own := c.Metadata.Policy(true)
		got := contracts.EffectivePolicy("d", c, true, overlay, site)
		if got.Waiver != "" {
			waived++
			if !site.WaiveNotifier || len(c.Metadata.Plays) == 0 || got.RiskLevel.Rank() > contracts.RiskLow.Rank() || got.ApprovalRequired {
				t.Fatalf("a waiver without a right: %+v", got)
			}
			got.ApprovalRequired, got.Waiver, got.Reason = true, "", "waived"
		}
		if why := lowers(own, got); why != "" {
			t.Fatalf("%s\n%+v\n%+v\n%+v\n→ %+v", why, own, overlay.Floor, site.Floor, got)
		}
		if why := breaks(got); why != "" {
			t.Fatalf("%s: %+v", why, got)
		}
	}
	if waived == 0 {
		t.Error("no waiver was tried")
	}
}

func TestWaiverLiftsOnlyADefault(t *testing.T) {
	t.Parallel()
	notifier := func(change func(*contracts.Metadata)) *contracts.Capability {
		m := contracts.Metadata{SideEffectClass: contracts.ClassWriteIrreversible, RiskLevel: contracts.RiskLow, Plays: []contracts.RolePlay{{Role: contracts.RoleNotifier}}}
		change(&m)
		return &contracts.Capability{Name: "send", Metadata: m}
	}
	plain := func(*contracts.Metadata) {}
	asks := contracts.Floor{Capabilities: map[string]contracts.FloorRule{"send": {ApprovalRequired: true}, "d.send": {ApprovalRequired: true}}}
	cases := map[string]struct {
		c       *contracts.Capability
		overlay contracts.Overlay
		site    contracts.SitePolicy
		want    bool // an approval is required
	}{
		"no waiver, no lowering":                  {notifier(plain), contracts.Overlay{}, contracts.SitePolicy{}, true},
		"the waiver lifts the default":            {notifier(plain), contracts.Overlay{}, contracts.SitePolicy{WaiveNotifier: true}, false},
		"not at medium risk":                      {notifier(func(m *contracts.Metadata) { m.RiskLevel = contracts.RiskMedium }), contracts.Overlay{}, contracts.SitePolicy{WaiveNotifier: true}, true},
		"not for another role":                    {notifier(func(m *contracts.Metadata) { m.Plays[0].Role = "other" }), contracts.Overlay{}, contracts.SitePolicy{WaiveNotifier: true}, true},
		"not where the manifest asks by name":     {notifier(func(m *contracts.Metadata) { m.ApprovalRequired = new(true) }), contracts.Overlay{}, contracts.SitePolicy{WaiveNotifier: true}, true},
		"not where the registration asks by name": {notifier(plain), contracts.Overlay{Floor: &asks}, contracts.SitePolicy{WaiveNotifier: true}, true},
		"not where the site asks by name":         {notifier(plain), contracts.Overlay{}, contracts.SitePolicy{WaiveNotifier: true, Floor: &asks}, true},
		"not where a floor raises the risk":       {notifier(plain), contracts.Overlay{Floor: &contracts.Floor{FloorRule: contracts.FloorRule{RiskLevel: contracts.RiskHigh}}}, contracts.SitePolicy{WaiveNotifier: true}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := contracts.EffectivePolicy("d", tc.c, false, tc.overlay, tc.site)
			if got.ApprovalRequired != tc.want || (got.Waiver != "") == tc.want || (got.Reason != "") != tc.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestFloorsRaise(t *testing.T) {
	t.Parallel()
	read := &contracts.Capability{Name: "look", Metadata: contracts.Metadata{SideEffectClass: contracts.ClassRead}}
	lowered := &contracts.Capability{Name: "put", Metadata: contracts.Metadata{SideEffectClass: contracts.ClassWriteReversible, RiskLevel: contracts.RiskLow, ApprovalRequired: new(false)}}
	all := contracts.Floor{FloorRule: contracts.FloorRule{ApprovalRequired: true}}
	named := contracts.Floor{Capabilities: map[string]contracts.FloorRule{"look": {ApprovalRequired: true, Approval: &contracts.ApprovalRule{Quorum: 2, Roles: []string{"lead"}, ExpiresS: 60}}}}
	medium := contracts.Floor{FloorRule: contracts.FloorRule{RiskLevel: contracts.RiskMedium}}
	effective := func(c *contracts.Capability, f *contracts.Floor) contracts.Policy {
		return contracts.EffectivePolicy("d", c, true, contracts.Overlay{Floor: f}, contracts.SitePolicy{})
	}
	if p := effective(read, &all); p.ApprovalRequired {
		t.Error("a floor for all speaks of writes")
	}
	if p := effective(lowered, &all); !p.ApprovalRequired || p.Reason != "the registration of the domain asks for approval" {
		t.Errorf("a floor for all raises a lowered write: %+v", p)
	}
	if p := effective(lowered, &medium); !p.ApprovalRequired {
		t.Errorf("a raised risk takes the right to lower away: %+v", p)
	}
	want := contracts.ApprovalPolicy{Roles: []string{"lead"}, Quorum: 2, ExpiresS: 60}
	if p := effective(read, &named); !p.ApprovalRequired || !cmp.Equal(p.Approval, want) {
		t.Errorf("a floor by name speaks of reads too: %+v", p)
	}
	if !(contracts.Overlay{Trust: contracts.TrustReadsOnly}).Admits(read.Metadata.Policy(false)) ||
		(contracts.Overlay{Trust: contracts.TrustReadsOnly}).Admits(lowered.Metadata.Policy(true)) ||
		!(contracts.Overlay{}).Admits(lowered.Metadata.Policy(true)) {
		t.Error("reads_only admits reads and nothing else")
	}
}

// lowers returns in which respect got is less strict than of, or "".
func lowers(of, got contracts.Policy) string {
	class := []contracts.SideEffectClass{contracts.ClassRead, contracts.ClassSuggest, contracts.ClassWriteReversible, contracts.ClassWriteIrreversible}
	mode := []contracts.ExecutionMode{contracts.ModeParallelSafe, contracts.ModeParallelChunked, contracts.ModeSequential}
	idem := []contracts.Idempotency{contracts.IdempotencyNotApplicable, contracts.IdempotencyNatural, contracts.IdempotencyKeyed, contracts.IdempotencyNone}
	beyond := func(got, limit int) bool { return limit > 0 && (got == 0 || got > limit) }
	switch {
	case slices.Index(class, got.SideEffectClass) < slices.Index(class, of.SideEffectClass):
		return "class"
	case slices.Index(mode, got.ExecutionMode) < slices.Index(mode, of.ExecutionMode):
		return "mode"
	case slices.Index(idem, got.Idempotency) < slices.Index(idem, of.Idempotency):
		return "idempotency"
	case got.RiskLevel.Rank() < of.RiskLevel.Rank():
		return "risk"
	case of.ApprovalRequired && !got.ApprovalRequired:
		return "approval"
	case of.Approval.FourEyes && !got.Approval.FourEyes, got.Approval.Quorum < of.Approval.Quorum, beyond(got.Approval.ExpiresS, of.Approval.ExpiresS):
		return "approval rule"
	case of.VerifierRequired && !got.VerifierRequired:
		return "verifier"
	case got.DryRun && !of.DryRun:
		return "dry run"
	case beyond(got.MaxConcurrency, of.MaxConcurrency), beyond(got.RateLimitPerMin, of.RateLimitPerMin):
		return "limits"
	case beyond(got.TimeoutMS, of.TimeoutMS), beyond(got.NodeTimeoutMS, of.NodeTimeoutMS), beyond(got.WaitMaxS, of.WaitMaxS), beyond(got.IdempotencyWindowS, of.IdempotencyWindowS):
		return "times"
	}
	return ""
}

// breaks returns which rule between fields is violated, or "".
func breaks(p contracts.Policy) string {
	writes := p.SideEffectClass.Writes()
	high := p.RiskLevel.Rank() >= contracts.RiskHigh.Rank()
	mayGo := p.SideEffectClass == contracts.ClassWriteReversible && p.RiskLevel.Rank() <= contracts.RiskLow.Rank()
	switch {
	case writes && p.ExecutionMode != contracts.ModeSequential:
		return "a write that is not sequential"
	case (high || writes && !mayGo) && !p.ApprovalRequired:
		return "no approval where there must be one"
	case high && !p.Approval.FourEyes:
		return "high risk without four eyes"
	case p.SideEffectClass == contracts.ClassWriteIrreversible && !p.VerifierRequired:
		return "an irreversible write without a verifier"
	case p.ApprovalRequired && p.Reason == "", p.Approval.Quorum < 1, len(p.Approval.Roles) == 0:
		return "an approval that nobody can give or understand"
	case writes && p.RiskLevel == contracts.RiskRead:
		return "a write of risk read"
	}
	return ""
}

// blank clears the fields that may depend on the order of a merge.
func blank(p contracts.Policy) contracts.Policy {
	p.Reason = ""
	p.Approval.Roles = nil
	return p
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func randomMetadata(r *rand.Rand) contracts.Metadata {
	return contracts.Metadata{
		SideEffectClass:    pick(r, contracts.ClassRead, contracts.ClassSuggest, contracts.ClassWriteReversible, contracts.ClassWriteIrreversible, "", "odd"),
		ExecutionMode:      pick(r, "", contracts.ModeParallelSafe, contracts.ModeParallelChunked, contracts.ModeSequential),
		Idempotency:        pick(r, "", contracts.IdempotencyKeyed, contracts.IdempotencyNatural, contracts.IdempotencyNone, contracts.IdempotencyNotApplicable),
		IdempotencyWindowS: pick(r, 0, 60, 3600),
		RiskLevel:          pick(r, "", contracts.RiskRead, contracts.RiskLow, contracts.RiskLow, contracts.RiskMedium, contracts.RiskHigh, contracts.RiskCritical),
		ApprovalRequired:   pick(r, nil, new(true), new(false)),
		Approval:           randomRule(r),
		TimeoutMS:          pick(r, 0, 100, 5000),
		MaxConcurrency:     pick(r, 0, 1, 8),
		RateLimitPerMin:    pick(r, 0, 30),
		ChunkSize:          pick(r, 0, 5),
		VerifierRequired:   pick(r, nil, new(true), new(false)),
		DryRun:             r.IntN(2) == 0,
	}
}

func randomRule(r *rand.Rand) *contracts.ApprovalRule {
	return pick(r, nil, &contracts.ApprovalRule{
		FourEyes: pick(r, nil, new(true), new(false)), Roles: pick(r, nil, []string{"approver"}, []string{"lead", "approver"}, []string{"lead"}),
		Quorum: r.IntN(3), ExpiresS: pick(r, 0, 60),
	})
}

func randomPolicy(r *rand.Rand) contracts.Policy { return randomMetadata(r).Policy(r.IntN(2) == 0) }

func randomFloor(r *rand.Rand, name string) *contracts.Floor {
	rule := func() contracts.FloorRule {
		return contracts.FloorRule{
			RiskLevel:        pick(r, "", "", contracts.RiskLow, contracts.RiskMedium, contracts.RiskCritical),
			ApprovalRequired: r.IntN(4) == 0, Approval: randomRule(r),
		}
	}
	return pick(r, nil, &contracts.Floor{FloorRule: rule()}, &contracts.Floor{Capabilities: map[string]contracts.FloorRule{name: rule()}})
}

// TestOwnAuthority checks that the site may let the requester approve alone an action with their
// own login. Neither a manifest alone nor an action with another login allows it, and other site
// rules for a second person and a critical risk take precedence.
func TestOwnAuthority(t *testing.T) {
	t.Parallel()
	named := []string{"hr.decide"}
	for name, tt := range map[string]struct {
		own  bool
		risk contracts.RiskLevel
		site *contracts.SiteReview
		want contracts.Eyes
	}{
		"the site names it":           {true, contracts.RiskHigh, &contracts.SiteReview{OwnAuthority: named}, contracts.EyesOwn},
		"nobody names it":             {true, contracts.RiskHigh, nil, contracts.EyesFour},
		"the site names another":      {true, contracts.RiskHigh, &contracts.SiteReview{OwnAuthority: []string{"hr.dismiss"}}, contracts.EyesFour},
		"done with another login":     {false, contracts.RiskHigh, &contracts.SiteReview{OwnAuthority: named}, contracts.EyesFour},
		"a second person for all":     {true, contracts.RiskHigh, &contracts.SiteReview{OwnAuthority: named, PreventSelfReview: true}, contracts.EyesFour},
		"a second person by a rule":   {true, contracts.RiskHigh, &contracts.SiteReview{OwnAuthority: named, Rules: []contracts.ReviewRule{{Eyes: contracts.EyesTwoPersons}}}, contracts.EyesTwoPersons},
		"a rule about something else": {true, contracts.RiskHigh, &contracts.SiteReview{OwnAuthority: named, Rules: []contracts.ReviewRule{{Domains: []string{"erp"}, Eyes: contracts.EyesStrict}}}, contracts.EyesOwn},
		"a critical risk":             {true, contracts.RiskCritical, &contracts.SiteReview{OwnAuthority: named}, contracts.EyesStrict},
	} {
		c := &contracts.Capability{Name: "decide", Metadata: contracts.Metadata{SideEffectClass: contracts.ClassWriteIrreversible, RiskLevel: tt.risk, OwnLogin: tt.own}}
		p := contracts.EffectivePolicy("hr", c, false, contracts.Overlay{}, contracts.SitePolicy{Review: tt.site})
		if got := p.Eyes(); got != tt.want || !p.ApprovalRequired || !p.Approval.FourEyes {
			t.Errorf("%s: %q, want %q: %+v", name, got, tt.want, p)
		}
		usual := contracts.EffectivePolicy("hr", c, false, contracts.Overlay{}, contracts.SitePolicy{})
		if both := p.Stricter(usual).Eyes(); both.Rank() < usual.Eyes().Rank() {
			t.Errorf("%s: merged with the usual policy it is %q", name, both)
		}
	}
}
