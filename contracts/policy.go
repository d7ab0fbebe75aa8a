package contracts

import (
	"cmp"
	"slices"
	"time"
)

// Policy is the execution metadata of one capability with all defaults applied. The effective
// policy is the strictest of manifest, registration overlay and site policy. The planner stores
// it in nodes, and gates hash it.
type Policy struct {
	SideEffectClass    SideEffectClass `json:"side_effect_class"`
	ExecutionMode      ExecutionMode   `json:"execution_mode"`
	Idempotency        Idempotency     `json:"idempotency"`
	IdempotencyWindowS int             `json:"idempotency_window_s"`
	RiskLevel          RiskLevel       `json:"risk_level"`
	ApprovalRequired   bool            `json:"approval_required"`
	Approval           ApprovalPolicy  `json:"approval"`
	TimeoutMS          int             `json:"timeout_ms"`
	NodeTimeoutMS      int             `json:"node_timeout_ms"`
	WaitMaxS           int             `json:"wait_max_s"`
	MaxConcurrency     int             `json:"max_concurrency,omitempty"`
	RateLimitPerMin    int             `json:"rate_limit_per_min,omitempty"`
	ChunkSize          int             `json:"chunk_size,omitempty"`
	VerifierRequired   bool            `json:"verifier_required"`
	DryRun             bool            `json:"dry_run,omitempty"`
	// Reason is the rule that requires the approval, shown to the approver.
	Reason string `json:"reason,omitempty"`
	// Waiver names the site rule that lifted an approval, if any.
	Waiver string `json:"waiver,omitempty"`
}

// ApprovalPolicy is the resolved ApprovalRule.
type ApprovalPolicy struct {
	FourEyes bool     `json:"four_eyes"`
	Roles    []string `json:"roles"`
	Quorum   int      `json:"quorum"`
	ExpiresS int      `json:"expires_s"`
	// Eyes is the site's rule that adds to or replaces FourEyes; see Policy.Eyes.
	Eyes Eyes `json:"eyes,omitempty"`
	ReviewTimes
}

// Eyes returns the effective rule for a second person. It is derived from hashed fields and is
// not hashed itself.
func (p Policy) Eyes() Eyes {
	switch {
	case p.Approval.Eyes == EyesStrict, p.SideEffectClass.Writes() && p.RiskLevel == RiskCritical:
		return EyesStrict
	case p.Approval.Eyes == EyesOwn:
		return EyesOwn
	case p.Approval.Eyes == EyesTwoPersons:
		return EyesTwoPersons
	case p.Approval.FourEyes, p.SideEffectClass == ClassWriteIrreversible:
		return EyesFour
	default:
		return ""
	}
}

// Timeout returns the time limit of one attempt, including its polls.
func (p Policy) Timeout() time.Duration { return time.Duration(p.TimeoutMS) * time.Millisecond }

// NodeTimeout returns the time limit of all attempts together, without waiting.
func (p Policy) NodeTimeout() time.Duration { return time.Duration(p.NodeTimeoutMS) * time.Millisecond }

// WaitMax returns the time limit of all waiting of a node.
func (p Policy) WaitMax() time.Duration { return time.Duration(p.WaitMaxS) * time.Second }

// Attempts returns how many times a call may be sent.
func (p Policy) Attempts() int {
	switch {
	case !p.SideEffectClass.Writes():
		return ReadAttempts
	case p.Idempotency.Repeatable():
		return RepeatableAttempts
	default:
		return 1
	}
}

// Policy returns the policy with fail-closed defaults applied. compensable reports whether the
// declared compensation exists: a write_reversible without one becomes irreversible.
func (m Metadata) Policy(compensable bool) Policy {
	p := Policy{
		SideEffectClass:    m.class(compensable),
		IdempotencyWindowS: cmp.Or(m.IdempotencyWindowS, int(DefaultIdempotencyWindow/time.Second)),
		TimeoutMS:          cmp.Or(m.TimeoutMS, int(DefaultTimeout/time.Millisecond)),
		WaitMaxS:           cmp.Or(m.WaitMaxS, int(DefaultWaitMax/time.Second)),
		MaxConcurrency:     m.MaxConcurrency,
		RateLimitPerMin:    m.RateLimitPerMin,
		DryRun:             m.DryRun && m.SideEffectClass.known(),
	}
	writes := p.SideEffectClass.Writes()
	p.NodeTimeoutMS = cmp.Or(m.NodeTimeoutMS, 3*p.TimeoutMS)
	p.ExecutionMode = m.mode(writes)
	if p.ExecutionMode == ModeParallelChunked {
		p.ChunkSize = cmp.Or(m.ChunkSize, DefaultChunkSize)
	}
	p.Idempotency = m.idempotency(writes)
	p.RiskLevel = m.risk(writes)
	p.ApprovalRequired, p.Reason = m.approvalRequired(p)
	p.Approval = m.Approval.resolve(p.RiskLevel)
	p.VerifierRequired = p.SideEffectClass == ClassWriteIrreversible
	if m.VerifierRequired != nil {
		p.VerifierRequired = *m.VerifierRequired || p.VerifierRequired
	}
	return p
}

