package contracts

import (
	"encoding/json"
	"slices"
)

// SchemaVersion is the manifest version that this release supports.
const SchemaVersion = "1"

// SideEffectClass describes the side effects of a capability.
type SideEffectClass string

// The side-effect classes, from no effect to irreversible.
const (
	ClassRead              SideEffectClass = "read"
	ClassSuggest           SideEffectClass = "suggest"
	ClassWriteReversible   SideEffectClass = "write_reversible"
	ClassWriteIrreversible SideEffectClass = "write_irreversible"
)

// Writes reports whether the class has external side effects. An absent or unknown class counts
// as a write.
func (c SideEffectClass) Writes() bool { return c != ClassRead && c != ClassSuggest }

// ExecutionMode describes whether nodes of a capability may run concurrently.
type ExecutionMode string

// The execution modes.
const (
	ModeParallelSafe    ExecutionMode = "parallel_safe"
	ModeParallelChunked ExecutionMode = "parallel_chunked"
	ModeSequential      ExecutionMode = "sequential"
)

// Idempotency describes the effect of repeating a call.
type Idempotency string

// The kinds of idempotency.
const (
	IdempotencyNotApplicable Idempotency = "not_applicable"
	IdempotencyNatural       Idempotency = "natural"
	IdempotencyKeyed         Idempotency = "keyed"
	IdempotencyNone          Idempotency = "none"
)

// Repeatable reports whether a lost call may be sent again with the same idempotency key.
func (i Idempotency) Repeatable() bool {
	return i == IdempotencyKeyed || i == IdempotencyNatural || i == IdempotencyNotApplicable
}

// RiskLevel orders capabilities by the harm that a mistake can do.
type RiskLevel string

// The risk levels, in rising order.
const (
	RiskRead     RiskLevel = "read"
	RiskLow      RiskLevel = "low"
	RiskMedium   RiskLevel = "medium"
	RiskHigh     RiskLevel = "high"
	RiskCritical RiskLevel = "critical"
)

// Rank returns the order of a level, from 0 for read to 4 for critical. An unknown level ranks as
// critical.
func (r RiskLevel) Rank() int {
	switch r {
	case RiskRead:
		return 0
	case RiskLow:
		return 1
	case RiskMedium:
		return 2
	case RiskHigh:
		return 3
	case RiskCritical:
		return 4
	default:
		return 4
	}
}

// Manifest is a domain's declaration of its capabilities and workflows. It is written by hand and
// therefore decoded strictly; keys that begin with "x-" are reserved for authors.
type Manifest struct {
	SchemaVersion string     `json:"schema_version"`
	Domain        string     `json:"domain"`
	Version       string     `json:"version"`
	Title         string     `json:"title,omitempty"`
	Description   string     `json:"description,omitempty"`
	Instances     []Instance `json:"instances,omitempty"`
	// Capabilities are absent in a pack, which is a manifest without a service that only has
	// workflows over the capabilities of other domains.
	Capabilities []Capability      `json:"capabilities,omitempty"`
	Workflows    []Workflow        `json:"workflows,omitempty"`
	Skills       map[string]string `json:"skills,omitempty"`
	Tests        []RoutingTest     `json:"tests,omitempty"`

	// Unserved maps the name of each capability that AdmitManifest excluded to the reasons: its
	// schema is not supported, or it calls an excluded capability. The other capabilities are
	// used.
	Unserved map[string][]Fault `json:"-"`
}

// UnservedFaults returns the faults of excluded capabilities, sorted by location.
func (m *Manifest) UnservedFaults() []Fault {
	var out []Fault
	for _, name := range sortedKeys(m.Unserved) {
		out = append(out, m.Unserved[name]...)
	}
	slices.SortStableFunc(out, func(a, b Fault) int { return comparePointers(a.Pointer, b.Pointer) })
	return out[:min(len(out), maxFaults)]
}

