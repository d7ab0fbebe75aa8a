package contracts

import "encoding/json"

// Workflow is a procedure declared by a manifest: a named plan template. Requesters use it like a
// capability, "domain.name".
type Workflow struct {
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Schema      json.RawMessage   `json:"schema"`
	Metadata    WorkflowMetadata  `json:"metadata"`
	Budgets     map[string]Budget `json:"budgets,omitempty"`
	Steps       []Step            `json:"steps"`
	Result      *WorkflowResult   `json:"result,omitempty"`
}

// WorkflowMetadata is what a workflow declares about its use. Its side effects are derived from
// its steps and not declared.
type WorkflowMetadata struct {
	IntentHints    *IntentHints             `json:"intent_hints,omitempty"`
	ParameterSpecs map[string]ParameterSpec `json:"parameter_specs,omitempty"`
	Routable       *bool                    `json:"routable,omitempty"`
	Phases         []string                 `json:"phases,omitempty"`
	AllowedRoles   []string                 `json:"allowed_roles,omitempty"`
	Present        *Present                 `json:"present,omitempty"`
	Examples       []CallExample            `json:"examples,omitempty"`
}

// AsCapability returns the workflow as a capability that can be selected from text. It has no
// side-effect class, because that follows from the capabilities of its steps.
func (w *Workflow) AsCapability() *Capability {
	m := w.Metadata
	return &Capability{
		Name: w.Name, Description: w.Description, Schema: w.Schema,
		Metadata: Metadata{
			IntentHints: m.IntentHints, ParameterSpecs: m.ParameterSpecs, Routable: m.Routable, Phases: m.Phases,
			AllowedRoles: m.AllowedRoles, Present: m.Present, Examples: m.Examples,
		},
	}
}

// WorkflowResult is the result of a workflow: texts and values with "${…}" over all its steps. A
// member that reads a missing value is left out.
type WorkflowResult struct {
	Summary string         `json:"summary,omitempty"`
	Facts   map[string]any `json:"facts,omitempty"`
}

// Budget limits what a workflow may use of a resource. In a manifest it is the bare limit or an
// object.
type Budget struct {
	// Limit is a number or "${…}".
	Limit any `json:"limit"`
	// Per names a step: the usage is counted separately for each instance of it.
	Per string `json:"per,omitempty"`
}

// UnmarshalJSON accepts a limit as well as {"limit": …}.
func (b *Budget) UnmarshalJSON(data []byte) error {
	*b = Budget{}
	if len(data) > 0 && data[0] != '{' {
		return Decode(data, &b.Limit)
	}
	type plain Budget
	return Decode(data, (*plain)(b))
}

// MarshalJSON writes the short form if only the limit is set.
func (b Budget) MarshalJSON() ([]byte, error) {
	if b.Per == "" {
		return json.Marshal(b.Limit)
	}
	type plain Budget
	return json.Marshal(plain(b))
}

// The built-in budgets. A plan stores them as max_nodes, max_retries and so on.
const (
	BudgetNodes     = "nodes"
	BudgetRetries   = "retries"
	BudgetToolCalls = "tool_calls"
	BudgetTokens    = "tokens"
)

// StepKind is the kind of a workflow step.
type StepKind string

// The kinds of steps. The planner replaces steps of kind plays and workflow by other nodes.
const (
	StepTool     StepKind = "tool"
	StepReason   StepKind = "reason"
	StepHuman    StepKind = "human"
	StepSet      StepKind = "set"
	StepJoin     StepKind = "join"
	StepPlays    StepKind = "plays"
	StepVerify   StepKind = "verify"
	StepWorkflow StepKind = "workflow"
)