func (m Metadata) class(compensable bool) SideEffectClass {
	switch m.SideEffectClass {
	case ClassRead, ClassSuggest, ClassWriteIrreversible:
		return m.SideEffectClass
	case ClassWriteReversible:
		if compensable {
			return ClassWriteReversible
		}
	}
	return ClassWriteIrreversible
}

// known reports whether the class is one of the defined ones. An unknown class is treated as
// absent, with all fail-closed defaults.
func (c SideEffectClass) known() bool {
	return slices.Contains([]SideEffectClass{ClassRead, ClassSuggest, ClassWriteReversible, ClassWriteIrreversible}, c)
}

func (m Metadata) mode(writes bool) ExecutionMode {
	if writes {
		return ModeSequential // writes are sequential, whatever is declared
	}
	switch m.ExecutionMode {
	case "", ModeParallelSafe:
		return ModeParallelSafe
	case ModeParallelChunked:
		return ModeParallelChunked
	default:
		return ModeSequential
	}
}

func (m Metadata) idempotency(writes bool) Idempotency {
	if !writes {
		return IdempotencyNotApplicable
	}
	if m.SideEffectClass.known() && (m.Idempotency == IdempotencyNatural || m.Idempotency == IdempotencyKeyed) {
		return m.Idempotency
	}
	return IdempotencyNone
}

// risk returns the effective level. A write is never of level read, and one without a class is at
// least high.
func (m Metadata) risk(writes bool) RiskLevel {
	switch {
	case !writes:
		return maxRisk(cmp.Or(m.RiskLevel, RiskRead), RiskRead)
	case !m.SideEffectClass.known():
		return maxRisk(m.RiskLevel, RiskHigh)
	case m.RiskLevel == RiskRead:
		return RiskHigh
	default:
		return maxRisk(cmp.Or(m.RiskLevel, RiskHigh), RiskLow)
	}
}

// maxRisk returns the higher of two levels. An unknown level counts as critical, an absent one is
// ignored.
func maxRisk(a, b RiskLevel) RiskLevel {
	levels := []RiskLevel{RiskRead, RiskLow, RiskMedium, RiskHigh, RiskCritical}
	switch {
	case a == "":
		return b
	case b == "":
		return a
	default:
		return levels[max(a.Rank(), b.Rank())]
	}
}

// approvalRequired decides whether an approval is required. A manifest can lower only the
// approval of a reversible write of at most low risk.
func (m Metadata) approvalRequired(p Policy) (required bool, reason string) {
	writes := p.SideEffectClass.Writes()
	declared := m.ApprovalRequired
	if declared != nil && *declared {
		return true, "the manifest asks for approval"
	}
	if !writes && p.RiskLevel.Rank() < RiskHigh.Rank() {
		return false, ""
	}
	if declared != nil && p.mayLower() {
		return false, ""
	}
	return true, p.ruleReason()
}

// mayLower reports whether a manifest may declare that a write needs no approval.
func (p Policy) mayLower() bool {
	return p.SideEffectClass == ClassWriteReversible && p.RiskLevel.Rank() <= RiskLow.Rank()
}

// ruleName is the stable form of ruleReason in digests. It must never change: a new digest would
// make every open gate stale. The text for people may change.
func (p Policy) ruleName() string {
	if p.SideEffectClass.Writes() {
		return "it is a write (" + string(p.SideEffectClass) + ")"
	}
	return "the risk level is " + string(p.RiskLevel)
}

func (p Policy) ruleReason() string {
	if p.SideEffectClass.Writes() {
		if p.SideEffectClass == ClassWriteReversible {
			return "it changes something, which can be undone"
		}
		return "it changes something for good"
	}
	return "the risk level is " + string(p.RiskLevel)
}

func (r *ApprovalRule) resolve(risk RiskLevel) ApprovalPolicy {
	p := ApprovalPolicy{
		FourEyes: risk.Rank() >= RiskHigh.Rank(),
		Roles:    []string{"approver"},
		Quorum:   1,
		ExpiresS: int(DefaultApprovalExpiry / time.Second),
	}
	if r == nil {
		return p
	}
	if r.FourEyes != nil {
		p.FourEyes = *r.FourEyes || p.FourEyes
	}
	if len(r.Roles) > 0 {
		p.Roles = slices.Clone(r.Roles)
	}
	slices.Sort(p.Roles)
	p.Roles = slices.Compact(p.Roles)
	p.Quorum = max(p.Quorum, r.Quorum)
	p.ExpiresS = cmp.Or(r.ExpiresS, p.ExpiresS)
	return p
}

