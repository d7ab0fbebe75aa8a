package contracts

import (
	"cmp"
	"slices"
	"time"
)

// Policy is the execution metadata of one capability with every default
// filled in. The effective policy is the strictest of manifest, registration
// overlay and site policy; the planner stamps it on nodes, gates hash it.
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
	// Reason says which rule asks for the approval, for the approver to read.
	Reason string `json:"reason,omitempty"`
	// Waiver names the site rule that lifted an approval, if one did.
	Waiver string `json:"waiver,omitempty"`
}

// ApprovalPolicy is the resolved ApprovalRule.
type ApprovalPolicy struct {
	FourEyes bool     `json:"four_eyes"`
	Roles    []string `json:"roles"`
	Quorum   int      `json:"quorum"`
	ExpiresS int      `json:"expires_s"`
}

// Timeout is the time for one attempt, its polls included.
func (p Policy) Timeout() time.Duration { return time.Duration(p.TimeoutMS) * time.Millisecond }

// NodeTimeout is the time for all attempts together, waiting not counted.
func (p Policy) NodeTimeout() time.Duration {
	return time.Duration(p.NodeTimeoutMS) * time.Millisecond
}

// WaitMax is how long a node may wait in all.
func (p Policy) WaitMax() time.Duration { return time.Duration(p.WaitMaxS) * time.Second }

// Attempts is how many times a call may be sent.
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

// Policy resolves the defaults of the metadata, which fail closed. A
// compensation is believed only when compensable says that it resolves: a
// write_reversible without one is read as irreversible.
func (m Metadata) Policy(compensable bool) Policy {
	p := Policy{
		SideEffectClass:    m.class(compensable),
		IdempotencyWindowS: cmp.Or(m.IdempotencyWindowS, int(DefaultIdempotencyWindow/time.Second)),
		TimeoutMS:          cmp.Or(m.TimeoutMS, int(DefaultTimeout/time.Millisecond)),
		WaitMaxS:           cmp.Or(m.WaitMaxS, int(DefaultWaitMax/time.Second)),
		MaxConcurrency:     m.MaxConcurrency,
		RateLimitPerMin:    m.RateLimitPerMin,
		DryRun:             m.DryRun,
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

func (m Metadata) mode(writes bool) ExecutionMode {
	if writes {
		return ModeSequential // writes go one at a time, whatever is declared
	}
	return cmp.Or(m.ExecutionMode, ModeParallelSafe)
}

func (m Metadata) idempotency(writes bool) Idempotency {
	if !writes {
		return IdempotencyNotApplicable
	}
	if m.SideEffectClass == "" || m.Idempotency == IdempotencyNotApplicable {
		return IdempotencyNone
	}
	return cmp.Or(m.Idempotency, IdempotencyNone)
}

func (m Metadata) risk(writes bool) RiskLevel {
	switch {
	case !writes:
		return cmp.Or(m.RiskLevel, RiskRead)
	case m.SideEffectClass == "":
		return maxRisk(m.RiskLevel, RiskHigh)
	default:
		return cmp.Or(m.RiskLevel, RiskHigh)
	}
}

func maxRisk(a, b RiskLevel) RiskLevel {
	if a != "" && a.Rank() > b.Rank() {
		return a
	}
	return b
}

// approvalRequired applies the one rule by which a manifest may lower an
// approval: a reversible write of at most low risk.
func (m Metadata) approvalRequired(p Policy) (required bool, reason string) {
	writes := p.SideEffectClass.Writes()
	declared := m.ApprovalRequired
	if declared != nil && *declared {
		return true, "the manifest asks for approval"
	}
	if !writes && p.RiskLevel.Rank() < RiskHigh.Rank() {
		return false, ""
	}
	lowers := declared != nil && !*declared
	if lowers && p.SideEffectClass == ClassWriteReversible && p.RiskLevel.Rank() <= RiskLow.Rank() {
		return false, ""
	}
	if !writes {
		return true, "the risk level is " + string(p.RiskLevel)
	}
	return true, "it is a write (" + string(p.SideEffectClass) + ")"
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
	p.Quorum = max(p.Quorum, r.Quorum)
	p.ExpiresS = cmp.Or(r.ExpiresS, p.ExpiresS)
	return p
}

// Stricter gives the strictest of two policies, field by field.
func (p Policy) Stricter(q Policy) Policy {
	out := p
	out.SideEffectClass = stricterClass(p.SideEffectClass, q.SideEffectClass)
	if out.SideEffectClass.Writes() {
		out.ExecutionMode = ModeSequential
	} else if q.ExecutionMode == ModeSequential || p.ExecutionMode == ModeParallelSafe {
		out.ExecutionMode = q.ExecutionMode
	}
	out.Idempotency = weakerIdempotency(p.Idempotency, q.Idempotency)
	out.IdempotencyWindowS = min(p.IdempotencyWindowS, q.IdempotencyWindowS)
	out.RiskLevel = maxRisk(p.RiskLevel, q.RiskLevel)
	out.TimeoutMS = min(p.TimeoutMS, q.TimeoutMS)
	out.NodeTimeoutMS = min(p.NodeTimeoutMS, q.NodeTimeoutMS)
	out.WaitMaxS = min(p.WaitMaxS, q.WaitMaxS)
	out.MaxConcurrency = minSet(p.MaxConcurrency, q.MaxConcurrency)
	out.RateLimitPerMin = minSet(p.RateLimitPerMin, q.RateLimitPerMin)
	out.ChunkSize = minSet(p.ChunkSize, q.ChunkSize)
	out.VerifierRequired = p.VerifierRequired || q.VerifierRequired
	out.DryRun = p.DryRun && q.DryRun
	out.ApprovalRequired = p.ApprovalRequired || q.ApprovalRequired
	if !p.ApprovalRequired && q.ApprovalRequired {
		out.Reason, out.Waiver = q.Reason, ""
	}
	out.Approval = p.Approval.stricter(q.Approval)
	return out
}

func (a ApprovalPolicy) stricter(b ApprovalPolicy) ApprovalPolicy {
	out := ApprovalPolicy{
		FourEyes: a.FourEyes || b.FourEyes,
		Roles:    a.Roles,
		Quorum:   max(a.Quorum, b.Quorum),
		ExpiresS: minSet(a.ExpiresS, b.ExpiresS),
	}
	// Fewer roles are stricter; where neither list holds the other, the second
	// (the more specific authority) decides.
	if len(b.Roles) > 0 && !slices.Equal(a.Roles, b.Roles) {
		common := slices.DeleteFunc(slices.Clone(a.Roles), func(r string) bool { return !slices.Contains(b.Roles, r) })
		out.Roles = common
		if len(common) == 0 {
			out.Roles = slices.Clone(b.Roles)
		}
	}
	return out
}

func stricterClass(a, b SideEffectClass) SideEffectClass {
	rank := []SideEffectClass{ClassRead, ClassSuggest, ClassWriteReversible, ClassWriteIrreversible}
	return rank[max(slices.Index(rank, a), slices.Index(rank, b), 0)]
}

func weakerIdempotency(a, b Idempotency) Idempotency {
	rank := []Idempotency{IdempotencyNotApplicable, IdempotencyNatural, IdempotencyKeyed, IdempotencyNone}
	return rank[max(slices.Index(rank, a), slices.Index(rank, b), 0)]
}

// minSet is the smaller of two limits, where 0 means no limit.
func minSet(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
