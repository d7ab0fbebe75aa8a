package registry

import (
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// capabilityVersion is one capability in one set of domains: its declaration and its effective
// policy.
type capabilityVersion struct {
	capability *contracts.Capability
	policy     contracts.Policy
}

// loosening is one difference that makes a capability less strict.
type loosening struct {
	field string // below metadata
	text  string
}

// loosenings lists how after is less strict than before. It compares effective policies, so that
// what a registration or the site enforces anyway is not reported.
func loosenings(before, after capabilityVersion) []loosening {
	var out []loosening
	say := func(field, format string, args ...any) {
		out = append(out, loosening{field, fmt.Sprintf(format, args...)})
	}
	p, q := before.policy, after.policy
	if p.Stricter(q).SideEffectClass != q.SideEffectClass {
		say("side_effect_class", "side_effect_class %s becomes %s", p.SideEffectClass, q.SideEffectClass)
	}
	if p.RiskLevel.Rank() > q.RiskLevel.Rank() {
		say("risk_level", "risk_level %s becomes %s", p.RiskLevel, q.RiskLevel)
	}
	if p.ApprovalRequired && !q.ApprovalRequired {
		say("approval_required", "no approval is required any more")
	}
	out = append(out, approvalLoosenings(p, q)...)
	if writes := p.SideEffectClass.Writes() && q.SideEffectClass.Writes(); writes {
		out = append(out, writeLoosenings(before, after)...)
	}
	return append(out, accessLoosenings(before.capability.Metadata, after.capability.Metadata)...)
}

func approvalLoosenings(p, q contracts.Policy) []loosening {
	var out []loosening
	if !p.ApprovalRequired || !q.ApprovalRequired {
		return nil // reported by loosenings, or never required
	}
	if p.Approval.FourEyes && !q.Approval.FourEyes {
		out = append(out, loosening{"approval/four_eyes", "four eyes are not required any more"})
	}
	if q.Eyes() == contracts.EyesOwn && p.Eyes() != q.Eyes() {
		out = append(out, loosening{"own_login", "whoever asks may approve it alone, by the site's own_authority"})
	}
	if p.Approval.Quorum > q.Approval.Quorum {
		out = append(out, loosening{"approval/quorum", fmt.Sprintf("quorum %d becomes %d", p.Approval.Quorum, q.Approval.Quorum)})
	}
	if more := added(p.Approval.Roles, q.Approval.Roles); len(more) > 0 {
		out = append(out, loosening{"approval/roles", fmt.Sprintf("the roles %v may approve it as well", more)})
	}
	return out
}

// writeLoosenings compares how a write is sent and verified.
func writeLoosenings(before, after capabilityVersion) []loosening {
	var out []loosening
	say := func(field, format string, args ...any) {
		out = append(out, loosening{field, fmt.Sprintf(format, args...)})
	}
	p, q := before.policy, after.policy
	if p.Stricter(q).Idempotency != q.Idempotency {
		say("idempotency", "idempotency %s becomes %s: a lost call would be sent again", p.Idempotency, q.Idempotency)
	}
	if q.Idempotency.Repeatable() && p.IdempotencyWindowS < q.IdempotencyWindowS {
		say("idempotency_window_s", "idempotency_window_s %d becomes %d", p.IdempotencyWindowS, q.IdempotencyWindowS)
	}
	if p.VerifierRequired && !q.VerifierRequired {
		say("verifier_required", "a verifier is not required any more")
	}
	if before.capability.Metadata.Verify != nil && after.capability.Metadata.Verify == nil {
		say("verify", "it is not read back any more")
	}
	if !p.DryRun && q.DryRun {
		say("dry_run", "a dry run would reach it, without a gate")
	}
	if gone := added(after.capability.Metadata.Locks, before.capability.Metadata.Locks); len(gone) > 0 {
		say("locks", "it does not take the locks %v any more", gone)
	}
	return out
}

// accessLoosenings compares who may use a capability, when, and what is masked.
func accessLoosenings(before, after contracts.Metadata) []loosening {
	var out []loosening
	say := func(field, format string, args ...any) {
		out = append(out, loosening{field, fmt.Sprintf(format, args...)})
	}
	if wider(before.AllowedRoles, after.AllowedRoles) {
		say("allowed_roles", "allowed_roles %v becomes %v", before.AllowedRoles, anyOf(after.AllowedRoles))
	}
	if wider(before.Phases, after.Phases) {
		say("phases", "phases %v becomes %v", before.Phases, anyOf(after.Phases))
	}
	for _, name := range sortedKeys(before.ParameterSpecs) {
		if before.ParameterSpecs[name].PII && !after.ParameterSpecs[name].PII {
			say(pointer("parameter_specs", name)+"/pii", "the parameter %s is not masked any more", name)
		}
	}
	return out
}

// wider reports whether after allows more than before; an empty list allows all.
func wider(before, after []string) bool {
	return len(before) > 0 && (len(after) == 0 || len(added(before, after)) > 0)
}

func anyOf(list []string) any {
	if len(list) == 0 {
		return "all"
	}
	return list
}

// added returns what is in after and not in before.
func added(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(after), func(s string) bool { return slices.Contains(before, s) })
}