// Stricter returns the strictest of two policies, field by field. It is idempotent. The order of
// the arguments matters only for Reason and for approver roles without a common element.
func (p Policy) Stricter(q Policy) Policy {
	out := p
	out.SideEffectClass = stricterClass(p.SideEffectClass, q.SideEffectClass)
	out.ExecutionMode = stricterMode(p.ExecutionMode, q.ExecutionMode)
	out.ChunkSize = minSet(p.ChunkSize, q.ChunkSize)
	out.Idempotency = weakerIdempotency(p.Idempotency, q.Idempotency)
	out.IdempotencyWindowS = min(p.IdempotencyWindowS, q.IdempotencyWindowS)
	out.RiskLevel = maxRisk(p.RiskLevel, q.RiskLevel)
	out.TimeoutMS = min(p.TimeoutMS, q.TimeoutMS)
	out.NodeTimeoutMS = min(p.NodeTimeoutMS, q.NodeTimeoutMS)
	out.WaitMaxS = min(p.WaitMaxS, q.WaitMaxS)
	out.MaxConcurrency = minSet(p.MaxConcurrency, q.MaxConcurrency)
	out.RateLimitPerMin = minSet(p.RateLimitPerMin, q.RateLimitPerMin)
	out.VerifierRequired = p.VerifierRequired || q.VerifierRequired
	out.DryRun = p.DryRun && q.DryRun
	out.Approval = p.Approval.stricter(q.Approval)
	return mergeApproval(out, p, q).enforced()
}

// mergeApproval requires an approval if either side does. A waiver remains only if neither does.
func mergeApproval(out, a, b Policy) Policy {
	out.ApprovalRequired = a.ApprovalRequired || b.ApprovalRequired
	out.Reason, out.Waiver = a.Reason, cmp.Or(a.Waiver, b.Waiver)
	if !a.ApprovalRequired {
		out.Reason = b.Reason
	}
	if out.ApprovalRequired {
		out.Waiver = ""
	}
	return out
}

// enforced applies the rules between fields, which the strictest value of each field alone may
// violate: a raised class or risk adds its requirements.
func (p Policy) enforced() Policy {
	writes := p.SideEffectClass.Writes()
	if writes {
		p.ExecutionMode = ModeSequential
		if p.RiskLevel == RiskRead {
			p.RiskLevel = RiskLow
		}
	}
	if p.ExecutionMode != ModeParallelChunked {
		p.ChunkSize = 0
	}
	high := p.RiskLevel.Rank() >= RiskHigh.Rank()
	p.Approval.FourEyes = p.Approval.FourEyes || high
	p.VerifierRequired = p.VerifierRequired || p.SideEffectClass == ClassWriteIrreversible
	waived := p.Waiver != "" && p.RiskLevel.Rank() <= RiskLow.Rank()
	if !p.ApprovalRequired && !waived && (high || writes && !p.mayLower()) {
		p.ApprovalRequired, p.Reason, p.Waiver = true, p.ruleReason(), ""
	}
	return p
}

func (a ApprovalPolicy) stricter(b ApprovalPolicy) ApprovalPolicy {
	return ApprovalPolicy{
		FourEyes: a.FourEyes || b.FourEyes,
		Roles:    stricterRoles(a.Roles, b.Roles),
		Quorum:   max(a.Quorum, b.Quorum),
		ExpiresS: minSet(a.ExpiresS, b.ExpiresS),
		Eyes:     stricterEyes(a, b),

		ReviewTimes: a.ReviewTimes.stricter(b.ReviewTimes),
	}
}

// stricterEyes drops EyesTwoPersons if the other side requires four eyes, and EyesOwn unless both
// sides allow it.
func stricterEyes(a, b ApprovalPolicy) Eyes {
	switch {
	case a.Eyes == EyesStrict || b.Eyes == EyesStrict:
		return EyesStrict
	case a.Eyes == EyesOwn && b.Eyes == EyesOwn:
		return EyesOwn
	case a.Eyes == EyesTwoPersons && (b.Eyes == a.Eyes || !b.FourEyes), b.Eyes == EyesTwoPersons && !a.FourEyes:
		return EyesTwoPersons
	default:
		return ""
	}
}

// stricterRoles returns the roles in both lists, because fewer roles are stricter. If the lists
// have no common role, the second one, which is the more specific, wins.
func stricterRoles(a, b []string) []string {
	common := slices.DeleteFunc(slices.Clone(a), func(r string) bool { return !slices.Contains(b, r) })
	switch {
	case len(b) == 0:
		common = slices.Clone(a)
	case len(common) == 0:
		common = slices.Clone(b)
	}
	slices.Sort(common)
	return slices.Compact(common)
}

func stricterClass(a, b SideEffectClass) SideEffectClass {
	return strictest(a, b, ClassRead, ClassSuggest, ClassWriteReversible, ClassWriteIrreversible)
}

func stricterMode(a, b ExecutionMode) ExecutionMode {
	return strictest(a, b, ModeParallelSafe, ModeParallelChunked, ModeSequential)
}

func weakerIdempotency(a, b Idempotency) Idempotency {
	return strictest(a, b, IdempotencyNotApplicable, IdempotencyNatural, IdempotencyKeyed, IdempotencyNone)
}

// strictest returns the later of two values in a rising list. A value that is not in the list
// counts as the last.
func strictest[T comparable](a, b T, rising ...T) T {
	rank := func(v T) int {
		if i := slices.Index(rising, v); i >= 0 {
			return i
		}
		return len(rising) - 1
	}
	return rising[max(rank(a), rank(b))]
}

// minSet returns the smaller of two limits, where 0 means no limit.
func minSet(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