// Step is one step of a workflow.
type Step struct {
	ID        string     `json:"id"`
	Title     string     `json:"title,omitempty"`
	Phase     string     `json:"phase,omitempty"`
	Kind      StepKind   `json:"kind"`
	DependsOn []string   `json:"depends_on,omitempty"`
	When      *Condition `json:"when,omitempty"`
	// Tool is the capability of a tool step.
	Tool string `json:"tool,omitempty"`
	// Params are literals or "${…}". A null member is left out.
	Params map[string]any `json:"params,omitempty"`
	// Show is what the approver of a write sees besides its parameters, by name: what would
	// change, what was tested. It is part of what is approved.
	Show map[string]any `json:"show,omitempty"`
	// Set holds the facts of a set step.
	Set map[string]any `json:"set,omitempty"`
	// Plays is the role whose players are called, Players how many of them, Domains the domains
	// that they may belong to.
	Plays   string   `json:"plays,omitempty"`
	Players Players  `json:"players,omitempty"`
	Domains []string `json:"domains,omitempty"`
	// Workflow is another workflow whose steps replace this one.
	Workflow        string            `json:"workflow,omitempty"`
	ForEach         *ForEach          `json:"for_each,omitempty"`
	ContinueOnError bool              `json:"continue_on_error,omitempty"`
	Spend           map[string]string `json:"spend,omitempty"`
	On              []Rule            `json:"on,omitempty"`
	Reason          *ReasonStep       `json:"reason,omitempty"`
	Human           *HumanStep        `json:"human,omitempty"`
	Verify          *VerifyStep       `json:"verify,omitempty"`
	Importance      Importance        `json:"importance,omitempty"`
}

// Players is how many of the players of a role are called.
type Players string

// The values of Players.
const (
	PlayersOne         Players = "one"
	PlayersAll         Players = "all"
	PlayersPlanDomains Players = "plan_domains" // all in the domains that the workflow itself names
)

// Importance says whether a monitor may collapse a step.
type Importance string

// The importances of steps.
const (
	ImportanceNormal Importance = "normal"
	ImportanceQuiet  Importance = "quiet"
)

// Rule goes back to an earlier step when a step has completed, on a condition or on a person's
// answer.
type Rule struct {
	When   *Condition `json:"when,omitempty"`
	Answer string     `json:"answer,omitempty"`
	// Error is a type of error by which the step fails without effect. The planner also creates
	// such rules from Flow.StaleOn.
	Error string `json:"error,omitempty"`
	// Goto is the step itself or an ancestor. Max is the maximum number of repetitions, 1 to 10.
	Goto string         `json:"goto"`
	Max  int            `json:"max"`
	With map[string]any `json:"with,omitempty"`
	// Region lists the steps to instantiate again, in plan order: every step that is a descendant
	// of the target and an ancestor of this step, both included. The planner sets it.
	Region []string `json:"region,omitempty"`
}

// MaxLookupRepeats is how often the lookups of one write are repeated because their results have
// changed. If the object changes more often than people approve, a person is asked.
const MaxLookupRepeats = 3

// Round is the reason why an instance of a step exists. That of the first is {1, "", {}}.
type Round struct {
	N    int            `json:"n"`
	By   string         `json:"by"`
	With map[string]any `json:"with"`
	// Rule is the index of the rule of step By.
	Rule int `json:"rule,omitempty"`
}

// ModelSize is the size of the model that a reason step needs.
type ModelSize string

// The sizes.
const (
	SizeSmall ModelSize = "small"
	SizeLarge ModelSize = "large"
)

// ReasonStep calls a model with a skill, or the fallback. Its facts must match OutputSchema.
type ReasonStep struct {
	Skill           string         `json:"skill"`
	Inputs          map[string]any `json:"inputs,omitempty"`
	OutputSchema    map[string]any `json:"output_schema"`
	MaxOutputTokens int            `json:"max_output_tokens,omitempty"`
	Size            ModelSize      `json:"size,omitempty"`
	Fallback        *Fallback      `json:"fallback,omitempty"`
	// SkillSHA256 pins the text of the skill; the planner sets it.
	SkillSHA256 string `json:"skill_sha256,omitempty"`
}

// Fallback replaces the model of a reason step. The capability gets the inputs of the step as
// parameters, unless Params is set.
type Fallback struct {
	Capability string         `json:"capability"`
	Params     map[string]any `json:"params,omitempty"`
}

// UnmarshalJSON accepts "capability" as well as {"capability": …}.
func (f *Fallback) UnmarshalJSON(data []byte) error {
	*f = Fallback{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &f.Capability)
	}
	type plain Fallback
	return Decode(data, (*plain)(f))
}

// MarshalJSON writes the short form if there are no parameters.
func (f Fallback) MarshalJSON() ([]byte, error) {
	if f.Params == nil {
		return json.Marshal(f.Capability)
	}
	type plain Fallback
	return json.Marshal(plain(f))
}

