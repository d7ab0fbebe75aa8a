package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
)

func (p printer) domains(domains []contracts.DomainView) {
	if len(domains) == 0 {
		p.printf("No domain is registered; see manifold domain add --help.\n")
		return
	}
	rows := make([][]string, len(domains))
	for i, d := range domains {
		rows[i] = []string{
			d.Domain, string(d.Outcome), string(d.Health), cmp.Or(d.Version, "–"), strconv.Itoa(d.Capabilities), d.ManagedBy, d.URL, d.Detail,
		}
	}
	p.table("", []string{"DOMAIN", "MANIFEST", "HEALTH", "VERSION", "CAPABILITIES", "MANAGED BY", "URL", ""}, rows)
}

func (p printer) domain(d contracts.DomainDetail, capabilities []contracts.CapabilityView) {
	p.printf("%s%s\n%s\n", d.Domain, after(": ", d.Title), d.Description)
	p.domains([]contracts.DomainView{d.DomainView})
	if d.PendingDigest != "" {
		p.printf("\nA manifest waits: manifold domain confirm %s %s\n", d.Domain, d.PendingDigest)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Checks)) {
		check := d.Checks[name]
		p.printf("  %s: %s%s\n", name, check.Status, after(": ", oneLine(check.Detail)))
	}
	if len(capabilities) > 0 {
		p.printf("\n")
		rows := make([][]string, len(capabilities))
		for i, c := range capabilities {
			approval := "no"
			if c.Policy.ApprovalRequired {
				approval = "yes"
			}
			rows[i] = []string{c.Name, effect(c.Policy.SideEffectClass), string(c.Policy.RiskLevel), approval, c.Description}
		}
		p.table("", []string{"CAPABILITY", "CLASS", "RISK", "APPROVAL", "DESCRIPTION"}, rows)
	}
	if len(d.Findings) > 0 {
		p.printf("\n")
		p.findings(d.Findings)
	}
}

func (p printer) diff(d contracts.DomainDiff) {
	if len(d.Added)+len(d.Removed)+len(d.Changed) == 0 {
		p.printf("%s has not changed\n", d.Domain)
	}
	for _, name := range d.Added {
		p.printf("+ %s\n", name)
	}
	for _, name := range d.Removed {
		p.printf("- %s\n", name)
	}
	for _, change := range d.Changed {
		p.printf("~ %s\n", change.Capability)
		for _, f := range change.Differences {
			p.printf("    %s: %s → %s\n", f.Pointer, oneLine(text(f.Before)), oneLine(text(f.After)))
		}
		for _, l := range change.Loosens {
			p.printf("    ! loosens %s\n", oneLine(l))
		}
	}
	p.findings(d.Findings)
	if d.To != "" && d.To != d.From {
		p.printf("\nto activate exactly this one: manifold domain confirm %s %s\n", d.Domain, d.To)
	}
}

// effect describes a side effect class.
func effect(c contracts.SideEffectClass) string {
	switch c {
	case contracts.ClassRead:
		return "reads"
	case contracts.ClassSuggest:
		return "proposes"
	case contracts.ClassWriteReversible:
		return "writes, can be undone"
	case contracts.ClassWriteIrreversible:
		return "writes for good"
	default:
		return string(c)
	}
}
