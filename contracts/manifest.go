package contracts

import (
	"encoding/json"
	"slices"
)

// SchemaVersion is the manifest version that this release reads.
const SchemaVersion = "1"

// SideEffectClass describes what a capability does to the world.
type SideEffectClass string

// The side-effect classes, from harmless to final.
const (
	ClassRead              SideEffectClass = "read"
	ClassSuggest           SideEffectClass = "suggest"
	ClassWriteReversible   SideEffectClass = "write_reversible"
	ClassWriteIrreversible SideEffectClass = "write_irreversible"
)

// Writes reports whether the class has an effect outside. An absent or unknown
// class counts as a write.
func (c SideEffectClass) Writes() bool { return c != ClassRead && c != ClassSuggest }

// ExecutionMode describes how nodes of a capability may overlap.
type ExecutionMode string

// The execution modes.
const (
	ModeParallelSafe    ExecutionMode = "parallel_safe"
	ModeParallelChunked ExecutionMode = "parallel_chunked"
	ModeSequential      ExecutionMode = "sequential"
)

// Idempotency describes what happens when a call is repeated.
type Idempotency string

// The kinds of idempotency.
const (
	IdempotencyNotApplicable Idempotency = "not_applicable"
	IdempotencyNatural       Idempotency = "natural"
	IdempotencyKeyed         Idempotency = "keyed"
	IdempotencyNone          Idempotency = "none"
)

// Repeatable reports whether a lost call may be sent again with the same key.
func (i Idempotency) Repeatable() bool {
	return i == IdempotencyKeyed || i == IdempotencyNatural || i == IdempotencyNotApplicable
}

// RiskLevel orders capabilities by the harm that a mistake does.
type RiskLevel string

// The risk levels, in rising order.
const (
	RiskRead     RiskLevel = "read"
	RiskLow      RiskLevel = "low"
	RiskMedium   RiskLevel = "medium"
	RiskHigh     RiskLevel = "high"
	RiskCritical RiskLevel = "critical"
)

// Rank gives the order of a level: 0 for read to 4 for critical; an unknown
// level ranks as critical.
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

// Manifest is what a domain declares of itself. Authors write it, so it is
// decoded strictly; keys that begin with "x-" are theirs.
type Manifest struct {
	SchemaVersion string     `json:"schema_version"`
	Domain        string     `json:"domain"`
	Version       string     `json:"version"`
	Title         string     `json:"title,omitempty"`
	Description   string     `json:"description,omitempty"`
	Instances     []Instance `json:"instances,omitempty"`
	// Capabilities are absent in a pack: a manifest without a service, of
	// workflows over the capabilities of other domains.
	Capabilities []Capability      `json:"capabilities,omitempty"`
	Workflows    []Workflow        `json:"workflows,omitempty"`
	Skills       map[string]string `json:"skills,omitempty"`
	Tests        []RoutingTest     `json:"tests,omitempty"`

	// Unserved is why capabilities are not in use, by their names, as AdmitManifest found:
	// their schemas are not of those that are understood, or they call one of these. The
	// others are.
	Unserved map[string][]Fault `json:"-"`
}

// UnservedFaults lists why capabilities are not in use, by place.
func (m *Manifest) UnservedFaults() []Fault {
	var out []Fault
	for _, name := range sortedKeys(m.Unserved) {
		out = append(out, m.Unserved[name]...)
	}
	slices.SortStableFunc(out, func(a, b Fault) int { return comparePointers(a.Pointer, b.Pointer) })
	return out[:min(len(out), maxFaults)]
}

// Instance is one installation that a domain can work on, such as staging.
type Instance struct {
	ID      string `json:"id"`
	Title   string `json:"title,omitempty"`
	Default bool   `json:"default,omitempty"`
}