// Instance is one installation that a domain can operate on, such as staging.
type Instance struct {
	ID      string `json:"id"`
	Title   string `json:"title,omitempty"`
	Default bool   `json:"default,omitempty"`
}

// Capability is one operation of a domain.
type Capability struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	Schema       json.RawMessage `json:"schema"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Metadata     Metadata        `json:"metadata"`
}

// Metadata is what a capability declares about its use. Metadata.Policy gives absent fields
// fail-closed defaults: a capability without a side-effect class is an irreversible write that
// needs approval.
type Metadata struct {
	SideEffectClass    SideEffectClass          `json:"side_effect_class,omitempty"`
	ExecutionMode      ExecutionMode            `json:"execution_mode,omitempty"`
	Idempotency        Idempotency              `json:"idempotency,omitempty"`
	IdempotencyWindowS int                      `json:"idempotency_window_s,omitempty"`
	RiskLevel          RiskLevel                `json:"risk_level,omitempty"`
	ApprovalRequired   *bool                    `json:"approval_required,omitempty"`
	Approval           *ApprovalRule            `json:"approval,omitempty"`
	TimeoutMS          int                      `json:"timeout_ms,omitempty"`
	NodeTimeoutMS      int                      `json:"node_timeout_ms,omitempty"`
	WaitMaxS           int                      `json:"wait_max_s,omitempty"`
	MaxConcurrency     int                      `json:"max_concurrency,omitempty"`
	RateLimitPerMin    int                      `json:"rate_limit_per_min,omitempty"`
	ChunkSize          int                      `json:"chunk_size,omitempty"`
	Locks              []string                 `json:"locks,omitempty"`
	JoinKey            string                   `json:"join_key,omitempty"`
	Compensation       *CapabilityCall          `json:"compensation,omitempty"`
	Reconcile          *CapabilityCall          `json:"reconcile,omitempty"`
	Verify             *VerifyRule              `json:"verify,omitempty"`
	VerifierRequired   *bool                    `json:"verifier_required,omitempty"`
	DryRun             bool                     `json:"dry_run,omitempty"`
	IntentHints        *IntentHints             `json:"intent_hints,omitempty"`
	ParameterSpecs     map[string]ParameterSpec `json:"parameter_specs,omitempty"`
	Routable           *bool                    `json:"routable,omitempty"`
	Phases             []string                 `json:"phases,omitempty"`
	AllowedRoles       []string                 `json:"allowed_roles,omitempty"`
	Plays              []RolePlay               `json:"plays,omitempty"`
	Decomposition      *Decomposition           `json:"decomposition,omitempty"`
	Composition        *Composition             `json:"composition,omitempty"`
	Flow               *Flow                    `json:"flow,omitempty"`
	Present            *Present                 `json:"present,omitempty"`
	Cost               *Cost                    `json:"cost,omitempty"`
	Examples           []CallExample            `json:"examples,omitempty"`
	// OpenWorld means that a call sends its parameters to a third party, such as a web page. If a
	// model proposes such a call after it has read domain data, the requester must confirm it.
	OpenWorld bool `json:"open_world,omitempty"`
	// OwnLogin means that calls use the requester's own login in the system behind the domain,
	// which therefore enforces their permissions.
	OwnLogin bool `json:"own_login,omitempty"`
}

// ApprovalRule says who must approve, and how long an approval request remains open.
type ApprovalRule struct {
	FourEyes *bool    `json:"four_eyes,omitempty"`
	Roles    []string `json:"roles,omitempty"`
	Quorum   int      `json:"quorum,omitempty"`
	// ExpiresS is in seconds.
	ExpiresS int `json:"expires_s,omitempty"`
}

// CapabilityCall names a capability and the values of its parameters: JSON literals or "${expr}".
type CapabilityCall struct {
	Capability string         `json:"capability"`
	ParamMap   map[string]any `json:"param_map,omitempty"`
}

// VerifyRule is the read-back after a write: a capability to call and assertions on its facts.
type VerifyRule struct {
	Capability string         `json:"capability"`
	ParamMap   map[string]any `json:"param_map,omitempty"`
	Assertions []Condition    `json:"assertions"`
	// WithinMS is how long the read-back is repeated until the assertions hold, in milliseconds.
	WithinMS int `json:"within_ms,omitempty"`
}

// IntentHints are example sentences for a capability, and counterexamples. They may be in any
// language.
type IntentHints struct {
	Keywords []string `json:"keywords,omitempty"`
	Examples []string `json:"examples,omitempty"`
	Not      []string `json:"not,omitempty"`
}

// ParameterSpec holds hints for one parameter. Type, Enum, Pattern, Default and Required may
// repeat the schema; a contradiction is rejected.
type ParameterSpec struct {
	Examples []any          `json:"examples,omitempty"`
	Aliases  map[string]any `json:"aliases,omitempty"`
	PII      bool           `json:"pii,omitempty"`
	Ask      string         `json:"ask,omitempty"`
	// Verbatim marks the one parameter that takes the text of the request unchanged, such as a
	// goal or a brief. All text after the verb belongs to it.
	Verbatim bool `json:"verbatim,omitempty"`
	// Subject marks the parameter that names the person whom a call concerns.
	Subject *Subject `json:"subject,omitempty"`

	Type     string          `json:"type,omitempty"`
	Items    json.RawMessage `json:"items,omitempty"`
	Enum     []any           `json:"enum,omitempty"`
	Pattern  string          `json:"pattern,omitempty"`
	Default  any             `json:"default,omitempty"`
	Required *bool           `json:"required,omitempty"`
}

// Subject lists, by roles of the requester, whom a call may concern; "*" is any role. The domain
// declares it and must enforce it by context.principal, whatever the core has checked. The value
// "me" is the requester, whom the domain identifies by context.principal. A search that cannot
// identify them reports AskerUnknown.
type Subject struct {
	// Self may name themselves, Reports also the people who report to them, All anyone.
	Self    []string `json:"self,omitempty"`
	Reports []string `json:"reports,omitempty"`
	All     []string `json:"all,omitempty"`
}

// AskerUnknown is the fact that a search for "me" sets to true if the domain does not know the
// requester. The requester is then asked for the person.
const AskerUnknown = "asker_unknown"

// RolePlay says that a capability can play a role in a composition. In a manifest it is the bare
// role name or an object.
type RolePlay struct {
	Role     string         `json:"role"`
	ParamMap map[string]any `json:"param_map,omitempty"`
}

// RoleNotifier is the built-in role. It takes message (required), title and channel.
const RoleNotifier = "notifier"

// UnmarshalJSON accepts "role" as well as {"role": …}.
func (p *RolePlay) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &p.Role)
	}
	type plain RolePlay
	return Decode(data, (*plain)(p))
}

// MarshalJSON writes the short form if there is no parameter map.
func (p RolePlay) MarshalJSON() ([]byte, error) {
	if len(p.ParamMap) == 0 {
		return json.Marshal(p.Role)
	}
	type plain RolePlay
	return json.Marshal(plain(p))
}

// Decomposition turns one call with list parameters into one call per item.
type Decomposition struct {
	ArrayParams []ArrayRule `json:"array_params"`
}

// ArrayRule maps a list parameter to the parameter for a single item.
type ArrayRule struct {
	ParamName           string `json:"param_name"`
	SingleParamName     string `json:"single_param_name"`
	MaxConcurrency      int    `json:"max_concurrency,omitempty"`
	CreateParallelSteps *bool  `json:"create_parallel_steps,omitempty"`
}

// Composition calls capabilities that play a role once after this one. If this one was called for
// each item of a list, a fact has one value per call: EnabledIf holds if it holds for any of
// them.
type Composition struct {
	FollowupRoles    []string       `json:"followup_roles"`
	EnabledIf        *Condition     `json:"enabled_if,omitempty"`
	FollowupRequired bool           `json:"followup_required,omitempty"`
	ParamMap         map[string]any `json:"param_map,omitempty"`
}

// Flow holds the deterministic steps before and after a call.
type Flow struct {
	Pre  []PreStep  `json:"pre,omitempty"`
	Post []PostStep `json:"post,omitempty"`
	// StaleOn lists error types of the domain, "domain.…", by which a write without effect
	// reports that its lookup results have changed. The lookups are then repeated, at most
	// MaxLookupRepeats times, and the approver is asked again with the difference.
	StaleOn []string `json:"stale_on,omitempty"`
}

// Choose describes the handling of a search with several results.
type Choose string

// The ways to choose.
const (
	ChooseAsk   Choose = "ask"
	ChooseFirst Choose = "first"
	ChooseFail  Choose = "fail"
)

// PreStep resolves a parameter by a search before the call. The search uses the text given for
// the parameter, or, with a ParamMap and no SearchParam, the other parameters if it was not
// given.
type PreStep struct {
	Type             string `json:"type"`
	Param            string `json:"param"`
	SearchCapability string `json:"search_capability"`
	SearchParam      string `json:"search_param,omitempty"`
	// ParamMap sets further parameters of the search besides SearchParam, or instead of it. It
	// reads "params", including those that earlier steps resolved.
	ParamMap   map[string]any `json:"param_map,omitempty"`
	ResultPath string         `json:"result_path,omitempty"`
	Choose     Choose         `json:"choose,omitempty"`
	// Always searches even if the given text already has the form of a value.
	Always bool `json:"always,omitempty"`
}

// IsLookup reports whether the step searches by other parameters only. Other steps need text from
// the requester.
func (s PreStep) IsLookup() bool { return len(s.ParamMap) > 0 && s.SearchParam == "" }

// Binds reports whether the step binds the call to its result: it does not search for given text
// and offers no choice.
func (s PreStep) Binds() bool { return s.IsLookup() && s.Choose == ChooseFail }

// PostStep calls a capability without side effects after the call succeeded.
type PostStep struct {
	Type       string         `json:"type"`
	Capability string         `json:"capability"`
	ParamMap   map[string]any `json:"param_map,omitempty"`
	Required   bool           `json:"required,omitempty"`
}

// Present describes how results are displayed as a table.
type Present struct {
	Title   string          `json:"title,omitempty"`
	Rows    string          `json:"rows,omitempty"`
	Columns []PresentColumn `json:"columns,omitempty"`
}

// PresentColumn is one column; Path is relative to a row.
type PresentColumn struct {
	Path  string `json:"path"`
	Title string `json:"title,omitempty"`
	Unit  string `json:"unit,omitempty"`
}

// CallExample is one call with its parameters. The contract suite may execute a write only if
// Safe is set.
type CallExample struct {
	Parameters map[string]any `json:"parameters"`
	Safe       bool           `json:"safe,omitempty"`
}

// RoutingTest is a sentence with its expected intent. A null expectation means that no capability
// of this domain may be accepted.
type RoutingTest struct {
	Say    string              `json:"say"`
	Expect *RoutingExpectation `json:"expect"`
	LLM    bool                `json:"llm,omitempty"`
}

// RoutingExpectation is a capability and a subset of its parameters.
type RoutingExpectation struct {
	Capability string         `json:"capability"`
	Parameters map[string]any `json:"parameters,omitempty"`
}

// calls returns the references to other capabilities that this one needs.
func (m Metadata) calls() []string {
	var out []string
	for _, call := range []*CapabilityCall{m.Compensation, m.Reconcile} {
		if call != nil {
			out = append(out, call.Capability)
		}
	}
	if m.Verify != nil {
		out = append(out, m.Verify.Capability)
	}
	if m.Flow != nil {
		for _, step := range m.Flow.Pre {
			out = append(out, step.SearchCapability)
		}
		for _, step := range m.Flow.Post {
			out = append(out, step.Capability)
		}
	}
	return out
}