// VerifyStep assesses the results so far. A judge can only lower the verdict.
type VerifyStep struct {
	Assertions []Condition `json:"assertions"`
	Judge      *Judge      `json:"judge,omitempty"`
}

// Judge is a skill by which a model assesses the inputs.
type Judge struct {
	Skill  string         `json:"skill"`
	Inputs map[string]any `json:"inputs,omitempty"`
	// SkillSHA256 pins the text of the skill; the planner sets it.
	SkillSHA256 string `json:"skill_sha256,omitempty"`
}

// Allowed is an answer that a human step allows, possibly under a condition.
type Allowed struct {
	Answer string     `json:"answer"`
	When   *Condition `json:"when,omitempty"`
}

// The answers to human steps.
const (
	SayRetry     = "retry"
	SaySkip      = "skip"
	SayStop      = "stop"
	SayChoose    = "choose"
	SayCreateNew = "create_new"
	SaySearch    = "search"
	SayApprove   = "approve"
	SayEdit      = "edit"
	SayReject    = "reject"
	SayAccept    = "accept"
	SayIterate   = "iterate"
	SayRollback  = "rollback"
)

// UnmarshalJSON accepts "answer" as well as {"answer": …}.
func (a *Allowed) UnmarshalJSON(data []byte) error {
	*a = Allowed{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &a.Answer)
	}
	type plain Allowed
	return Decode(data, (*plain)(a))
}

// MarshalJSON writes the short form if there is no condition.
func (a Allowed) MarshalJSON() ([]byte, error) {
	if a.When == nil {
		return json.Marshal(a.Answer)
	}
	type plain Allowed
	return json.Marshal(plain(a))
}

// Unattended is the behaviour of a human step without a person: it takes an answer, or fails
// ("fail", the default).
type Unattended struct {
	Answer    string `json:"answer"`
	OnlyIfOne bool   `json:"only_if_one,omitempty"`
}

const unattendedFail = "fail"

// UnmarshalJSON accepts "fail" as well as {"answer": …}.
func (u *Unattended) UnmarshalJSON(data []byte) error {
	*u = Unattended{}
	if len(data) > 0 && data[0] == '"' {
		var word string
		if err := json.Unmarshal(data, &word); err != nil {
			return err
		}
		if word != unattendedFail {
			return Errorf(CodeInvalid, `must be "fail" or {"answer": …}, not %q`, word)
		}
		return nil
	}
	type plain Unattended
	return Decode(data, (*plain)(u))
}

// MarshalJSON writes the form that was decoded.
func (u Unattended) MarshalJSON() ([]byte, error) {
	if u.Answer == "" {
		return json.Marshal(unattendedFail)
	}
	type plain Unattended
	return json.Marshal(plain(u))
}

// AnswersOf returns the answers that a human step of a type may allow. It returns nil for types
// that workflows cannot use, and an empty list for types that take a value.
func AnswersOf(t InterruptType) []string {
	switch t {
	case InterruptClarification:
		return []string{}
	case InterruptSelectTarget:
		return []string{SayChoose, SayCreateNew, SaySearch}
	case InterruptCredentialCheck:
		return []string{SayRetry, SaySkip, SayStop}
	case InterruptPlanApproval:
		return []string{SayApprove, SayEdit, SayReject}
	case InterruptResultReview:
		return []string{SayAccept, SayIterate, SayRollback, SayStop}
	case InterruptBudgetExceeded, InterruptWriteApproval, InterruptOutcomeUnknown, InterruptCapabilityChanged, InterruptRunUnreadable:
		return nil
	}
	return nil
}

// GoesBack reports whether an answer is only valid with a rule that goes back.
func GoesBack(answer string) bool {
	return answer == SayRetry || answer == SaySearch || answer == SayIterate
}

// Workflow returns the workflow of a reference in this manifest, which is a bare name or is
// qualified by the manifest's own domain.
func (m *Manifest) Workflow(ref string) (*Workflow, bool) {
	name := ownName(m.Domain, ref)
	for i := range m.Workflows {
		if m.Workflows[i].Name == name {
			return &m.Workflows[i], true
		}
	}
	return nil, false
}

// IsPack reports whether the manifest has no service, only workflows over the capabilities of
// other domains.
func (m *Manifest) IsPack() bool { return len(m.Capabilities) == 0 && len(m.Workflows) > 0 }