// Capability is one thing that a domain can do.
type Capability struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	Schema       json.RawMessage `json:"schema"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Metadata     Metadata        `json:"metadata"`
}

// Metadata is what a capability declares about its use. Absent fields take
// the fail-closed defaults of Metadata.Policy: a capability without a
// side-effect class is an irreversible write that needs approval.
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
	// OpenWorld means that a call sends its parameters to a third party, such as
	// to a page on the web: what a model proposes to send there after it has read
	// something is confirmed by the requester.
	OpenWorld bool `json:"open_world,omitempty"`
	// OwnLogin means that calls are made with the login of the requester in the system
	// behind the domain, so that it decides what they may do.
	OwnLogin bool `json:"own_login,omitempty"`
}

// ApprovalRule says who must approve, and for how long the question stands.
type ApprovalRule struct {
	FourEyes *bool    `json:"four_eyes,omitempty"`
	Roles    []string `json:"roles,omitempty"`
	Quorum   int      `json:"quorum,omitempty"`
	// ExpiresS is in seconds.
	ExpiresS int `json:"expires_s,omitempty"`
}

// CapabilityCall names a capability and where its parameters come from: JSON
// literals or "${expr}".
type CapabilityCall struct {
	Capability string         `json:"capability"`
	ParamMap   map[string]any `json:"param_map,omitempty"`
}

// VerifyRule is the read-back after a write: a capability to call, and what
// must hold of its facts.
type VerifyRule struct {
	Capability string         `json:"capability"`
	ParamMap   map[string]any `json:"param_map,omitempty"`
	Assertions []Condition    `json:"assertions"`
	// WithinMS is for how long the read-back is repeated until it holds.
	WithinMS int `json:"within_ms,omitempty"`
}

// IntentHints are the sentences that lead to a capability, and those that
// must not. They may be in any language.
type IntentHints struct {
	Keywords []string `json:"keywords,omitempty"`
	Examples []string `json:"examples,omitempty"`
	Not      []string `json:"not,omitempty"`
}

// ParameterSpec holds hints for one parameter. Type, Enum, Pattern, Default
// and Required may repeat what the schema says; a contradiction is refused.
type ParameterSpec struct {
	Examples []any          `json:"examples,omitempty"`
	Aliases  map[string]any `json:"aliases,omitempty"`
	PII      bool           `json:"pii,omitempty"`
	Ask      string         `json:"ask,omitempty"`
	// Verbatim marks the one parameter that takes the request itself, in its own
	// words: a goal, a brief. Whatever is said behind the verb belongs to it.
	Verbatim bool `json:"verbatim,omitempty"`
	// Subject marks the parameter that names the person whom a call is about.
	Subject *Subject `json:"subject,omitempty"`

	Type     string          `json:"type,omitempty"`
	Items    json.RawMessage `json:"items,omitempty"`
	Enum     []any           `json:"enum,omitempty"`
	Pattern  string          `json:"pattern,omitempty"`
	Default  any             `json:"default,omitempty"`
	Required *bool           `json:"required,omitempty"`
}

// Subject lists, by roles of the asker, about whom a call may be; "*" is
// anybody. It is what the domain declares and enforces by context.principal,
// whatever the core has checked. "me" as a value is the asker, whom the domain
// finds by context.principal; a search that does not find them says so by
// AskerUnknown.
type Subject struct {
	// Self may name themselves, Reports those who report to them, All anyone.
	Self    []string `json:"self,omitempty"`
	Reports []string `json:"reports,omitempty"`
	All     []string `json:"all,omitempty"`
}

// AskerUnknown is the fact by which a search for "me" says, with true, that the
// domain does not know who asks; it is then asked who is meant.
const AskerUnknown = "asker_unknown"

// RolePlay says that a capability can stand for a role in a composition. In a
// manifest it is the bare role name or an object.
type RolePlay struct {
	Role     string         `json:"role"`
	ParamMap map[string]any `json:"param_map,omitempty"`
}

// RoleNotifier is the built-in role; it takes message (required), title and
// channel.
const RoleNotifier = "notifier"

// UnmarshalJSON accepts "role" as well as {"role": …}.
func (p *RolePlay) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &p.Role)
	}
	type plain RolePlay
	return Decode(data, (*plain)(p))
}

// MarshalJSON writes the short form where it says everything.
func (p RolePlay) MarshalJSON() ([]byte, error) {
	if len(p.ParamMap) == 0 {
		return json.Marshal(p.Role)
	}
	type plain RolePlay
	return json.Marshal(plain(p))
}

// Decomposition turns one call with lists into one call for each item.
type Decomposition struct {
	ArrayParams []ArrayRule `json:"array_params"`
}

// ArrayRule specifies which list parameter becomes which single parameter.
type ArrayRule struct {
	ParamName           string `json:"param_name"`
	SingleParamName     string `json:"single_param_name"`
	MaxConcurrency      int    `json:"max_concurrency,omitempty"`
	CreateParallelSteps *bool  `json:"create_parallel_steps,omitempty"`
}

// Composition chains capabilities that play a role after this one, once. After a
// list, a fact is that of each call: EnabledIf holds if it holds for one of them.
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
	// StaleOn are types of errors of the domain's own, "domain.…", by which a write
	// that did nothing says that what its look-ups found has changed: they are
	// made again, at most MaxLookupRepeats times, and the approver is asked again
	// and sees the difference.
	StaleOn []string `json:"stale_on,omitempty"`
}

// Choose describes what happens when a search finds several values.
type Choose string

// The ways to choose.
const (
	ChooseAsk   Choose = "ask"
	ChooseFirst Choose = "first"
	ChooseFail  Choose = "fail"
)

// PreStep resolves a parameter by a search before the call: by the words that
// were given for it, or, with a ParamMap and no SearchParam, by the other
// parameters when it was not given.
type PreStep struct {
	Type             string `json:"type"`
	Param            string `json:"param"`
	SearchCapability string `json:"search_capability"`
	SearchParam      string `json:"search_param,omitempty"`
	// ParamMap is what to ask the search besides SearchParam, or instead; it reads
	// "params", those that earlier steps resolved included.
	ParamMap   map[string]any `json:"param_map,omitempty"`
	ResultPath string         `json:"result_path,omitempty"`
	Choose     Choose         `json:"choose,omitempty"`
	// Always also searches for what has the form of a value already.
	Always bool `json:"always,omitempty"`
}

// IsLookup reports whether the step asks by other parameters alone; one that
// searches for words needs somebody who says them.
func (s PreStep) IsLookup() bool { return len(s.ParamMap) > 0 && s.SearchParam == "" }

// Binds reports whether the step binds the call to what it finds: it searches for
// nothing that somebody said and leaves no choice.
func (s PreStep) Binds() bool { return s.IsLookup() && s.Choose == ChooseFail }

// PostStep calls a read after the call succeeded.
type PostStep struct {
	Type       string         `json:"type"`
	Capability string         `json:"capability"`
	ParamMap   map[string]any `json:"param_map,omitempty"`
	Required   bool           `json:"required,omitempty"`
}

// Present describes how results become a table.
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

// CallExample is one call with its parameters; Safe writes may be executed by
// the contract suite.
type CallExample struct {
	Parameters map[string]any `json:"parameters"`
	Safe       bool           `json:"safe,omitempty"`
}

// RoutingTest is a sentence with the intent that it must lead to; a null
// expectation means that nothing of this domain may be accepted.
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

// calls are the references to other capabilities that this one needs to be run.
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
